# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Simulated time in lockstep: the same in every run, and it stands still where it must."""

from contextlib import contextmanager, suppress
import os
from random import Random
import signal
import subprocess
import sys
from threading import Event, Thread
import time

from diagnostic_msgs.msg import DiagnosticArray
from motion_rig import RATE, Rig, slow_file, slow_motion
import numpy as np
import pytest
import rclpy
from rclpy.node import Node
from ros.motion.pace import LED, Pace, SIMULATED, stamp
from sensor_msgs.msg import JointState

from dynid_ros.arm import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.motion.trajectory.motion_file import write_motion
from dynid_ros.ros.nodes.common import lockstep
from dynid_ros.ros.nodes.common.lockstep import (
    CONTROLS,
    MOST_BEHIND,
    NODES_TOPIC,
    part_message,
    READS,
)
from dynid_ros.ros.nodes.launching import chain
from dynid_ros.ros.nodes.warm_up import compile_kernels
from dynid_ros.utilities.compiled import NOTICE

#: Real time for which a process is stopped, s: shorter than the lease after which DDS forgets it.
STOPPED = 2.0
#: Mean time for which a node of a busy machine stands still, and for which it does not, s.
HALT = 0.05
CONTROLLER = 'joint_trajectory_controller'


@contextmanager
def halted(nodes, busy):
    """Let one node or another stand still half of the time, as on a busy machine."""
    over = Event()

    def halt():
        chance = Random(0)
        while not over.wait(chance.uniform(0.0, 2 * HALT)):
            pid = chance.choice(nodes).pid
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                time.sleep(chance.uniform(0.0, 2 * HALT))
                os.kill(pid, signal.SIGCONT)

    thread = Thread(target=halt)
    if busy:
        thread.start()
    try:
        yield
    finally:
        over.set()
        if busy:
            thread.join()


def run(start, folder, arm, excitation, output, busy=False):
    """Run the chain to its end; return what was recorded, and what was learned."""
    settings = chain(arm, excitation, folder / 'bags', folder / 'result', RATE, 0, False)
    settings['trajectory_publisher']['command'] = output
    nodes = {name: start(name, **values) for name, values in settings.items()}
    with halted(list(nodes.values()), busy):
        for name in reversed(nodes):
            node = nodes[name]
            status, printed = node.end() if name == 'trajectory_publisher' else node.stop()
            assert status == 0, printed
            assert 'aborted' not in printed
            assert 'ERROR' not in printed
    bag = next((folder / 'bags').glob('*/bag'))
    return read_recording(bag, load_arm(arm)), read_result(folder / 'result')


@pytest.mark.parametrize(('arm', 'output'), [('two_axis', CONTROLLER), ('panda', 'effort')])
def test_chain_gives_the_same_on_an_idle_and_on_a_busy_machine(start, tmp_path, arm, output):
    excitation = tmp_path / 'excitation.yaml'
    motion = slow_motion(0.3, arm=load_arm(arm))
    write_motion(excitation, motion, load_arm(arm))
    (first, learned) = run(start, tmp_path / 'idle', arm, excitation, output)
    (second, again) = run(start, tmp_path / 'busy', arm, excitation, output, busy=True)
    assert len(first.t) > motion.duration * RATE
    for each in ('t', 'q', 'qd', 'u'):
        np.testing.assert_array_equal(getattr(first, each), getattr(second, each))
    # From the first state, without one that is lost.
    np.testing.assert_allclose(np.diff(first.t), 1 / RATE, atol=1e-8)
    np.testing.assert_array_equal(learned.theta, again.theta)
    assert learned.samples == again.samples == len(first.t)


def test_time_stands_still_while_the_control_does_not_answer(start, talker, tmp_path):
    rig = Rig(start, talker, slow_file(tmp_path), output=CONTROLLER, once=True)
    rig.until_it_moves()
    os.kill(rig.publisher.pid, signal.SIGSTOP)
    before, end = len(rig.states), time.monotonic() + STOPPED
    rig.until(lambda: time.monotonic() > end, 'real time')
    # It may have answered the state that is there, and then gets one that it does not.
    assert len(rig.states) <= before + 2
    os.kill(rig.publisher.pid, signal.SIGCONT)
    status, printed = rig.end()
    assert status == 0
    assert 'aborted' not in printed
    np.testing.assert_allclose(rig.states[-1].position, slow_motion().start, atol=2e-3)


def test_time_begins_when_all_have_met_and_with_the_same_state(start, talker, tmp_path):
    path = slow_file(tmp_path)

    def arm():
        return start('simulated_arm', arm='panda', rate=RATE, **SIMULATED,
                     lockstep=['trajectory_publisher', 'talker'])

    def publisher():
        return start('trajectory_publisher', arm='panda', excitation=path, **SIMULATED)

    pace, waiting = Pace(talker), arm()
    pace.until(lambda: 'the time has not begun: waiting for /trajectory_publisher'
               in waiting.printed, 'the arm that waits')
    assert pace.states == []
    late = publisher()
    pace.until(lambda: pace.states, 'the first state')
    assert stamp(pace.states[0]) == pytest.approx(1 / RATE)
    for process in (waiting, late):
        assert process.stop()[0] == 0
    talker.until(lambda: not talker.node.get_publishers_info_by_topic('joint_states'), 'their end')
    first = pace.states.copy()
    pace.forget()
    publisher()
    arm()
    pace.until(lambda: pace.states, 'the first state')
    assert pace.states[0] == first[0]


def test_publisher_that_is_killed_and_started_again_is_waited_for_again(start, talker, tmp_path):
    rig = Rig(start, talker, slow_file(tmp_path), output=CONTROLLER)
    rig.move()
    rig.publisher.stop(signal.SIGKILL)
    before = len(rig.states)
    rig.publisher = start(
        'trajectory_publisher', arm='panda', excitation=slow_file(tmp_path), **SIMULATED)
    rig.until(lambda: len(rig.states) > before + 50, 'time again')
    # No state was left out, and the arm has gone on with its goal.
    np.testing.assert_allclose(np.diff(list(map(stamp, rig.states))), 1 / RATE, atol=1e-8)
    rig.wait_rest()
    np.testing.assert_allclose(rig.states[-1].position, slow_motion().start, atol=2e-3)
    rig.move()
    assert rig.stop() == 'stopping'
    rig.wait_rest()
    assert rig.end(signal.SIGINT)[0] == 0


def test_time_goes_on_with_a_learner_that_has_heard_all_but_has_no_answer_yet(start, talker):
    # As one that was killed and is back, and answers each fiftieth state that it hears.
    states = talker.listen(JointState, 'joint_states', 2 * MOST_BEHIND)
    parts = talker.node.create_publisher(DiagnosticArray, NODES_TOPIC, 100)
    start('simulated_arm', arm='two_axis', rate=RATE, **LED)

    def goes_on():
        newest = states[-1].header.stamp if states else None
        parts.publish(part_message('/talker', READS, [('/talker', '/joint_states')], newest))
        talker.spin(0.05)
        return len(states) > 2 * MOST_BEHIND

    talker.until(goes_on, 'more states than it may be behind')


def test_answer_that_was_lost_is_repeated(start, talker, monkeypatch):
    """The arm goes on, although it never got the first answer to its state."""
    monkeypatch.setattr(lockstep, 'simulated_time', lambda _: True)
    states = talker.listen(JointState, 'joint_states', 100)
    control = Node('trajectory_publisher')
    topic = control.resolve_topic_name('joint_states')
    control.create_subscription(JointState, topic, print, 100)
    start('simulated_arm', arm='two_axis', rate=RATE, **SIMULATED,
          lockstep=['trajectory_publisher'])
    answers = lockstep.Answers(control, [topic])
    try:
        talker.until(lambda: spun(control, talker) and states, 'the first state')
        answers.heard(states[-1].header.stamp)
        with monkeypatch.context() as lost:
            lost.setattr(answers, '_say', lambda: None)
            answers.answer()
        talker.until(lambda: spun(control, talker) and len(states) > 1, 'the next state')
    finally:
        control.destroy_node()


def spun(node, talker):
    rclpy.spin_once(node, timeout_sec=0.05)
    talker.spin(0.05)
    return True


def test_node_that_ros_does_not_know_yet_has_not_vanished(start, talker):
    parts = talker.node.create_publisher(DiagnosticArray, NODES_TOPIC, 100)
    arm = start('simulated_arm', arm='panda', lockstep=['stranger', 'other'], **SIMULATED)

    def waits():
        parts.publish(part_message('/stranger', CONTROLS, [('/stranger', '/joint_states')]))
        talker.spin(0.05)
        return 'waiting for /other' in arm.printed

    talker.until(waits, 'the node that is awaited')
    assert 'vanished' not in arm.printed


def test_time_goes_on_without_a_publisher_that_was_killed(start, talker, tmp_path):
    rig = Rig(start, talker, slow_file(tmp_path), output=CONTROLLER)
    rig.move()
    rig.publisher.stop(signal.SIGKILL)
    # Its goal is the whole way, to rest at its end. DDS forgets the process after ten seconds.
    rig.until(lambda: '/trajectory_publisher has vanished' in rig.arm.printed, 'the notice')
    rig.wait_rest(10.0)
    np.testing.assert_allclose(rig.states[-1].position, slow_motion().start, atol=2e-3)


def test_signal_to_all_nodes_brings_the_arm_to_rest_without_an_abort(start, talker, tmp_path):
    rig = Rig(start, talker, slow_file(tmp_path), output=CONTROLLER)
    rig.move()
    for process in (rig.arm, rig.publisher):
        process.send(signal.SIGINT)
    status, printed = rig.end()
    assert status == 0
    assert 'aborted' not in printed
    assert rig.speed() < 0.02


def test_compiling_is_said_and_only_where_something_is_compiled(tmp_path):
    def warm_up(**environment):
        return subprocess.Popen(
            [sys.executable, '-m', 'dynid_ros.ros.nodes.warm_up', 'two_axis'], text=True,
            env={**os.environ, **environment}, stdout=subprocess.PIPE)

    with warm_up(NUMBA_CACHE_DIR=str(tmp_path)) as first:
        assert first.stdout.readline() == f'dynid: {NOTICE}\n'
        # To compile all of them takes longer than all other tests of this file.
        first.kill()
    compile_kernels(load_arm('two_axis'), print)
    assert warm_up().communicate()[0] == ''
