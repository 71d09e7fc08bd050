# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Reports of the trajectory publisher: its motion, phase and progress, and action ``~/excite``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import DynamicJointState
from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.motion.execution.motion_executor import Reference
from dynid_ros.motion.execution.motion_output import MotionState
from dynid_ros.motion.execution.phases import Phase
from dynid_ros.motion.execution.safety_monitor import Bound, Violation
from dynid_ros.motion.feasibility.scene import Scene
from dynid_ros.motion.trajectory.motion_pair import Motion
from dynid_ros.motion.trajectory.trajectory_file import sample_times
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.answers import ABORTED, CANCELED, Goals, SUCCEEDED
from dynid_ros.ros.nodes.common.lockstep import create_steady_timer
from dynid_ros.ros.nodes.common.qos import LATCHED
from dynid_ros.ros.nodes.common.trajectory_points import trajectory_points

#: Rate of the points of ``~/motion``, Hz, and their largest number.
POINTS_HZ, REPORTED_POINTS = 25.0, 2000
#: Period of status and feedback, s.
STATUS_SECONDS = 0.25
#: Bounds of the measured motion. A controller that leaves its path reports the same code.
OF_THE_PATH = {Bound.POSITION, Bound.VELOCITY, Bound.EFFORT, Bound.TRACKING}
Result = FollowJointTrajectory.Result


class MotionReport:
    """
    Topics ``~/motion`` and ``~/status``, and the action ``~/excite``.

    A goal without points runs the complete motion of the node. One with points, or one that may
    not start, ends at once as aborted, with the reason in its result, since a rejection cannot
    hold one.

    Parameters
    ----------
    node : Node
        Owner.
    arm : ArmModel
        The arm.
    motion : Motion
        Its motion.
    scene : Scene or None
        Bodies that must not touch, where known.
    values : dict
        Parameters of the node.
    start, stop : callable
        Start the motion, and slow it down.

    """

    def __init__(
        self, node: Node, arm: ArmModel, motion: Motion, scene: Scene | None,
        values: dict[str, Any], start: Callable[[], object], stop: Callable[[], object],
    ) -> None:
        self._node, self._arm, self._scene = node, arm, scene
        self._start, self._stop = start, stop
        self._facts = {name: values[name] for name in ('dry_run', 'command', 'start_speed')}
        self._phase, self._why, self._since = Phase.IDLE, '', 0.0
        self._share, self._clearance, self._condition = 0.0, np.inf, np.nan
        self._handle: Any = None
        self._cancelled = False
        self._noted: tuple[float, Any, Reference, MotionState] | None = None
        self._status = node.create_publisher(DiagnosticArray, '~/status', LATCHED)
        # Latched for pages that are opened later.
        self._motion = node.create_publisher(JointTrajectory, '~/motion', LATCHED)
        self._motion.publish(motion_message(arm, motion))
        self._server = Goals(
            node, FollowJointTrajectory, '~/excite', self._accept, self._cancel)
        node.create_subscription(DynamicJointState, 'identifier/summary', self._hear, LATCHED)
        create_steady_timer(node, STATUS_SECONDS, self._publish)

    @property
    def idle(self) -> bool:
        """Whether the sender of every goal that has ended has its result."""
        return self._server.idle

    def begin(self) -> None:
        """Start the progress of a motion from zero."""
        self._share, self._clearance, self._noted = 0.0, np.inf, None

    def note(
        self, seconds: float, whole: float, stamp: Any, wanted: Reference, state: MotionState,
    ) -> None:
        """
        Record a state on the way.

        Parameters
        ----------
        seconds, whole : float
            Time since the start, and the time that all takes, s.
        stamp : builtin_interfaces.msg.Time
            Of the state.
        wanted : Reference
            Desired state.
        state : MotionState
            Measured state.

        """
        self._noted = seconds, stamp, wanted, state
        if self._phase is not Phase.STOPPING:
            self._share = min(seconds / whole, 1.0)
        if self._scene is not None:
            self._clearance = min(self._clearance, float(self._scene.distances(state.q).min()))

    def enter(self, phase: Phase, why: Violation | str, since: float) -> None:
        """
        Report a phase; a goal ends with the motion.

        Parameters
        ----------
        phase : Phase
            The phase.
        why : Violation or str
            Reason of an abort, or of a stop without a request.
        since : float
            Stamp of the first state in the phase, s.

        """
        before, self._phase, self._why, self._since = self._phase, phase, str(why), since
        self._publish()
        if self._handle is None or phase not in (Phase.HOLDING, Phase.ABORTED):
            return
        handle, self._handle = self._handle, None
        if phase is Phase.ABORTED:
            left = isinstance(why, Violation) and why.bound in OF_THE_PATH
            self._end(handle, ABORTED, self._why,
                      Result.PATH_TOLERANCE_VIOLATED if left else Result.INVALID_GOAL)
        elif self._cancelled:
            self._end(handle, CANCELED, 'slowed down, and holding', Result.SUCCESSFUL)
        elif before is Phase.STOPPING:
            self._end(handle, ABORTED, self._why or '~/stop was called')
        else:
            self._end(handle, SUCCEEDED, 'the motion has ended' + (
                ' (dry run: nothing was commanded)' if self._facts['dry_run'] else ''),
                Result.SUCCESSFUL)

    def _accept(self, handle: Any) -> None:
        try:
            _check_goal(handle.request)
            self._start()
        except InputError as error:
            self._end(handle, ABORTED, str(error))
        else:
            self._handle, self._cancelled = handle, False

    def _cancel(self, handle: Any) -> None:
        if handle is self._handle:
            self._cancelled = True
            self._stop()

    def _end(
        self, handle: Any, status: int, message: str, code: int = Result.INVALID_GOAL,
    ) -> None:
        """End a goal; most reasons have no code of their own, but a text."""
        self._server.end(handle, status, Result(error_code=code, error_string=message))

    def _hear(self, message: DynamicJointState) -> None:
        _, columns = say.numbers_of(message)
        self._condition = float(columns.get('condition_number', [np.nan])[0])

    def _publish(self) -> None:
        level = (say.ERROR if self._phase is Phase.ABORTED else say.WARN if self._why else say.OK)
        clearance = self._clearance if np.isfinite(self._clearance) else np.nan
        self._status.publish(say.array(self._node, [say.status(
            self._node, self._arm, 'motion', level,
            ': '.join(filter(None, (self._phase.value, self._why))),
            {'phase': self._phase.value, 'since': str(self._since), 'share': self._share,
             'least_clearance': clearance, 'condition_number': self._condition,
             **self._facts})]))
        if self._handle is not None and self._noted is not None:
            self._handle.publish_feedback(_feedback(self._arm, *self._noted))


def motion_message(arm: ArmModel, motion: Motion) -> JointTrajectory:
    """Sample a motion, in the coordinates of the joints, from its start to its end."""
    times = sample_times(motion, min(POINTS_HZ, REPORTED_POINTS / motion.duration))
    q, qd, _ = motion.evaluate(times)
    return JointTrajectory(
        joint_names=list(arm.joint_names), points=trajectory_points(times, q, qd))


def _check_goal(goal: Any) -> None:
    """Raise InputError for a goal with a trajectory of its own, which would not be run."""
    count = len(goal.trajectory.points) or len(goal.multi_dof_trajectory.points)
    if count:
        raise InputError(
            f'the goal has {count} points, but this node runs the motion of its parameter '
            'excitation: send a goal without points here, and your own trajectory to the '
            'controller')


def _feedback(
    arm: ArmModel, seconds: float, stamp: Any, wanted: Reference, state: MotionState,
) -> Any:
    """Compare the desired with the measured state, in the coordinates of the joints."""
    desired, actual, error = trajectory_points(
        np.full(3, seconds), np.array([wanted.q, state.q, wanted.q - state.q]),
        np.array([wanted.qd, state.qd, wanted.qd - state.qd]))
    feedback = FollowJointTrajectory.Feedback(
        joint_names=list(arm.joint_names), desired=desired, actual=actual, error=error)
    feedback.header.stamp = stamp
    return feedback
