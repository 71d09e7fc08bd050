# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The node of a sensor at the wrist in a process of its own, with real messages."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from sensor_rig import RATE, sensed
from std_srvs.srv import Trigger

from dynid_ros.applications.sensor.compensation import Compensator
from dynid_ros.applications.sensor.estimate import estimate_sensor
from dynid_ros.applications.sensor.sensor_file import read_sensor, write_sensor
from dynid_ros.arm import load_arm
from dynid_ros.data.files.wrench_reader import read_wrenches
from dynid_ros.ros.nodes.common.lockstep import time_message
from dynid_ros.ros.nodes.wrist_sensor import wrench_of

ARM = load_arm('ur10')
#: Samples per second: no middleware loses any.
PACE = 500.0


@pytest.fixture(scope='module')
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp('sensor') / 'sensor.yaml'
    write_sensor(estimate_sensor(ARM, sensed().recording), path)
    return path


class Sensor:
    """Publish a recording, joint states and wrenches with the same stamps."""

    def __init__(self, talker, frame='ft_frame'):
        self._talker, self._frame = talker, frame
        self._states = talker.states()
        self._wrenches = talker.node.create_publisher(WrenchStamped, 'ft/wrench', 1000)

    def say(self, log, first, last):
        """Publish some samples, each wrench behind its state."""
        for publisher in (self._states, self._wrenches):
            self._talker.meet(publisher)
        for k in range(first, last):
            stamp = time_message(round(1e9 * (log.t[k] + 1.0)))
            state = JointState(name=list(ARM.joint_names), position=log.q[k].tolist())
            wrench, message = log.wrench[k].tolist(), WrenchStamped()
            state.header.stamp = message.header.stamp = stamp
            message.header.frame_id = self._frame
            force, torque = message.wrench.force, message.wrench.torque
            force.x, force.y, force.z = wrench[3:]
            torque.x, torque.y, torque.z = wrench[:3]
            self._states.publish(state)
            self._wrenches.publish(message)
            self._talker.spin(1 / PACE)


def test_wrenches_are_those_of_the_command_and_zero_at_rest(start, talker, file):
    heard = talker.listen(WrenchStamped, '/wrist_sensor/wrench', 4000)
    bars = talker.listen(WrenchStamped, '/wrist_sensor/interval', 4000)
    diagnosed = talker.listen(DiagnosticArray, '/diagnostics', 100)
    process = start('wrist_sensor', sensor=file, wrench_topic='ft/wrench', publish_rate=1000.0,
                    report_rate=10.0)
    sensor = Sensor(talker)
    log = sensed(seed=5, turning=0.0, seconds=6.0, drift=0.0).recording
    sensor.say(log, 0, 500)
    talker.until(lambda: len(heard) > 400, 'wrenches')
    core = Compensator(read_sensor(file))
    wanted = core.push(log.t[:500], log.q[:500], log.wrench[:500])
    for message, bar in list(zip(heard, bars, strict=False))[:400:50]:
        assert message.header.frame_id == 'ft_frame'
        t = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec - 1.0
        k = int(np.argmin(np.abs(wanted.t - t)))
        np.testing.assert_allclose(wrench_of(message), wanted.wrench[k], atol=1e-6)
        np.testing.assert_allclose(wrench_of(bar), wanted.interval[k], atol=1e-6)
    assert talker.call(Trigger, '/wrist_sensor/tare').success
    before = len(heard)
    sensor.say(log, 500, len(log.t))
    talker.until(lambda: len(heard) > before + 150, 'wrenches behind the tare')
    behind = slice(before + 30, before + 150)
    wrench, interval = (np.array([wrench_of(message) for message in each[behind]])
                        for each in (heard, bars))
    # Intervals of 95 %, over a dozen independent windows of six components.
    assert (np.abs(wrench) < interval).mean() > 0.85
    told = [s for m in diagnosed for s in m.status if s.name == 'wrist_sensor: sensor']
    assert told[-1].level == DiagnosticStatus.OK and len(told[-1].values) == 6
    assert process.stop()[0] == 0


def test_another_frame_or_silence_is_reported(start, talker, file):
    diagnosed = talker.listen(DiagnosticArray, '/diagnostics', 100)
    start('wrist_sensor', sensor=file, wrench_topic='ft/wrench', report_rate=10.0)
    sensor = Sensor(talker, 'other_frame')

    def said(task='sensor'):
        return [s for m in diagnosed for s in m.status if s.name == f'wrist_sensor: {task}']

    talker.until(lambda: any(s.level == DiagnosticStatus.STALE for s in said('stream')), 'silence')
    assert 'no message' in said('stream')[-1].message
    assert not talker.call(Trigger, '/wrist_sensor/tare').success
    log = sensed(seed=5, turning=0.0, seconds=1.0).recording
    for _ in range(40):
        sensor.say(log, 0, round(RATE / 10))
        if any(s.level == DiagnosticStatus.ERROR for s in said()):
            break
    text = next(s.message for s in said() if s.level == DiagnosticStatus.ERROR)
    assert 'in the frame other_frame' in text and 'identified in ft_frame' in text


def test_a_file_that_is_no_sensor_is_refused(start, tmp_path):
    (tmp_path / 'notes.yaml').write_text('a: 1')
    process = start('wrist_sensor', sensor=tmp_path / 'notes.yaml')
    status, printed = process.end()
    assert status == 2 and 'notes.yaml' in printed


def test_the_recorder_stores_the_sensor_beside_the_joint_states(start, talker, tmp_path):
    heard = talker.listen(DiagnosticArray, '/diagnostics', 100)
    process = start('recorder', arm='ur10', output_folder=tmp_path, wrench_topic='ft/wrench',
                    report_rate=5.0)
    sensor, log = Sensor(talker), sensed(seconds=2.0).recording
    answer = talker.call(Trigger, '/recorder/start')
    assert answer.success and '/ft/wrench' in answer.message
    talker.until(lambda: any(s.message == 'recording' for m in heard for s in m.status), 'a bag')
    sensor.say(log, 0, len(log.t))
    talker.spin(1.0)
    assert talker.call(Trigger, '/recorder/stop').success
    assert process.stop()[0] == 0
    (metadata,) = tmp_path.rglob('metadata.yaml')
    # The topic is the one that the recorder noted.
    read = read_wrenches(metadata.parent, ARM)
    assert read.topic == '/ft/wrench' and read.frame == 'ft_frame'
    assert len(read.t) > 0.95 * len(log.t)
    first = int(np.argmin(np.abs(log.q - read.q[0]).sum(axis=1)))
    np.testing.assert_allclose(
        read.wrench[:100], log.wrench[first:first + 100], atol=1e-9)
