# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joint trajectories for the simulated arm, as for a joint_trajectory_controller."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any

from control_msgs.action import FollowJointTrajectory
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynid_ros.arm.drive import joint_position, joint_velocity, motor_position
from dynid_ros.ros.nodes.common.answers import Goals
from dynid_ros.ros.nodes.common.lockstep import create_steady_timer, nanoseconds
from dynid_ros.ros.nodes.common.trajectory_points import (
    doubles,
    read_points,
    trajectory_points,
)
from dynid_ros.ros.nodes.simulated.simulation_loop import SimulationLoop
from dynid_ros.simulation import joint_trajectory as core
from dynid_ros.simulation.live import LiveArm
from dynid_ros.simulation.trajectory_controller import (
    GOAL_TIME,
    GOAL_TOLERANCE,
    Outcome,
    PATH_TOLERANCE,
    REPLACED,
    Status,
    TrajectoryGoal,
)

#: Name of the controller, the prefix of its topic and action.
NAME = 'joint_trajectory_controller'
#: Period of the feedback, and of the check for goals that end while the time stands still, s.
FEEDBACK_SECONDS = 0.05


class TrajectoryInput:
    """
    Action and topic of the controller of a simulated arm.

    An impossible goal ends at once as aborted, with error code and reason; the
    joint_trajectory_controller of ROS 2 rejects it and writes the reason to its own log only.
    Positions are in the coordinates of ``joint_states``, and efforts are torques there, Nm: a goal
    with efforts is followed by them and PD control, one without by computed torque. Only the
    tolerances of positions count.

    Parameters
    ----------
    node : Node
        Owner.
    arm : LiveArm
        The arm.
    loop : SimulationLoop
        Loop that steps it, and knows its time.

    """

    def __init__(self, node: Node, arm: LiveArm, loop: SimulationLoop) -> None:
        self._node, self._arm, self._loop = node, arm, loop
        self._names = list(arm.arm.joint_names)
        # Goals with their handles; goals of the topic have none.
        self._goals: list[tuple[Any, TrajectoryGoal]] = []
        self._server = Goals(
            node, FollowJointTrajectory, f'{NAME}/follow_joint_trajectory', self._accept,
            self._cancel)
        node.create_subscription(JointTrajectory, f'{NAME}/joint_trajectory', self._take, 10)
        create_steady_timer(node, FEEDBACK_SECONDS, self._look)

    @property
    def idle(self) -> bool:
        """Whether every goal has been answered."""
        return not self._goals and self._server.idle

    def _accept(self, handle: Any) -> None:
        goal = handle.request
        self._run(
            handle, goal.trajectory, goal.path_tolerance, goal.goal_tolerance,
            nanoseconds(goal.goal_time_tolerance) * 1e-9 or GOAL_TIME)

    def _take(self, message: JointTrajectory) -> None:
        self._run(None, message, (), (), GOAL_TIME)

    def _run(
        self, handle: Any, message: JointTrajectory, path: Sequence[Any], end: Sequence[Any],
        patience: float,
    ) -> None:
        try:
            read = self._read(message)
            tolerances = (
                self._tolerance(PATH_TOLERANCE, path), self._tolerance(GOAL_TOLERANCE, end))
            # A controller starts a goal when it accepts it; here it is when the goal is read,
            # since the client hears of it only then.
            goal = TrajectoryGoal(read, self._start(message), *tolerances, patience)
            self._arm.follow(goal)
        except core.TrajectoryError as error:
            self._conclude(handle, Outcome(Status.ABORTED, error.code, str(error)))
        else:
            self._goals.append((handle, goal))

    def _read(self, message: JointTrajectory) -> core.JointTrajectory:
        """Trajectory in joint coordinates."""
        read, drive = read_points(message, self._names), self._arm.arm.drive
        return core.JointTrajectory(
            read.t, joint_position(read.q, drive), joint_velocity(read.qd, drive),
            joint_velocity(read.qdd, drive),
            None if read.tau is None else read.tau @ drive.transmission)

    def _start(self, message: JointTrajectory) -> float:
        """Time of the arm at which a trajectory starts: at once, or at its stamp."""
        stamp = message.header.stamp
        return self._loop.time_of(stamp) if nanoseconds(stamp) else self._loop.now()

    def _tolerance(self, usual: float, given: Sequence[Any]) -> NDArray[np.float64]:
        """Tolerances (n,) of positions; zero is the usual one, and -1 is none."""
        tolerance = np.full(len(self._names), usual)
        for entry in given:
            if entry.name not in self._names:
                raise core.TrajectoryError(
                    f"a tolerance is for '{entry.name}', which the controller does not have",
                    core.Code.INVALID_JOINTS)
            value = entry.position
            if not (value >= 0 or value == -1):
                raise core.TrajectoryError(
                    f"the tolerance of joint '{entry.name}' is {value:g}; it must be above zero")
            if value:
                tolerance[self._names.index(entry.name)] = value if value > 0 else math.inf
        return tolerance

    def _cancel(self, handle: Any) -> None:
        for known, goal in self._goals:
            if known is handle and goal.outcome is None:
                self._arm.cancel()

    def _look(self) -> None:
        """Report measured and desired positions to the senders of goals."""
        self.answer_ended()
        measured, drive = self._arm.position, self._arm.arm.drive
        for handle, goal in self._goals:
            since = self._loop.now() - goal.start
            if handle is None or since < goal.trajectory.t[0]:
                continue
            wanted = goal.trajectory.sample(since).q
            desired, actual = trajectory_points(
                np.full(2, since), motor_position(np.array([wanted, measured]), drive))
            handle.publish_feedback(FollowJointTrajectory.Feedback(
                joint_names=self._names, desired=desired, actual=actual,
                error=JointTrajectoryPoint(
                    positions=doubles((wanted - measured) @ drive.transmission.T))))

    def answer_ended(self) -> None:
        """Answer the goals that have ended."""
        ended = [pair for pair in self._goals if pair[1].outcome is not None]
        self._goals = [pair for pair in self._goals if pair[1].outcome is None]
        for handle, goal in ended:
            assert goal.outcome is not None
            self._conclude(handle, goal.outcome)

    def _conclude(self, handle: Any, outcome: Outcome) -> None:
        if outcome.status is Status.ABORTED and outcome.reason != REPLACED:
            self._node.get_logger().warning(
                f'trajectory aborted: {outcome.reason} ({outcome.code.name})')
        if handle is not None:
            self._server.end(handle, outcome.status, FollowJointTrajectory.Result(
                error_code=int(outcome.code), error_string=outcome.reason))
