# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Node that subtracts load and biases from the wrenches of a force-torque sensor at the wrist."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.node import Node

from dynid_ros.applications.sensor.compensation import Compensated, Compensator
from dynid_ros.applications.sensor.findings import COMPONENTS, UNITS
from dynid_ros.applications.sensor.sensor_file import read_sensor
from dynid_ros.arm.drive import joint_position
from dynid_ros.data.files.wrench_reader import WRENCH_WIDTH
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.answers import offer
from dynid_ros.ros.nodes.common.arm_subscription import ArmSubscription
from dynid_ros.ros.nodes.common.joint_state_reader import Beside, Signal
from dynid_ros.ros.nodes.common.lockstep import nanoseconds
from dynid_ros.ros.nodes.common.runtime import declare, run, Setting
from dynid_ros.utilities.arrays import Array

SETTINGS = (
    Setting('sensor', '', 'File that "dynid sensor -o" wrote.', example='sensor.yaml'),
    Setting('wrench_topic', 'force_torque_sensor_broadcaster/wrench',
            'Topic of the sensor (geometry_msgs/WrenchStamped).'),
    Setting('publish_rate', 100.0, 'Compensated wrenches per second, at most.', 1.0, 1000.0),
    Setting('report_rate', 2.0, 'Reports on /diagnostics per second.', 0.1, 20.0, changeable=True),
)
#: Joint states without a wrench after which the old ones are dropped.
MOST_WAITING = 100


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
        self._compensator = Compensator(self._sensor)
        self._first = self._next = -1
        self._latest: Compensated | None = None
        self._frame, self._fresh = self._sensor.frame, False
        self._wrench = self.create_publisher(WrenchStamped, '~/wrench', 10)
        self._interval = self.create_publisher(WrenchStamped, '~/interval', 10)
        offer(self, '~/tare', self._tare)
        self._input = ArmSubscription(
            self, self._arm, self._settings, self._health, self._on_message,
            beside=Beside(self._settings['wrench_topic'], WrenchStamped, self._read, WRENCH_WIDTH))
        self.get_logger().info(f'ready: {self._arm.name} on {" and ".join(self._input.topics)}')

    def stop(self) -> None:
        """Release a simulated arm, which need not wait for this node any more."""
        self._input.leave()

    def _read(self, message: WrenchStamped) -> Signal | None:
        """Read a message; None in another frame than that of the sensor."""
        self._frame = message.header.frame_id
        if self._frame != self._sensor.frame:
            return None
        self._fresh = True
        return nanoseconds(message.header.stamp), None, wrench_of(message)

    def _on_message(self) -> None:
        reader = self._input.reader
        if not self._fresh and len(reader) < MOST_WAITING:
            return
        self._fresh = False
        stamps, p, wrench = reader.take()
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
                publisher.publish(say.wrench_message(stamp, self._sensor.frame, values))

    def _tare(self) -> str:
        self._compensator.tare()
        return 'the wrench is zeroed'

    def _health(self) -> list[DiagnosticStatus]:
        return [self._input.status({}, ()), self._status()]

    def _status(self) -> DiagnosticStatus:
        """Report the problem that prevents compensation, or the current wrench."""
        level, text = say.OK, 'wrenches are compensated'
        if self._frame != self._sensor.frame:
            level, text = say.ERROR, (
                f'{self._settings["wrench_topic"]} is in the frame {self._frame}, and the sensor '
                f'was identified in {self._sensor.frame}; give the topic of that sensor, or '
                'identify this one')
        elif self._latest is None:
            level, text = say.WARN, 'the filters are not filled yet'
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
