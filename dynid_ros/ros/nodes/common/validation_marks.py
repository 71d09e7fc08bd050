# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The validation motions of the trajectory publisher, by its status."""

from __future__ import annotations

from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from rclpy.node import Node

from dynid_ros.motion.execution.phases import Phase
from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.qos import LATCHED


class ValidationMarks:
    """
    Stamps of the states at which validation motions started and ended.

    Parameters
    ----------
    node : Node
        Owner.
    changed : callable
        Called when a motion starts or ends.

    Attributes
    ----------
    spans : list of [float, float]
        Start and end of each, s; infinite while the motion goes on.

    """

    def __init__(self, node: Node, changed: Callable[[], None]) -> None:
        self.spans: list[list[float]] = []
        self._changed = changed
        node.create_subscription(
            DiagnosticArray, 'trajectory_publisher/status', self._hear, LATCHED)

    def _hear(self, message: DiagnosticArray) -> None:
        values = {pair.key: pair.value for status in message.status[:1] for pair in status.values}
        since, spans = say.number_of(values.get('since', '')), self.spans
        validating = (values.get('phase') == Phase.VALIDATING.value
                      and values.get('dry_run') == 'False')
        if validating == bool(spans and spans[-1][1] == np.inf) or not np.isfinite(since):
            return
        if validating:
            spans.append([since, np.inf])
        else:
            spans[-1][1] = since
        self._changed()
