# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Node that watches an arm by its identified model: external torque, contact, gravity effort."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from control_msgs.msg import DynamicJointState
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dynid_ros.applications.contact.alarm_levels import ALARMS_PER_HOUR
from dynid_ros.applications.contact.model_age import LEAST_MOTION_SECONDS
from dynid_ros.applications.contact.momentum_observer import BANDWIDTH_HZ
from dynid_ros.applications.contact.monitor import Monitor, MonitoredSamples, RATE_SAMPLES
from dynid_ros.applications.contact.tool_wrench import (
    in_body_frame,
    on_carrier,
    tool_wrench,
)
from dynid_ros.arm.bodies import TOOL
from dynid_ros.arm.drive import joint_position
from dynid_ros.arm.parameters import torque_units
from dynid_ros.dynamics.base import gravity_load
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.answers import offer
from dynid_ros.ros.nodes.common.arm_markers import ArmMarkers
from dynid_ros.ros.nodes.common.arm_subscription import ArmSubscription
from dynid_ros.ros.nodes.common.runtime import declare, MODEL, run, Setting
from dynid_ros.utilities.arrays import Array

SETTINGS = (
    MODEL,
    Setting('alarms_per_hour', ALARMS_PER_HOUR, 'False alarms of the arm, 1/h.', 1e-4, 1e4,
            changeable=True),
    Setting('bandwidth_hz', BANDWIDTH_HZ, 'Bandwidth of the momentum observer, Hz; a tenth of the '
            'rate of joint_states where that is lower.', 0.1, 1000.0),
    Setting('publish_rate', 100.0, 'External torque, wrench, contact and gravity effort per '
            'second, at most; start and end of a contact are published at once.', 1.0, 1000.0),
    Setting('report_rate', 2.0, 'Reports on /diagnostics per second.', 0.1, 20.0, changeable=True),
    Setting('frame_id', '', 'TF frame of the tool of arm.yaml, in which ~/tool_wrench is; if '
            'empty, the link that carries the tool, as robot_description calls it, and tool '
            'without one.'),
)
#: Rules of the stream that blind the monitor for a moment.
MONITOR_LOSSES = ('not_finite', 'gaps', 'clock_reset', 'jumps', 'rate_changed')


class ArmMonitor(Node):
    """Joint states in, external torque and contact out; the same as ``dynid monitor`` of a bag."""

    def __init__(self) -> None:
        super().__init__('monitor')
        self._settings = declare(self, SETTINGS, self._change)
        self._model = self._read_model()
        self._arm = self._model.arm
        load_kernels(self._model)
        self._monitor = Monitor(
            self._model, alarms_per_hour=self._settings['alarms_per_hour'],
            bandwidth_hz=self._settings['bandwidth_hz'])
        self._first = self._next = -1
        self._latest: MonitoredSamples | None = None
        self._touched: tuple[str, ...] = ()
        self._aged = ''
        self._torque = self.create_publisher(JointState, '~/external_torque', 10)
        self._wrench = self.create_publisher(WrenchStamped, '~/tool_wrench', 10)
        self._contact = self.create_publisher(DynamicJointState, '~/contact', 10)
        self._gravity = self.create_publisher(JointState, '~/gravity_effort', 10)
        self._markers = ArmMarkers(self, self._model)
        offer(self, '~/tare', self._tare)
        self._input = ArmSubscription(
            self, self._arm, self._settings, self._health, self._on_message)
        self.get_logger().info(f'ready: {self._arm.name} on {" and ".join(self._input.topics)}')

    def stop(self) -> None:
        """Release a simulated arm, which need not wait for this node any more."""
        self._input.leave()

    def _change(self, name: str, value: float) -> None:
        if name == 'alarms_per_hour':
            self._monitor.allow(value)

    def _read_model(self) -> IdentifiedModel:
        model = read_result(Path(self._settings['model']).expanduser())
        if not model.verdict.trustworthy:
            self.get_logger().warning(
                f'the model is not trustworthy: {"; ".join(model.verdict.reasons)}')
        return model

    def _on_message(self) -> None:
        reader = self._input.reader
        if len(reader) < self._monitor.wanted:
            return
        stamps, p, u = reader.take()
        if not len(stamps):
            return
        if self._first < 0:
            self._first = int(stamps[0])
        t = (stamps - self._first) * 1e-9
        for new in self._monitor.push(t, joint_position(p, self._arm.drive), u):
            self._latest = new
            self._show(new)

    def _show(self, new: MonitoredSamples) -> None:
        """Publish the newest sample, if it is due or the contact has changed."""
        stamp = self._first + round(float(new.t[-1]) * 1e9)
        names = self._felt(new)
        changed = bool(names) != bool(self._touched)
        if changed and names:
            j = self._arm.joint_names.index(names[0])
            self.get_logger().warning(
                f'contact: {names[0]} feels {new.torque[-1, j]:.3g} '
                f'{torque_units(self._arm)[j]}, more than {new.threshold[-1, j]:.3g}')
        self._touched = names
        self._markers.touch(names)
        period = round(1e9 / self._settings['publish_rate'])
        if not changed and self._next - period <= stamp < self._next:
            return
        self._next = stamp + period
        q, torque = new.q[-1], new.torque[-1]
        self._torque.publish(say.effort_message(self._arm, stamp, torque))
        self._gravity.publish(say.effort_message(
            self._arm, stamp, gravity_load(self._arm, new.q[-1:], self._model.theta)[0]))
        self._contact.publish(say.numbers(stamp, self._arm.joint_names, {
            'external_torque': torque, 'threshold': new.threshold[-1],
            'contact': new.contact[-1]}))
        self._wrench.publish(self._wrench_message(stamp, q, torque, new.std[-1]))

    def _wrench_message(self, stamp: int, q: Array, torque: Array, std: Array) -> WrenchStamped:
        found = tool_wrench(self._arm, q, torque, std)
        wrench = in_body_frame(self._arm, q, found.wrench)
        frame = self._settings['frame_id']
        carrier = self._markers.frames.get(self._arm.tree.link_names[self._arm.tool_link])
        if not frame and carrier is not None:
            frame, wrench = carrier, on_carrier(self._arm, wrench)
        return say.wrench_message(stamp, frame or TOOL, wrench)

    def _felt(self, new: MonitoredSamples) -> tuple[str, ...]:
        """Joints in contact, the clearest one first."""
        order = np.argsort(-np.abs(new.torque[-1]) / new.threshold[-1])
        return tuple(self._arm.joint_names[j] for j in order if new.contact[-1, j])

    def _health(self) -> list[DiagnosticStatus]:
        return [self._input.status(self._monitor.counters.as_dict(), MONITOR_LOSSES),
                self._contact_status(), self._model_status()]

    def _contact_status(self) -> DiagnosticStatus:
        new = self._latest
        if new is None or not np.isfinite(new.threshold[-1]).any():
            return say.status(self, self._arm, 'contact', say.WARN,
                              'contact is not known yet: it needs five seconds of motion, or of '
                              'rest')
        text = f'contact: {", ".join(self._touched)}' if self._touched else 'no contact'
        level = say.WARN if self._touched else say.OK
        return say.status(self, self._arm, 'contact', level, text)

    def _model_status(self) -> DiagnosticStatus:
        aged = self._monitor.age.finding
        text = '' if aged is None else aged.sentence
        if text and not self._aged:
            self.get_logger().warning(text)
        self._aged = text
        fits = 'the model fits' if self._monitor.age.judged else (
            f'the model is not judged yet: that takes {LEAST_MOTION_SECONDS:g} s of motion')
        return say.status(
            self, self._arm, 'model', say.WARN if text else say.OK, text or fits)

    def _tare(self) -> str:
        self._monitor.tare()
        return 'the external torque is zeroed'


def load_kernels(model: IdentifiedModel) -> None:
    """Compile or load all kernels, before the first message waits for them."""
    t = np.arange(2 * RATE_SAMPLES) / 100.0
    still = np.zeros((len(t), model.arm.n))
    new = Monitor(model).push(t, still, still)[-1]
    tool_wrench(model.arm, new.q[-1], new.torque[-1], new.std[-1])
    gravity_load(model.arm, new.q, model.theta)


main = partial(run, ArmMonitor)


if __name__ == '__main__':
    raise SystemExit(main())
