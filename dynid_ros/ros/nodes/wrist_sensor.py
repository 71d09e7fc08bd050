# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Node that subtracts load and biases from the wrenches of a force-torque sensor at the wrist."""

from __future__ import annotations

from functools import partial
from pathlib import Path
import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dynid_ros.applications.sensor.compensation import Compensated, Compensator
from dynid_ros.applications.sensor.findings import COMPONENTS, UNITS
from dynid_ros.applications.sensor.sensor_file import read_sensor
from dynid_ros.arm.drive import joint_position
from dynid_ros.data.files.wrench_reader import WRENCH_WIDTH
from dynid_ros.data.streaming.pairing import Pairing
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.answers import offer
from dynid_ros.ros.nodes.common.arm_subscription import StateSubscription, STREAM_STOPPED_SECONDS
from dynid_ros.ros.nodes.common.joint_state_reader import JointOrder
from dynid_ros.ros.nodes.common.lockstep import (
    Answers,
    create_steady_timer,
    nanoseconds,
    READS,
    time_message,
)
from dynid_ros.ros.nodes.common.runtime import declare, run, Setting
from dynid_ros.utilities.arrays import Array

SETTINGS = (
    Setting('sensor', '', 'File that "dynid sensor -o" wrote.', example='sensor.yaml'),
    Setting('wrench_topic', 'force_torque_sensor_broadcaster/wrench',
            'Topic of the sensor (geometry_msgs/WrenchStamped).'),
    Setting('publish_rate', 100.0, 'Compensated wrenches per second, at most.', 1.0, 1000.0),
    Setting('report_rate', 2.0, 'Reports on /diagnostics per second.', 0.1, 20.0),
)


class WristSensorNode(Node):
    """Joint states and wrenches in, compensated wrenches out; as ``dynid sensor`` of a bag."""

    def __init__(self) -> None:
        super().__init__('wrist_sensor')
        self._settings = declare(self, SETTINGS)
        self._sensor = read_sensor(Path(self._settings['sensor']).expanduser())
        self._arm = self._sensor.arm
        if not self._sensor.trustworthy:
            self.get_logger().warning(
                f'the sensor is not trustworthy: {self._sensor.findings[0].text}')
        load_kernels(Compensator(self._sensor), self._arm.n)
        self._compensator, self._order = Compensator(self._sensor), JointOrder(self._arm)
        self._pairing = Pairing(self._arm.n, WRENCH_WIDTH)
        self._first = self._next = -1
        self._latest: Compensated | None = None
        self._frame, self._lacking = self._sensor.frame, 0
        self._wrench = self.create_publisher(WrenchStamped, '~/wrench', 10)
        self._interval = self.create_publisher(WrenchStamped, '~/interval', 10)
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        offer(self, '~/tare', self._tare)
        self._states = StateSubscription(self, JointState, 'joint_states', self._on_state)
        self._felt = StateSubscription(
            self, WrenchStamped, self._settings['wrench_topic'], self._on_wrench)
        self._topics = [self._states.topic, self._felt.topic]
        self._heard = dict.fromkeys(self._topics, time.monotonic())
        self._answers = Answers(self, self._topics[:1], READS)
        create_steady_timer(self, 1 / self._settings['report_rate'], self._report)
        self.get_logger().info(
            f'ready: {self._arm.name} on {self._states.topic} and {self._felt.topic}')

    def stop(self) -> None:
        """Release a simulated arm, which need not wait for this node any more."""
        self._answers.leave()

    def _on_state(self, message: JointState) -> None:
        self._heard[self._states.topic] = time.monotonic()
        values = self._order.in_order(message.name, message.position)
        if values is None:
            self._lacking += 1
            return
        self._pairing.add_state(nanoseconds(message.header.stamp), values[0])
        self._answers.heard(message.header.stamp)
        self._answers.answer()

    def _on_wrench(self, message: WrenchStamped) -> None:
        self._heard[self._felt.topic] = time.monotonic()
        self._frame = message.header.frame_id
        if self._frame != self._sensor.frame:
            return
        self._pairing.add_signal(nanoseconds(message.header.stamp), wrench_of(message))
        stamps, p, wrench = self._pairing.take()
        if not len(stamps):
            return
        if self._first < 0:
            self._first = int(stamps[0])
        t = np.asarray((stamps - self._first) * 1e-9, dtype=float)
        new = self._compensator.push(t, joint_position(p, self._arm.drive), wrench)
        if len(new.t):
            self._latest = new
            self._publish(new)

    def _publish(self, new: Compensated) -> None:
        period = round(1e9 / self._settings['publish_rate'])
        for t, wrench, interval in zip(new.t.tolist(), new.wrench, new.interval, strict=True):
            stamp = self._first + round(t * 1e9)
            if self._next - period <= stamp < self._next:
                continue
            self._next = stamp + period
            for publisher, values in ((self._wrench, wrench), (self._interval, interval)):
                publisher.publish(self._message(stamp, values))

    def _message(self, stamp: int, values: Array) -> WrenchStamped:
        message = WrenchStamped()
        message.header.stamp = time_message(stamp)
        message.header.frame_id = self._sensor.frame
        for vector, numbers in ((message.wrench.torque, values[:3].tolist()),
                                (message.wrench.force, values[3:].tolist())):
            vector.x, vector.y, vector.z = numbers
        return message

    def _tare(self) -> str:
        self._compensator.tare()
        return 'the wrench is zeroed'

    def _report(self) -> None:
        names = {each.topic: each.follow() for each in (self._states, self._felt)}
        self._diagnostics.publish(say.array(self, [self._status(names)]))

    def _status(self, names: dict[str, list[str]]) -> DiagnosticStatus:
        """Report the problem that prevents compensation, or the current wrench."""
        level, text = say.OK, f'{" and ".join(self._topics)} are good'
        silent = [topic for topic in self._topics
                  if time.monotonic() - self._heard[topic] > STREAM_STOPPED_SECONDS]
        if silent:
            level, text = say.STALE, '; '.join(
                f'{topic}: no message; {", ".join(names[topic]) or "nobody"} publishes it'
                for topic in silent)
        elif self._frame != self._sensor.frame:
            level, text = say.ERROR, (
                f'{self._felt.topic} is in the frame {self._frame}, and the sensor was identified '
                f'in {self._sensor.frame}; give the topic of that sensor, or identify this one')
        elif self._latest is None:
            level, text = say.WARN, (
                f'no joint state has all joints of {self._arm.name}' if self._lacking else
                'the filters are not filled yet')
        elif self._sensor.findings:
            level, text = say.WARN, self._sensor.findings[0].text
        values = {} if self._latest is None else {
            f'{name}, {unit}': f'{value:.3g} ± {bar:.2g}' for name, unit, value, bar in zip(
                COMPONENTS, UNITS, self._latest.wrench[-1], self._latest.interval[-1],
                strict=True)}
        return say.status(self, self._arm, 'sensor', level, text, values)


def wrench_of(message: WrenchStamped) -> Array:
    """Return ``[Tx Ty Tz Fx Fy Fz]`` of a message, Nm and N."""
    torque, force = message.wrench.torque, message.wrench.force
    return np.array([torque.x, torque.y, torque.z, force.x, force.y, force.z])


def load_kernels(compensator: Compensator, joints: int) -> None:
    """Load all kernels before the first message."""
    t = np.arange(200) / 100.0
    compensator.push(t, np.zeros((len(t), joints)), np.zeros((len(t), WRENCH_WIDTH)))


main = partial(run, WristSensorNode)


if __name__ == '__main__':
    raise SystemExit(main())
