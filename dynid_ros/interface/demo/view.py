# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Progress of the demonstration and of its running nodes, on the terminal."""

from __future__ import annotations

from math import isfinite
import sys
import time
from typing import Any

from control_msgs.msg import DynamicJointState
from rclpy.node import Node

from dynid_ros.ros.nodes.common.estimate_messages import numbers_of
from dynid_ros.ros.nodes.common.qos import LATCHED

#: Time between lines of the identifier, and start of the demonstration, s.
LINE_SECONDS, BEGAN = 2.0, time.monotonic()


def say(text: str) -> None:
    """Print a line with the time since the start, s."""
    print(f'{time.monotonic() - BEGAN:5.1f} s  {text}', file=sys.stderr, flush=True)


class ProgressNode(Node):
    """
    Print summaries of the identifier from time to time.

    These are the samples used, the base parameters that they determine, the condition number of
    the scaled regressor, and the error of torques predicted before use.
    """

    def __init__(self) -> None:
        super().__init__('dynid_demo')
        self._printed = time.monotonic()
        self.create_subscription(
            DynamicJointState, 'identifier/summary', self._on_summary, LATCHED)

    def _on_summary(self, message: Any) -> None:
        if time.monotonic() - self._printed < LINE_SECONDS:
            return
        self._printed = time.monotonic()
        _, columns = numbers_of(message)
        found = {name: float(column[0]) for name, column in columns.items()}
        condition, error = found['condition_number'], found['relative_error_percent']
        say(f'moving: {found["samples"]:.0f} samples, {found["determined"]:.0f} of '
            f'{found["parameters"]:.0f} base parameters determined, condition number '
            f'{format(condition, ".0f") if isfinite(condition) else "-"}, torque error '
            + (f'{error:.2f} %' if found['determined'] and isfinite(error) else '-'))
