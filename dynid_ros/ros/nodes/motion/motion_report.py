"""Reports of the trajectory publisher: its motion, phase and progress, and action ``~/excite``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from control_msgs.msg import DynamicJointState
from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.motion.execution.phases import Phase
from dynid_ros.motion.feasibility.scene import Scene
from dynid_ros.motion.trajectory.motion_pair import Motion
from dynid_ros.motion.trajectory.trajectory_file import sample_times
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.answers import ABORTED, CANCELED, Goals, SUCCEEDED
from dynid_ros.ros.nodes.common.lockstep import create_steady_timer
from dynid_ros.ros.nodes.common.qos import LATCHED
from dynid_ros.ros.nodes.common.trajectory_points import trajectory_points
from dynid_ros.utilities.arrays import Array

try:
    from dynid_ros_interfaces.action import Excite
except ImportError:
    Excite = None

#: Rate of the points of ``~/motion``, Hz, and their largest number.
POINTS_HZ, MOST_POINTS = 25.0, 2000
#: Period of status and feedback, s.
PERIOD = 0.25


class MotionReport:
    """
    Topics ``~/motion`` and ``~/status``, and the action ``~/excite`` where its type is installed.

    A goal that may not start ends at once as aborted, with the reason in its result: a goal that
    is rejected has no room for one.

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
        self._server: Goals | None = None
        self._status = node.create_publisher(DiagnosticArray, '~/status', LATCHED)
        # Kept, so that a page that is opened later gets it.
        self._motion = node.create_publisher(JointTrajectory, '~/motion', LATCHED)
        self._motion.publish(motion_message(arm, motion))
        if Excite is None:
            node.get_logger().info('no action ~/excite: dynid_ros_interfaces is not built; '
                                   '~/start and ~/stop do the same without feedback')
        else:
            self._server = Goals(node, Excite, '~/excite', self._accept, self._cancel)
            node.create_subscription(
                DynamicJointState, 'identifier/summary', self._hear, LATCHED)
        create_steady_timer(node, PERIOD, self._publish)

    @property
    def idle(self) -> bool:
        """Whether the sender of every goal that has ended has its result."""
        return self._server is None or self._server.idle

    def begin(self) -> None:
        """Start the progress of a motion from zero."""
        self._share, self._clearance = 0.0, np.inf

    def note(self, share: float, q: Array) -> None:
        """Take note of the share of the time that is done, and of a position (n,) on the way."""
        if self._phase is not Phase.STOPPING:
            self._share = min(share, 1.0)
        if self._scene is not None:
            self._clearance = min(self._clearance, float(self._scene.distances(q).min()))

    def enter(self, phase: Phase, why: str, since: float) -> None:
        """
        Report a phase; a goal ends with the motion.

        Parameters
        ----------
        phase : Phase
            The phase.
        why : str
            Reason of an abort, or of a stop that nobody asked for.
        since : float
            Stamp of the first state in the phase, s.

        """
        before, self._phase, self._why, self._since = self._phase, phase, why, since
        self._publish()
        if self._handle is None or phase not in (Phase.HOLDING, Phase.ABORTED):
            return
        handle, self._handle = self._handle, None
        if phase is Phase.ABORTED:
            self._end(handle, ABORTED, why)
        elif self._cancelled:
            self._end(handle, CANCELED, 'slowed down, and holding')
        elif before is Phase.STOPPING:
            self._end(handle, ABORTED, why or '~/stop was called')
        else:
            self._end(handle, SUCCEEDED, 'the motion has ended' + (
                ' (dry run: nothing was commanded)' if self._facts['dry_run'] else ''))

    def _accept(self, handle: Any) -> None:
        try:
            self._start()
        except InputError as error:
            self._end(handle, ABORTED, str(error))
        else:
            self._handle, self._cancelled = handle, False

    def _cancel(self, handle: Any) -> None:
        if handle is self._handle:
            self._cancelled = True
            self._stop()

    def _end(self, handle: Any, status: int, message: str) -> None:
        assert self._server is not None
        self._server.end(handle, status, Excite.Result(message=message))

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
             'least_clearance': clearance, **self._facts})]))
        if self._handle is not None:
            self._handle.publish_feedback(Excite.Feedback(
                phase=self._phase.value, share=self._share, least_clearance=clearance,
                condition_number=self._condition))


def motion_message(arm: ArmModel, motion: Motion) -> JointTrajectory:
    """Sample a motion, in the coordinates of the joints, from its start to its end."""
    times = sample_times(motion, min(POINTS_HZ, MOST_POINTS / motion.duration))
    q, qd, _ = motion.evaluate(times)
    return JointTrajectory(
        joint_names=list(arm.joint_names), points=trajectory_points(times, q, qd))
