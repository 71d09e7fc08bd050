"""The action ``~/excite``: a motion with feedback, which its client may give up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from control_msgs.msg import DynamicJointState
import numpy as np
from rclpy.node import Node

from dynid_ros.errors import InputError
from dynid_ros.motion.execution.phases import Phase
from dynid_ros.motion.feasibility.scene import Scene
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.answers import ABORTED, CANCELED, Goals, SUCCEEDED
from dynid_ros.ros.nodes.common.lockstep import create_steady_timer
from dynid_ros.ros.nodes.common.runtime import LATCHED
from dynid_ros.utilities.arrays import Array

try:
    from dynid_ros_interfaces.action import Excite
except ImportError:
    Excite = None

__all__ = ['Excite', 'ExciteAction']
#: Period of the feedback, s.
PERIOD = 0.25


class ExciteAction:
    """
    The action, where its type is installed; the services of the node do without it.

    A goal that may not begin ends at once as aborted, with the reason in its result: a goal that
    is rejected has no room for one.

    Parameters
    ----------
    node : Node
        Owner.
    scene : Scene or None
        Bodies that must not touch, where known.
    start, stop : callable
        Begin the motion, and slow it down.

    """

    def __init__(
        self, node: Node, scene: Scene | None, start: Callable[[], object],
        stop: Callable[[], object],
    ) -> None:
        self._scene, self._start, self._stop = scene, start, stop
        self._handle: Any = None
        self._phase, self._cancelled = Phase.IDLE, False
        self._share, self._clearance, self._condition = 0.0, np.inf, np.nan
        if Excite is None:
            node.get_logger().info('no action ~/excite: dynid_ros_interfaces is not built; '
                                   '~/start and ~/stop do the same without feedback')
            return
        self._server = Goals(node, Excite, '~/excite', self._accept, self._cancel)
        node.create_subscription(
            DynamicJointState, 'identifier/summary', self._hear, LATCHED)
        create_steady_timer(node, PERIOD, self._feed_back)

    @property
    def idle(self) -> bool:
        """Whether the sender of every goal that has ended has its result."""
        return Excite is None or self._server.idle

    def note(self, share: float, q: Array) -> None:
        """Take note of the share of the time that is done, and of a position (n,) on the way."""
        if self._phase is not Phase.STOPPING:
            self._share = min(share, 1.0)
        if self._handle is not None and self._scene is not None:
            self._clearance = min(self._clearance, float(self._scene.distances(q).min()))

    def enter(self, phase: Phase, why: str) -> None:
        """Take note of a phase; the goal ends with the motion."""
        before, self._phase = self._phase, phase
        self._feed_back()
        if self._handle is None or phase not in (Phase.HOLDING, Phase.ABORTED):
            return
        handle, self._handle = self._handle, None
        if phase is Phase.ABORTED:
            self._end(handle, ABORTED, why)
        elif self._cancelled:
            self._end(handle, CANCELED, 'slowed down, and holding')
        elif before is Phase.STOPPING:
            self._end(handle, ABORTED, '~/stop was called')
        else:
            self._end(handle, SUCCEEDED, 'the motion has ended')

    def _accept(self, handle: Any) -> None:
        try:
            self._start()
        except InputError as error:
            self._end(handle, ABORTED, str(error))
            return
        self._handle, self._cancelled = handle, False
        self._share, self._clearance = 0.0, np.inf

    def _cancel(self, handle: Any) -> None:
        if handle is self._handle:
            self._cancelled = True
            self._stop()

    def _end(self, handle: Any, status: int, message: str) -> None:
        self._server.end(handle, status, Excite.Result(message=message))

    def _hear(self, message: DynamicJointState) -> None:
        _, columns = say.numbers_of(message)
        self._condition = float(columns.get('condition_number', [np.nan])[0])

    def _feed_back(self) -> None:
        if self._handle is not None:
            self._handle.publish_feedback(Excite.Feedback(
                phase=self._phase.value, share=self._share,
                least_clearance=self._clearance if np.isfinite(self._clearance) else np.nan,
                condition_number=self._condition))
