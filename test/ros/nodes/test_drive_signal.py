# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Identifier and recorder with a drive signal that has a topic of its own."""

from dataclasses import replace
from pathlib import Path

from control_msgs.msg import (
    DynamicJointState,
    InterfaceValue,
    JointTrajectoryControllerState,
)
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from identifier_rig import recording
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectoryPoint
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.estimation.online.replay import replay
from dynid_ros.estimation.result_files.result_file import read_result

#: Of stated stiffness and damping, which answers 4 ms late.
COMMANDS = {'signal': 'command', 'kp': 80.0, 'kd': 0.5}
TWO_AXIS = Path(__file__).resolve().parents[3] / 'config' / 'arms' / 'two_axis' / 'arm.yaml'


def arm_file(folder, **topic):
    """arm.yaml of an arm whose drive signal has a topic of its own."""
    content = yaml.safe_load(TWO_AXIS.read_text())
    # Gains of voltages are none of commands.
    content['drive'] = topic if topic.get('signal') == 'command' else content['drive'] | topic
    content['conditioning'] = {
        'cutoff_hz': 5.0, 'delay': 0.004 if topic.get('signal') == 'command' else 0.0}
    path = folder / 'arm.yaml'
    path.write_text(yaml.safe_dump(content))
    return path


def stamped(message, t):
    stamp = 10**18 + round(float(t) * 1e9)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
    return message


def signal(kind, names, u):
    if kind is JointTrajectoryControllerState:
        return JointTrajectoryControllerState(
            joint_names=names[::-1], reference=JointTrajectoryPoint(positions=u[::-1].tolist()))
    if kind == 'command':
        return JointState(name=names[::-1], position=u[::-1].tolist())
    if kind is JointState:
        return JointState(name=names[::-1], effort=u[::-1].tolist())
    if kind is Float64MultiArray:
        return Float64MultiArray(data=u.tolist())
    values = [InterfaceValue(interface_names=['x', 'volts'], values=[9.0, value])
              for value in u.tolist()]
    return DynamicJointState(joint_names=names, interface_values=values)


class Pair:
    """Publishers of joint states without efforts, and of signals."""

    def __init__(self, talker, kind, topic):
        self.talker, self.kind = talker, kind
        self.states = talker.states()
        self.signals = talker.node.create_publisher(
            JointState if kind == 'command' else kind, topic, 2000)

    def play(self, log, listeners, silent=()):
        """Publish both; every second signal comes before its state."""
        for publisher in (self.states, self.signals):
            self.talker.meet(publisher, listeners)
        names = list(log.joint_names)
        samples = enumerate(zip(log.t, log.q, log.u, strict=True))
        for i, (t, q, u) in self.talker.paced(samples):
            state = stamped(JointState(name=names, position=q.tolist()), t)
            own = signal(self.kind, names, u)
            if self.kind is not Float64MultiArray:
                stamped(own, t)
            messages = [(self.states, state)]
            if i not in silent:
                messages.insert(i % 2, (self.signals, own))
            for publisher, message in messages:
                publisher.publish(message)


def in_diagnostics(heard, words, level):
    return any(words in s.message and s.level == level for m in heard for s in m.status)


@pytest.mark.parametrize(('kind', 'topic'), [
    (JointState, {'topic': 'volts'}),
    (DynamicJointState, {'topic': 'dynamic_joint_states', 'interface': 'volts'}),
    ('command', COMMANDS | {'topic': 'joint_command'}),
    (JointTrajectoryControllerState, COMMANDS | {'topic': '/arm_controller/controller_state'}),
])
def test_identifier_learns_what_a_replay_of_the_recorded_bag_gives(
        start, talker, tmp_path, kind, topic):
    log, path = recording(6.0, 500.0).part(0, 1500), arm_file(tmp_path, **topic)
    if topic.get('signal') == 'command':
        log = replace(log, u=log.q + 0.01 * log.u)
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    start('identifier', arm=path, output_folder=tmp_path / 'out', report_rate=10.0)
    start('recorder', arm=path, output_folder=tmp_path / 'recordings', report_rate=5.0)
    pair = Pair(talker, kind, topic['topic'])
    talker.until(lambda: talker.call(Trigger, '/recorder/start').success, 'a recording')
    silent = range(1000, 1100)
    # Both nodes and the bag.
    pair.play(log, 3, silent)
    answer = talker.call(Trigger, '/recorder/stop')
    assert answer.success, answer.message
    count = len(log.t) - len(silent)
    talker.until(lambda: talker.call(Trigger, '/identifier/save').message.startswith(
        f'{count} samples'), 'all samples')
    arm = load_arm(path)
    read = read_recording(next((tmp_path / 'recordings').iterdir()) / 'bag', arm)
    np.testing.assert_array_equal(read.u, np.delete(log.u, silent, axis=0))
    saved, expected = read_result(tmp_path / 'out'), replay(arm, read)[0]
    np.testing.assert_allclose(saved.theta, expected.theta, rtol=1e-6)
    assert saved.data_hash == expected.data_hash
    topic_defects = {d.code: d.count for d in saved.defects if d.code.startswith('topic')}
    assert topic_defects == {'topic_signal_missing': 100}
    talker.until(lambda: in_diagnostics(
        heard, '100 joint states left out', DiagnosticStatus.WARN), 'what was left out')
    talker.until(lambda: in_diagnostics(heard, 'no message', DiagnosticStatus.STALE), 'the end')


def test_array_without_stamps_is_paired_and_its_silence_is_named(start, talker, tmp_path):
    log = recording(6.0, 500.0).part(0, 1500)
    path = arm_file(tmp_path, topic='volts', joints=list(log.joint_names))
    heard = talker.listen(DiagnosticArray, '/diagnostics')
    start('identifier', arm=path, report_rate=10.0)
    pair = Pair(talker, Float64MultiArray, 'volts')
    talker.until(lambda: pair.signals.get_subscription_count() == 1, 'the identifier')
    clock = talker.node.get_clock()

    def publish(with_signal):
        # Stamps of now: those of the array are the times of its reception.
        stamp = clock.now().nanoseconds * 1e-9 - 1e9
        state = JointState(name=list(log.joint_names), position=[0.1, 0.2])
        pair.states.publish(stamped(state, stamp))
        if with_signal:
            pair.signals.publish(Float64MultiArray(data=[0.3, 0.4]))
        return True

    def samples():
        return max((float(v.value) for m in heard for s in m.status for v in s.values
                    if v.key == 'samples'), default=0.0)

    talker.until(lambda: publish(True) and samples() > 100, 'samples')
    talker.until(
        lambda: publish(False) and in_diagnostics(
            heard, 'volts: no message', DiagnosticStatus.STALE), 'the silence')
