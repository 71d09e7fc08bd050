# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Node of the live page: messages of other nodes in, requests to their services out."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
import time
from typing import Any

from control_msgs.msg import DynamicJointState
from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from dynid_ros.arm.drive import joint_position
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.pages.viewer.live_page import LivePage
from dynid_ros.pages.viewer.sources.commands import Command, Request, taken
from dynid_ros.pages.viewer.sources.live import IDENTIFIER, LiveState, PUBLISHER, Report
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.answers import answer_of
from dynid_ros.ros.nodes.common.joint_state_reader import in_order, order_of
from dynid_ros.ros.nodes.common.lockstep import create_steady_timer, nanoseconds
from dynid_ros.ros.nodes.common.qos import LATCHED, NEWEST
from dynid_ros.ros.nodes.common.runtime import ARM, declare, run, Setting
from dynid_ros.ros.nodes.common.state_subscription import StateSubscription
from dynid_ros.ros.nodes.common.trajectory_points import read_points
from dynid_ros.simulation.joint_trajectory import TrajectoryError
from dynid_ros.utilities.arrays import Array

SETTINGS = (
    ARM,
    Setting('host', '127.0.0.1', 'Address on which the page is served. Beyond the loopback '
            'interface, it asks for a token before it shows buttons.'),
    Setting('port', 8080, 'Port of the page; 0 for any that is free.'),
)
#: Period of the check of buttons and answers, s, and the part of it in which the node rests: the
#: newest state replaces earlier ones, and a page needs 50 of 1000 a second.
BUTTON_CHECK_SECONDS, RESTING_SECONDS = 0.02, 0.015
#: Period of the check of the publishers of states, s.
FOLLOW = 0.5
#: Time after which a service counts as not answering, s.
SERVICE_SECONDS = 3.0
#: Most parameters and points of a motion of this package: more are of others.
MOST_PARAMETERS, MOST_TAKEN_IN = 1000, 10000


class Watch(Node):
    """Messages to the page, its commands to services."""

    def __init__(self) -> None:
        super().__init__('watch')
        settings = declare(self, SETTINGS)
        self._arm = load_arm(settings['arm'])
        self._state = LiveState(self._arm.joint_names)
        # Requests that wait for the answer of a service, and their times, s.
        self._asked: list[tuple[Request, Any, float]] = []
        self._called = {
            name: self.create_client(Trigger if flag is None else SetBool, name)
            for name, flag in (command.value for command in Command)}
        self._states = StateSubscription(
            self, JointState, 'joint_states', self._on_state, NEWEST)
        self._subscribe()
        self._page = LivePage(
            self._arm, load_surroundings(settings['arm'], self._arm), settings['host'],
            settings['port'], self._state)
        if self._page.note:
            self.get_logger().warning(self._page.note)
        create_steady_timer(self, BUTTON_CHECK_SECONDS, self._look)
        create_steady_timer(self, FOLLOW, self._follow)
        self.get_logger().info(f'{self._arm.name} on {self._states.topic}: {self._page.url}')
        if self._page.token:
            self.get_logger().info(f'token for the buttons: {self._page.token}')

    def stop(self) -> None:
        """Stop serving the page."""
        self._page.close()

    def _subscribe(self) -> None:
        for kind, topic, callback, qos in (
            (JointState, f'{PUBLISHER}/reference', self._on_reference, NEWEST),
            (JointTrajectory, f'{PUBLISHER}/motion', self._on_motion, LATCHED),
            (DiagnosticArray, f'{PUBLISHER}/status', self._on_status, LATCHED),
            (JointState, f'{IDENTIFIER}/residuals', self._on_residual, 100),
            (DynamicJointState, f'{IDENTIFIER}/validation', self._on_validation, LATCHED),
            (DynamicJointState, f'{IDENTIFIER}/summary', self._on_validation, LATCHED),
            (DynamicJointState, f'{IDENTIFIER}/estimates', self._on_estimates, LATCHED),
            (DiagnosticArray, '/diagnostics', self._on_diagnostics, 100),
        ):
            self.create_subscription(kind, topic, callback, qos)

    def _on_state(self, message: JointState) -> None:
        if (q := self._positions(message)) is not None:
            self._state.hear_state(joint_position(q, self._arm.drive))

    def _on_reference(self, message: JointState) -> None:
        if (q := self._positions(message)) is not None:
            self._state.hear_reference(q)

    def _positions(self, message: JointState) -> Array | None:
        """Return the positions (n,) of a message, None if a joint has no finite one."""
        found = in_order(self._arm, message.name, message.position)
        return found[0] if found is not None and np.isfinite(found[0]).all() else None

    def _on_residual(self, message: JointState) -> None:
        found = in_order(self._arm, message.name, message.effort)
        if found is not None:
            self._state.residuals.add(nanoseconds(message.header.stamp) * 1e-9, found[0])

    def _on_motion(self, message: JointTrajectory) -> None:
        order = order_of(self._arm, message.joint_names)
        if order is None or len(message.points) > MOST_TAKEN_IN:
            return
        with suppress(TrajectoryError):
            read = read_points(message, [message.joint_names[k] for k in order])
            if np.isfinite(read.qd).all():
                self._state.motion = read

    def _on_status(self, message: DiagnosticArray) -> None:
        for status in message.status[:1]:
            self._state.hear_publisher(report_of(status))

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        own = say.name_of(self).rpartition('/')[0]
        for status in message.status:
            names, colon, task = status.name.partition(':')
            namespace, _, node = names.rpartition('/')
            if status.hardware_id == self._arm.name and namespace == own:
                self._state.hear_report(f'{node}{colon}{task}', report_of(status))

    def _on_validation(self, message: DynamicJointState) -> None:
        names, columns = say.numbers_of(message)
        percent = columns.get('relative_error_percent', np.zeros(0)).tolist()
        self._state.condition = float(columns.get('condition_number', [self._state.condition])[0])
        # The summary names the arm.
        self._state.hear_percent(dict(zip(
            ('' if name == self._arm.name else name for name in names), percent, strict=False)))

    def _on_estimates(self, message: DynamicJointState) -> None:
        names, columns = say.numbers_of(message)
        if names and columns.keys() >= {'value', 'std', 'from_data'}:
            few = slice(MOST_PARAMETERS)
            self._state.hear_estimates(
                nanoseconds(message.header.stamp) * 1e-9, names[few], columns['value'][few],
                columns['std'][few], columns['from_data'][few] > 0)

    def _follow(self) -> None:
        self._states.follow()
        if self._page.fault:
            self.get_logger().error(
                f'a fault of dynid: {self._page.fault}; the page stands still, its buttons work',
                throttle_duration_sec=60.0)

    def _look(self) -> None:
        """Send the requests of the buttons, and return the answers to them."""
        for request in taken(self._page.requests):
            name, flag = request.command.value
            if self._called[name].service_is_ready():
                call = Trigger.Request() if flag is None else SetBool.Request(data=flag)
                future = self._called[name].call_async(call)
                self._asked.append((request, future, time.monotonic()))
            else:
                request.answered(False, f'{self.resolve_topic_name(name)} is not there')
        waiting, self._asked = self._asked, []
        for request, future, sent in waiting:
            if future.done():
                answer, problem = answer_of(future)
                request.answered(not problem and answer.success, problem or answer.message)
            elif time.monotonic() - sent > SERVICE_SECONDS:
                request.answered(
                    False,
                    f'{request.command.value[0]} has not answered for {SERVICE_SECONDS:.0f} s')
            else:
                self._asked.append((request, future, sent))
        if not self._asked:
            time.sleep(RESTING_SECONDS)


def report_of(status: Any) -> Report:
    """Read one diagnostic_msgs/DiagnosticStatus."""
    values = {pair.key: pair.value for pair in status.values}
    return Report(status.level[0], status.message, values)


main = partial(run, Watch)


if __name__ == '__main__':
    raise SystemExit(main())
