# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The trajectory publisher with the simulated arm: it follows, and every fault ends safely."""

import re
import signal

from motion_rig import ARM, FINE_RATE, NODE, Rig, slow_file, slow_motion
import numpy as np
import pytest
from ros.motion.pace import OWN
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from dynid_ros.motion.execution.tracking_control import RigidArm


@pytest.fixture
def excitation(tmp_path):
    return slow_file(tmp_path, periods=5)


def test_a_start_is_accepted_as_soon_as_the_node_is_ready(start, talker, excitation):
    rig = Rig(start, talker, excitation)
    rig.until(lambda: ']: ready' in rig.publisher.printed, 'readiness')
    answer = rig.talker.call(Trigger, f'{NODE}/start')
    assert answer.success, answer.message


def test_motion_is_followed_to_its_end_and_held(start, talker, tmp_path):
    rig = Rig(start, talker, slow_file(tmp_path), rate=FINE_RATE)
    rig.move()
    motion = slow_motion()
    rig.wait_end()
    # Coulomb friction by stiffness is some 1 mrad.
    np.testing.assert_allclose(rig.wait_rest(), motion.start, atol=5e-3)
    before = len(rig.commands)
    rig.until(lambda: len(rig.commands) > before + 50, 'commands that hold the arm')
    status, printed = rig.end(signal.SIGINT)
    assert status == 0
    assert 'torques are commanded by this node' in printed
    assert [phase for phase in re.findall(r'publisher\]: (\w+)', printed)
            if phase in ('moving', 'running', 'holding')] == ['moving', 'running', 'holding']
    assert np.sqrt((rig.away()**2).mean()) < 5e-3


def test_faults_of_the_states_are_named_and_the_arm_held_until_reset(start, talker, excitation):
    rig = Rig(start, talker, excitation, state_timeout=0.1)
    faults = {
        'nan 0.1': "joint 'fer_joint1' reports a NaN or infinite position or velocity",
        'silent 0.3': r'no usable joint state has come for (\d+) ms'}
    for fault, said in faults.items():
        rig.move()
        rig.inject(fault)
        found = rig.wait_refusal(f'aborted because {said}.*~/stop')
        rig.wait_rest()
        assert rig.stop() == 'reset after the abort'
    # After the silence that is allowed, and before the one that was injected is over.
    assert 100 < int(found[1]) <= 308
    assert rig.begin().success
    status, printed = rig.end(signal.SIGINT)
    assert status == 0
    for said in faults.values():
        assert len(re.findall(f'aborted: {said}', printed)) == 1


def test_what_a_stream_may_do_does_not_disturb_the_motion(start, talker, excitation):
    rig = Rig(start, talker, excitation)
    rig.move()
    for fault in ('reorder 0.3', 'gripper 0.3', 'silent 0.03', 'clock 0.3'):
        rig.inject(fault)
        rig.after(0.5)
    assert max(map(rig.speed, rig.last(0.3))) > 0.05
    assert rig.stop() == 'stopping'
    status, printed = rig.end(signal.SIGINT)
    assert status == 0
    assert 'aborted' not in printed


def test_second_publisher_of_states_stops_the_motion_and_prevents_a_start(
        start, talker, excitation):
    rig = Rig(start, talker, excitation)
    rig.move()
    fastest = np.abs(slow_motion().evaluate(np.linspace(0, 2, 2001))[1]).max()
    second = talker.states()
    zeros = [0.0] * ARM.n

    def disturb():
        state = JointState(name=ARM.joint_names, position=zeros, velocity=zeros)
        state.header.frame_id = OWN
        second.publish(state)
        return ()

    rig.until(lambda: 'aborted: ' in rig.publisher.printed, 'the abort', act=disturb)
    # Nothing follows the zeros: the arm moves no faster than the motion, but for what its
    # control overshoots.
    assert max(map(rig.speed, rig.states)) < 1.5 * fastest
    rig.wait_rest()
    rig.stop()
    rig.wait_refusal('2 publishers: /simulated_arm, /talker')
    talker.node.destroy_publisher(second)


def test_lost_arm_is_noticed_by_its_tracking_error(start, talker, excitation):
    rig = Rig(start, talker, excitation, effort_joints=[
        'fer_joint2', 'fer_joint1', *ARM.joint_names[2:]])
    assert rig.begin().success
    rig.wait_refusal(
        r"aborted because joint 'fer_joint\d' (is .* from where it should be|moves at)")


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_brings_the_arm_to_rest_and_leaves_a_safe_command(
        start, talker, excitation, number):
    rig = Rig(start, talker, excitation)
    rig.move()
    status, printed = rig.end(number)
    assert status == 0
    assert 'aborted' not in printed
    assert rig.at_rest()
    # The last command holds the arm; it creeps by some mrad until the time ends.
    away = rig.commands[-1].data - RigidArm(ARM).gravity(rig.states[-1].position)
    assert np.abs(away).max() < 0.5


def test_stop_slows_down_and_another_start_is_possible(start, talker, excitation):
    rig = Rig(start, talker, excitation)
    rig.move()
    assert rig.stop() == 'stopping'
    # Braking takes a fraction of a second, and what it leaves of the motion fades.
    rig.wait_rest(1.5)
    assert rig.begin().success


def test_dry_run_shows_the_reference_and_commands_nothing(start, talker, excitation):
    rig = Rig(start, talker, excitation, dry_run=True)
    assert 'dry run' in rig.begin().message
    # At most 100 a second are told.
    rig.until(lambda: len(rig.wanted) > 50, 'the reference', 1.5)
    assert rig.commands == []
    assert rig.at_rest()


def test_motion_for_another_arm_ends_in_one_line(start, tmp_path):
    status, printed = start(
        'trajectory_publisher', arm='ur10', excitation=slow_file(tmp_path)).end()
    assert status == 2
    assert 'choose the arm that it was made for' in printed
    assert printed.count('\n') == 1
