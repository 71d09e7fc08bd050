"""Progress of the running nodes, as the identifier publishes it, on the terminal."""

from __future__ import annotations

from math import isfinite
import sys
import time
from typing import Any

from control_msgs.msg import DynamicJointState
from rclpy.node import Node

from dynid_ros.ros.nodes.common.estimate_messages import numbers_of
from dynid_ros.ros.nodes.common.runtime import LATCHED

#: Time between lines, s.
QUIET = 2.0


class ProgressNode(Node):
    """
    Listens to the identifier.

    Attributes
    ----------
    known : str
        Samples used, base parameters that they determine, condition number of the scaled
        regressor, and error of torques predicted before use; empty before the first result.

    """

    def __init__(self) -> None:
        super().__init__('dynid_demo')
        self.known = ''
        self.create_subscription(
            DynamicJointState, 'identifier/summary', self._on_summary, LATCHED)

    def _on_summary(self, message: Any) -> None:
        _, columns = numbers_of(message)
        found = {name: float(column[0]) for name, column in columns.items()}
        condition, error = found['condition_number'], found['relative_error_percent']
        self.known = (
            f'{found["samples"]:.0f} samples, {found["determined"]:.0f} of '
            f'{found["parameters"]:.0f} base parameters determined, condition number '
            f'{format(condition, ".0f") if isfinite(condition) else "-"}, torque error '
            + (f'{error:.2f} %' if found['determined'] and isfinite(error) else '-'))


class View:
    """Prints how the demonstration goes, line by line."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._printed = self._began

    def say(self, text: str) -> None:
        """Print a line."""
        self._printed = time.monotonic()
        print(f'{self._printed - self._began:5.1f} s  {text}', file=sys.stderr, flush=True)

    def show(self, stage: str, progress: ProgressNode) -> None:
        """Print what is known, now and then."""
        if time.monotonic() - self._printed > QUIET and progress.known:
            self.say(f'{stage}: {progress.known}')
