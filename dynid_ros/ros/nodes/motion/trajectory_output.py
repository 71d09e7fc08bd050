# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Output of the trajectory publisher as goals of a joint_trajectory_controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Any

from control_msgs.action import FollowJointTrajectory
import numpy as np
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
#: Time of the first point, s, which makes up for the time until the goal is accepted.
LEAD = 0.1
#: Largest lead of the arm after a late answer of its controller, s.
AHEAD_SECONDS = 0.2


class TrajectoryOutput(Output):
    """
    Goals for a joint_trajectory_controller, in which the control runs.

    A controller starts a goal when it accepts it, so the time of the motion stands still from
    sending until the acceptance is read, and the arm may be ahead by as much. A stamp would avoid
    that, but the arm would jump if the clocks of two computers differ.

    Parameters
    ----------
    node : Node
        Owner.
    arm : ArmModel
        Transmission between motors and joints.
    controller : str
        Relative name of the controller.
    failed : callable
        Takes the reason why the controller gave up a goal.
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
        self._answer_by = 0.0
        self._drive = arm.drive
        self._silent = silent
        self._failed = failed
        self._name = f'{controller}/follow_joint_trajectory'
        self._client = ActionClient(node, FollowJointTrajectory, self._name)
        self._names: Sequence[str] = arm.joint_names
        self._number = self._unanswered = 0
        self._handle: Any = None
        self._sent: float | None = None
        self._late = self._waited = 0.0

    @property
    def missing(self) -> str:
        """Reason why nothing can be commanded now; empty for none."""
        if self._silent:
            return ''
        if not self._client.server_is_ready():
            return f'the action {self._name} is not there; is the controller active?'
        if self._sent is not None and monotonic() > self._answer_by:
            return f'{self._name} has not answered for {self._time.patience:g} s'
        return ''

    @property
    def settled(self) -> bool:
        """Whether every goal and cancel request is answered, or never will be."""
        return (self._unanswered == 0 or monotonic() > self._answer_by
                or not self._client.server_is_ready())

    @property
    def following(self) -> bool:
        """Whether the controller has not yet reported the end of the motion."""
        return self._handle is not None

    @property
    def ahead(self) -> float:
        """Time by which the arm may be ahead of the motion, s."""
        waited = self._waited if self._sent is None else self._time.now() - self._sent
        return min(waited, AHEAD_SECONDS)

    def clock(self, now: float) -> float:
        """Return the time of the motion, which stands still until a goal is accepted."""
        return (now if self._sent is None else self._sent) - self._late

    def prepare(self, _period: float, names: Sequence[str], /) -> None:
        """Name the joints in goals like the states."""
        self._names = names

    def begin(self, executor: MotionExecutor, now: float) -> None:
        """Send the motion as one goal, which replaces the one before."""
        if self._silent:
            return
        self._sent = now + self._late
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = self._names
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
        """Wait for an answer that the controller must give at once."""
        self._unanswered += 1
        self._answer_by = monotonic() + self._time.patience

        def answered(future: Any) -> None:
            self._unanswered -= 1
            self._take(future, lacking, take)

        question.add_done_callback(answered)

    def _take(self, future: Any, lacking: str, take: Callable[[Any], None]) -> None:
        """Pass on an answer; give up the motion without one: its state is unknown."""
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
                f'{self._name} rejected the motion; is the controller active, and has it just '
                f'the joints {", ".join(self._names)}? See its log')
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
