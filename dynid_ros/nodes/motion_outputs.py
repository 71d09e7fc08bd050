"""How a motion leaves the trajectory publisher: as torques, or as a goal of a controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import copy
from typing import Any, Protocol

from control_msgs.action import FollowJointTrajectory
import numpy as np
from numpy.typing import NDArray
from rclpy.action import ActionClient
from rclpy.duration import Duration
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectoryPoint

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.excitation.execution import Execution, Reference
from dynid_ros.excitation.supervision import EffortLimiter
from dynid_ros.nodes.motion_state import MotionState
from dynid_ros.simulation.live import live_gains
from dynid_ros.simulation.rigid import RigidArm

Array = NDArray[np.float64]

#: Rate of the points of a trajectory, Hz; the controller interpolates by quintics.
POINTS_HZ = 100.0
#: Kinds of feed-forward.
AHEAD = ('none', 'gravity', 'model')
#: Status of an action that reached its goal, of action_msgs/msg/GoalStatus.
SUCCEEDED = 4


class Output(Protocol):
    """What takes a motion to the arm."""

    @property
    def missing(self) -> str:
        """Why nothing can be commanded now, or empty."""

    def begin(self, execution: Execution, now: float) -> None:
        """Take over a motion, or its braking, at the time at which it begins."""

    def follow(
        self, now: float, state: MotionState, wanted: Reference, /,
    ) -> tuple[Array, str]:
        """Command the next moment; the torques (if any) and what is wrong (if anything)."""

    def hold(self, state: MotionState, /) -> None:
        """Hold the arm where it was last seen, without looking at it."""


class EffortOutput:
    """
    PD control with feed-forward in this process, on ``effort_commands``.

    Parameters
    ----------
    node : Node
        Owner.
    arm : ArmModel
        The arm, with physical nominal inertial parameters, which give the gains.
    order : sequence of str
        Joints in the order of the commands.
    ahead : str
        Feed-forward: ``none`` for an arm whose driver compensates gravity, which no torque holds,
        ``gravity``, or ``model`` (all rigid-body torques).
    silent : bool
        Whether nothing is commanded: a dry run.

    """

    def __init__(
        self, node: Node, arm: ArmModel, order: Sequence[str], ahead: str, silent: bool,
    ) -> None:
        if sorted(order) != sorted(arm.joint_names):
            raise InputError(
                f'effort_joints must be the joints {", ".join(arm.joint_names)} in the order of '
                f'the controller, not {", ".join(order)}')
        if ahead not in AHEAD:
            raise InputError(
                f"the parameter 'feedforward' must be one of {', '.join(AHEAD)}, not '{ahead}'")
        self._order = np.array([arm.joint_names.index(name) for name in order])
        self._gains = live_gains(arm)
        self._rigid = RigidArm(arm)
        self._kind = ahead
        self._limiter = EffortLimiter(arm)
        self._silent = silent
        self._publisher = node.create_publisher(Float64MultiArray, 'effort_commands', 10)

    @property
    def missing(self) -> str:
        """Why nothing can be commanded now, or empty."""
        if self._silent or self._publisher.get_subscription_count():
            return ''
        return f'nobody listens to {self._publisher.topic_name}'

    def begin(self, execution: Execution, now: float) -> None:
        """Nothing: each moment is commanded by itself."""

    def follow(self, now: float, state: MotionState, wanted: Reference) -> tuple[Array, str]:
        """Command the next moment; the torques, and which joint is at its effort limit."""
        tau, problem = self._limiter.limit(
            now, self._ahead(wanted) + self._gains.torque(
                state.q, state.qd, wanted.q, wanted.qd))
        self._send(tau)
        return tau, problem

    def hold(self, state: MotionState) -> None:
        """Command only what holds the arm where it was last seen."""
        rest = np.zeros_like(state.q)
        self._send(self._limiter.limit(0.0, self._ahead(Reference(state.q, rest, rest)))[0])

    def _ahead(self, wanted: Reference) -> Array:
        if self._kind == 'none':
            return np.zeros_like(wanted.q)
        if self._kind == 'gravity':
            return self._rigid.gravity(wanted.q)
        return self._rigid.torque(*wanted)

    def _send(self, tau: Array) -> None:
        if not self._silent:
            self._publisher.publish(Float64MultiArray(data=tau[self._order].tolist()))


class TrajectoryOutput:
    """
    Goals for a joint_trajectory_controller, in which the control runs.

    Parameters
    ----------
    node : Node
        Owner.
    arm : ArmModel
        Names of the joints.
    controller : str
        Relative name of the controller.
    failed : callable
        Told why the controller gave a goal up.
    silent : bool
        Whether nothing is commanded: a dry run.

    """

    def __init__(
        self, node: Node, arm: ArmModel, controller: str, failed: Callable[[str], None],
        silent: bool,
    ) -> None:
        self._names = list(arm.joint_names)
        self._silent = silent
        self._failed = failed
        self._name = f'{controller}/follow_joint_trajectory'
        self._client = ActionClient(node, FollowJointTrajectory, self._name)
        self._number = 0
        self._handle: Any = None

    @property
    def missing(self) -> str:
        """Why nothing can be commanded now, or empty."""
        if self._silent or self._client.server_is_ready():
            return ''
        return f'the action {self._name} is not there; is the controller active?'

    def begin(self, execution: Execution, now: float) -> None:
        """Send the motion as one goal, which replaces the one before."""
        if self._silent:
            return
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = self._names
        goal.trajectory.points = [
            JointTrajectoryPoint(
                positions=point.q.tolist(), velocities=point.qd.tolist(),
                accelerations=point.qdd.tolist(),
                time_from_start=Duration(seconds=time).to_msg())
            for time, point in course(execution, now)]
        self._number += 1
        number = self._number
        self._client.send_goal_async(goal).add_done_callback(
            lambda future: self._answered(number, future.result()))

    def follow(
        self, _now: float, _state: MotionState, _wanted: Reference,
    ) -> tuple[Array, str]:
        """Nothing: the controller follows the goal."""
        return np.empty(0), ''

    def hold(self, _state: MotionState) -> None:
        """Cancel the goal: the controller holds, slowing down if it is set to."""
        self._number += 1
        if self._handle is not None:
            self._handle.cancel_goal_async()
            self._handle = None

    def _answered(self, number: int, handle: Any) -> None:
        if number != self._number:
            handle.cancel_goal_async()
        elif not handle.accepted:
            self._failed(f'{self._name} rejected the motion')
        else:
            self._handle = handle
            handle.get_result_async().add_done_callback(
                lambda future: self._ended(number, future.result()))

    def _ended(self, number: int, answer: Any) -> None:
        if number == self._number:
            self._handle = None
            if answer.status != SUCCEEDED:
                self._failed(
                    f'{self._name} gave the motion up: '
                    f'{answer.result.error_string or answer.result.error_code}')


def course(execution: Execution, now: float) -> list[tuple[float, Reference]]:
    """
    Sample what an execution will do from a time on until it holds.

    Parameters
    ----------
    execution : Execution
        On the move; it is not changed.
    now : float
        Time of its clock, s.

    Returns
    -------
    list of (float, Reference)
        Time from now, s, and reference.

    """
    ahead = copy.copy(execution)
    points: list[tuple[float, Reference]] = []
    moving = True
    while moving:
        time = (len(points) + 1) / POINTS_HZ
        wanted = ahead.reference(now + time)
        assert wanted is not None
        points.append((time, wanted))
        moving = ahead.active
    return points
