# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The state of the moved arm: its messages, its age, and its publishers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rclpy.node import Node
from sensor_msgs.msg import JointState

from dynid_ros.arm.drive import joint_position, joint_torque, joint_velocity
from dynid_ros.arm.model import ArmModel
from dynid_ros.motion.execution.motion_output import MotionState
from dynid_ros.motion.execution.safety_monitor import Bound, Violation
from dynid_ros.ros.nodes.common.joint_state_reader import in_order, order_of
from dynid_ros.ros.nodes.common.lockstep import ControlTime
from dynid_ros.ros.nodes.common.qos import NEWEST
from dynid_ros.ros.nodes.common.state_subscription import StateSubscription


def motion_state(arm: ArmModel, message: JointState) -> MotionState | None:
    """Read a message; None if a joint, its position or its velocity is missing."""
    drive, found = arm.drive, in_order(arm, message.name, message.position, message.velocity)
    if found is None:
        return None
    measured = None
    if drive.signal == 'effort' and drive.topic is None:
        measured = in_order(arm, message.name, message.effort)
    tau = None if measured is None else joint_torque(measured[0], drive)
    return MotionState(joint_position(found[0], drive), joint_velocity(found[1], drive), tau)


class StateWatch(StateSubscription):
    """
    Receive the state of an arm, and detect problems of its publishers.

    Parameters
    ----------
    node : Node
        Owner.
    arm : ArmModel
        Names of the joints, their aliases, and the transmission between motors and joints.
    time : ControlTime
        Time of the motion.
    callback : callable
        Takes each message.

    """

    def __init__(
        self, node: Node, arm: ArmModel, time: ControlTime,
        callback: Callable[[JointState], None],
    ) -> None:
        super().__init__(node, JointState, 'joint_states', callback, NEWEST)
        self._time, self._arm = time, arm
        self._named: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        """Return the joints of the arm as its last readable state names them."""
        order = order_of(self._arm, self._named)
        return [] if order is None else [self._named[k] for k in order]

    @property
    def gone(self) -> str:
        """Return why no states can come any more, in a clause; empty if they can."""
        # In real time, the age of the last state shows it.
        return '' if self.publishers or not self._time.simulated else (
            f'nobody publishes {self.topic} any more')

    @property
    def violation(self) -> Violation | None:
        """Return the problem of the publishers at the last `follow`, if any."""
        problem = self.mixed or self.gone
        return Violation(Bound.PUBLISHERS, problem) if problem else None

    def read(self, message: JointState) -> MotionState | None:
        """Return `motion_state` of a message."""
        state = motion_state(self._arm, message)
        if state is not None:
            self._named = message.name
        return state
