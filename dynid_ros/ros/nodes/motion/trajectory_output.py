"""Output of the trajectory publisher as goals of a joint_trajectory_controller."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

from control_msgs.action import FollowJointTrajectory
import numpy as np
from rcl_interfaces.srv import GetParameters
from rclpy.action import ActionClient
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectoryPoint

from dynid_ros.arm.drive import motor_position
from dynid_ros.arm.model import ArmModel
from dynid_ros.motion.execution.motion_executor import MotionExecutor, Reference
from dynid_ros.motion.execution.motion_output import MotionState, Output
from dynid_ros.motion.execution.safety_monitor import Violation
from dynid_ros.ros.nodes.common.answers import answer_of, SUCCEEDED
from dynid_ros.ros.nodes.common.lockstep import ControlTime
from dynid_ros.ros.nodes.common.trajectory_points import trajectory_points
from dynid_ros.utilities.arrays import Array

#: Rate of the points of a trajectory, Hz; the controller interpolates by quintics.
POINTS_HZ = 25.0
#: Time of the first point, s: by then the goal has made up for the time until it was accepted.
LEAD = 0.1
#: Largest time by which the arm may be ahead because its controller answered late, s.
AHEAD_SECONDS = 0.2
#: Time of this computer in which a controller must answer, s; and in which a simulated one must,
#: whose time stands still meanwhile.
ANSWER = 2.0
SIMULATED_ANSWER = 15.0


class ControllerJoints:
    """
    The joints that a controller has, asked of it whenever it appears.

    Parameters
    ----------
    node : Node
        Owner.
    arm : ArmModel
        Names of the joints, and their aliases.
    controller : str
        Relative name of the controller.

    Attributes
    ----------
    known : tuple of str
        Joints of the controller; empty if it does not report them.
    names : tuple of str
        Joints of the arm as the controller names them.

    """

    def __init__(self, node: Node, arm: ArmModel, controller: str) -> None:
        self._arm, self._controller = arm, controller
        self._logger = node.get_logger()
        self._client = node.create_client(GetParameters, f'{controller}/get_parameters')
        self._asked: Any = None
        self._since = 0.0
        self.known: tuple[str, ...] = ()
        self.names = arm.joint_names

    @property
    def asking(self) -> bool:
        """Whether there is no answer yet."""
        return self._asked is not None and not self._asked.done()

    @property
    def awaited(self) -> bool:
        """Whether the answer may still come."""
        return self.asking and monotonic() - self._since < ANSWER

    @property
    def problem(self) -> str:
        """Why the controller cannot move the arm, or empty."""
        if self.asking:
            return f'{self._controller} has not reported its joints yet; try again'
        if not self.known or set(self.known) == set(self.names):
            return ''
        return (f"{self._controller} has the joints {', '.join(self.known)}; it must have just "
                f"those of '{self._arm.name}': {', '.join(self.names)}")

    def look(self) -> None:
        """Ask if the controller has just appeared, or if the last question has no answer."""
        if not self._client.service_is_ready():
            self._asked, self.known = None, ()
        elif self._asked is None:
            self._since = monotonic()
            self._asked = self._client.call_async(GetParameters.Request(names=['joints']))
            self._asked.add_done_callback(self._answered)

    def _answered(self, future: Any) -> None:
        answer, problem = answer_of(future)
        if problem:
            self._asked = None
            self._logger.warning(f'{self._controller} has not reported its joints: {problem}',
                                 throttle_duration_sec=2.0)
        elif answer.values:
            self.known = tuple(answer.values[0].string_array_value)
            own = (self._arm.joint_names, *self._arm.aliases)
            self.names = next((names for names in own if set(names) == set(self.known)), own[0])


class TrajectoryOutput(Output):
    """
    Goals for a joint_trajectory_controller, in which the control runs.

    A controller starts a goal when it accepts it, so the time of the motion stands still from
    sending until the acceptance is read; by as much the arm may be ahead of it. A stamp would not
    need that, but would make the arm jump where the clocks of two computers differ.

    Parameters
    ----------
    node : Node
        Owner.
    arm : ArmModel
        Names of the joints, and the transmission between motors and joints.
    controller : str
        Relative name of the controller.
    failed : callable
        Takes the reason why the controller gave a goal up.
    silent : bool
        Whether nothing is commanded: a dry run.
    time : ControlTime
        Time of the motion.

    """

    def __init__(
        self, node: Node, arm: ArmModel, controller: str, failed: Callable[[str], None],
        silent: bool, time: ControlTime,
    ) -> None:
        self._logger = node.get_logger()
        self._time = time
        self._patience = SIMULATED_ANSWER if time.simulated else ANSWER
        self._answer_by = 0.0
        self._drive = arm.drive
        self._silent = silent
        self._failed = failed
        self._name = f'{controller}/follow_joint_trajectory'
        self._client = ActionClient(node, FollowJointTrajectory, self._name)
        self._joints = ControllerJoints(node, arm, controller)
        self._number = self._unanswered = 0
        self._handle: Any = None
        self._sent: float | None = None
        self._late = self._waited = 0.0

    @property
    def missing(self) -> str:
        """Why nothing can be commanded now, or empty."""
        if self._silent:
            return ''
        if not self._client.server_is_ready():
            return f'the action {self._name} is not there; is the controller active?'
        if self._sent is not None and monotonic() > self._answer_by:
            return f'{self._name} has not answered for {self._patience:g} s'
        return ''

    @property
    def settled(self) -> bool:
        """Whether every question, goal and cancel request has been answered, or nobody will."""
        if self._joints.awaited:
            return False
        return (self._unanswered == 0 or monotonic() > self._answer_by
                or not self._client.server_is_ready())

    @property
    def following(self) -> bool:
        """Whether the controller has not said yet how the motion ended."""
        return self._handle is not None

    @property
    def ahead(self) -> float:
        """Time by which the arm may be ahead of the motion, s."""
        waited = self._waited if self._sent is None else self._time.now() - self._sent
        return min(waited, AHEAD_SECONDS)

    def clock(self, now: float) -> float:
        """Time of the motion: it stands still until a goal is accepted."""
        return (now if self._sent is None else self._sent) - self._late

    def look(self) -> str:
        """Ask a new controller for its joints; return a problem with them, or an empty text."""
        self._joints.look()
        return '' if self._silent else self._joints.problem

    def begin(self, executor: MotionExecutor, now: float) -> None:
        """Send the motion as one goal, which replaces the one before."""
        if self._silent:
            return
        self._sent = now + self._late
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = self._joints.names
        goal.trajectory.points = self._points(executor, now)
        self._number += 1
        self._ask(self._client.send_goal_async(goal), 'has not answered the motion',
                  partial(self._answered, self._number))

    def follow(
        self, _now: float, _state: MotionState, _wanted: Reference, /,
    ) -> tuple[Array, Violation | None]:
        """Command nothing: the controller follows the goal."""
        return np.empty(0), None

    def hold(self, _state: MotionState, /) -> None:
        """Cancel the goal: the controller holds, slowing down if it is set to."""
        self._cancel_goal()

    def _cancel_goal(self) -> None:
        self._number += 1
        self._sent = None
        handle, self._handle = self._handle, None
        if handle is not None:
            self._cancel(handle)

    def _points(self, executor: MotionExecutor, now: float) -> list[JointTrajectoryPoint]:
        """Points in the coordinates of the joint states."""
        t, q, qd, qdd = executor.course(now, LEAD, POINTS_HZ)
        forward = self._drive.transmission.T
        return trajectory_points(
            t, motor_position(q, self._drive), qd @ forward, qdd @ forward)

    def _cancel(self, handle: Any) -> None:
        self._ask(handle.cancel_goal_async(), 'has not confirmed that it gave the motion up',
                  lambda _: None)

    def _ask(self, question: Any, lacking: str, take: Callable[[Any], None]) -> None:
        """Wait for an answer that the controller owes at once."""
        self._unanswered += 1
        self._answer_by = monotonic() + self._patience

        def answered(future: Any) -> None:
            self._unanswered -= 1
            self._take(future, lacking, take)

        question.add_done_callback(answered)

    def _take(self, future: Any, lacking: str, take: Callable[[Any], None]) -> None:
        """Hand an answer on; without one, nobody knows of the controller: give the motion up."""
        answer, problem = answer_of(future)
        if not problem:
            take(answer)
            return
        reason = f'{self._name} {lacking}: {problem}'
        self._logger.error(reason)
        self._cancel_goal()
        self._failed(reason)

    def _answered(self, number: int, handle: Any) -> None:
        if number != self._number:
            if handle.accepted:
                self._cancel(handle)
            return
        assert self._sent is not None
        self._waited = self._time.now() - self._sent
        self._late += self._waited
        self._sent = None
        if not handle.accepted:
            self._failed(
                f'{self._name} rejected the motion; is the controller active? See its log')
            return
        self._handle = handle
        handle.get_result_async().add_done_callback(
            partial(self._take, lacking='has not reported how the motion ended',
                    take=partial(self._ended, number)))

    def _ended(self, number: int, answer: Any) -> None:
        if number == self._number:
            self._handle = None
            if answer.status != SUCCEEDED:
                self._failed(
                    f'{self._name} aborted the motion: '
                    f'{answer.result.error_string or answer.result.error_code}')
