# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Node that adds efforts to the trajectories for a joint_trajectory_controller."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from control_msgs.action import FollowJointTrajectory
import numpy as np
from rclpy.action import ActionClient
from rclpy.node import Node

from dynid_ros.arm.drive import joint_position, joint_velocity
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.motion.execution.feed_forward import extrapolation, with_effort
from dynid_ros.motion.trajectory.trajectory_file import Trajectory
from dynid_ros.ros.nodes.common.answers import ABORTED, answer_of, CANCELED, Goals, SUCCEEDED
from dynid_ros.ros.nodes.common.joint_state_reader import order_of
from dynid_ros.ros.nodes.common.lockstep import create_steady_timer
from dynid_ros.ros.nodes.common.runtime import declare, MODEL, run, Setting
from dynid_ros.ros.nodes.common.trajectory_points import doubles, read_points

SETTINGS = (
    MODEL,
    Setting('controller', 'joint_trajectory_controller',
            'Controller that gets the trajectories; it must add their effort to its feedback.'),
)
#: Period of the check for the controller, s.
CONTROLLER_LOOK_SECONDS = 0.2


@dataclass(eq=False)
class Relayed:
    """
    A relayed goal.

    Attributes
    ----------
    handle : ServerGoalHandle
        Of its sender.
    sent : ClientGoalHandle or None
        Of the controller, once it has accepted the goal.
    cancelled : bool
        Whether the sender has cancelled it.

    """

    handle: Any
    sent: Any = None
    cancelled: bool = False


class FeedForward(Node):
    """Goals in, the same goals with their effort out; feedback and results the other way."""

    def __init__(self) -> None:
        super().__init__('feedforward')
        settings = declare(self, SETTINGS)
        self._model = self._read_model(settings['model'])
        # The first prediction compiles or loads the kernels.
        self._model.predict_torque(*np.zeros((3, 1, self._model.arm.n)))
        self._name = f'{settings["controller"]}/follow_joint_trajectory'
        self._client = ActionClient(self, FollowJointTrajectory, self._name)
        self._goals: list[Relayed] = []
        self._server = Goals(
            self, FollowJointTrajectory, '~/follow_joint_trajectory', self._accept, self._cancel,
            self._fill)
        create_steady_timer(self, CONTROLLER_LOOK_SECONDS, self._look)
        self.get_logger().info(f'ready: {self._model.arm.name}, to {self._name}')

    def _read_model(self, folder: str) -> IdentifiedModel:
        model = read_result(Path(folder).expanduser())
        if not model.verdict.trustworthy:
            raise InputError(
                f'{folder}: the model is not trustworthy, and its torques would go to the '
                f'drives: {"; ".join(model.verdict.reasons)}')
        return model

    def _accept(self, handle: Any) -> None:
        goal = Relayed(handle)
        self._goals.append(goal)
        self._client.send_goal_async(
            handle.request, feedback_callback=lambda heard: self._feed_back(goal, heard.feedback),
        ).add_done_callback(lambda future: self._answered(goal, *answer_of(future)))

    def _fill(self, goal: Any) -> None:
        """Fill in the effort of each point; raise InputError where a goal is none."""
        if not self._client.server_is_ready():
            raise InputError(
                f'the action {self._name} is not there; is the controller active?')
        message, arm = goal.trajectory, self._model.arm
        names = list(message.joint_names)
        order = order_of(arm, names)
        if order is None or len(names) != arm.n:
            raise InputError(
                f'the joints of the trajectory ({", ".join(names)}) are not the joints of the '
                f'model ({", ".join(arm.joint_names)})')
        # In the order of the model's joints, which the transmission couples.
        read = read_points(message, [names[k] for k in order])
        lacking = ~np.isfinite(np.hstack([read.qd, read.qdd])).all(axis=1)
        if lacking.any():
            raise InputError(
                f'point {int(np.argmax(lacking)) + 1} of the trajectory lacks velocities or '
                'accelerations, which torque needs; a time parameterisation such as by '
                'MoveIt writes them')
        filled = with_effort(self._model, Trajectory(
            arm.joint_names, read.t, joint_position(read.q, arm.drive),
            joint_velocity(read.qd, arm.drive), joint_velocity(read.qdd, arm.drive)))
        for remark in extrapolation(self._model, filled):
            self.get_logger().warning(f'extrapolation: {remark}')
        assert filled.effort is not None
        efforts = (filled.effort @ arm.drive.to_joints)[:, np.argsort(order)]
        for point, effort in zip(message.points, efforts, strict=True):
            point.effort = doubles(effort)

    def _answered(self, goal: Relayed, sent: Any, problem: str) -> None:
        if problem:
            self._refuse(goal, f'{self._name} has not answered the trajectory: {problem}')
            return
        if not sent.accepted:
            self._refuse(goal, f'{self._name} rejected the trajectory; see its log')
            return
        goal.sent = sent
        if goal.cancelled:
            sent.cancel_goal_async()
        sent.get_result_async().add_done_callback(
            lambda future: self._ended(goal, *answer_of(future)))

    def _ended(self, goal: Relayed, answer: Any, problem: str) -> None:
        if problem:
            goal.sent.cancel_goal_async()
            self._refuse(goal, f'{self._name} has not reported the end of the trajectory: '
                               f'{problem}')
            return
        self._conclude(goal, answer.status, answer.result)

    def _feed_back(self, goal: Relayed, feedback: Any) -> None:
        if goal in self._goals:
            goal.handle.publish_feedback(feedback)

    def _cancel(self, handle: Any) -> None:
        for goal in self._goals:
            if goal.handle is handle:
                goal.cancelled = True
                if goal.sent is not None:
                    goal.sent.cancel_goal_async()

    def _look(self) -> None:
        """Abort goals whose controller is gone."""
        if self._goals and not self._client.server_is_ready():
            for goal in tuple(self._goals):
                self._refuse(goal, f'the action {self._name} is gone')

    def _refuse(self, goal: Relayed, reason: str) -> None:
        self.get_logger().warning(f'trajectory refused: {reason}')
        self._conclude(goal, ABORTED, FollowJointTrajectory.Result(
            error_code=FollowJointTrajectory.Result.INVALID_GOAL, error_string=reason))

    def _conclude(self, goal: Relayed, status: int, result: Any) -> None:
        if goal not in self._goals:
            return
        self._goals.remove(goal)
        if status != SUCCEEDED and not (status == CANCELED and goal.cancelled):
            # For example, the trajectory of another client has replaced it.
            status = ABORTED
        self._server.end(goal.handle, status, result)


main = partial(run, FeedForward)


if __name__ == '__main__':
    raise SystemExit(main())
