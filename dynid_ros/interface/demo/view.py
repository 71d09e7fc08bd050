"""Progress of the running nodes, as the identifier publishes it, on the terminal."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from rclpy.node import Node
from std_msgs.msg import String

from dynid_ros.ros.nodes.common.runtime import LATCHED

#: Time between lines, s.
QUIET = 2.0


class ProgressNode(Node):
    """
    Listens to the identifier.

    Attributes
    ----------
    samples, determined, number : int
        Samples that were learned from, base parameters that they determine, and all of these.
    condition_number : float or None
        Of the scaled regressor; None while parameters are not determined.
    overall : float or None
        Torque error of predictions made before each torque was used, percent.

    """

    def __init__(self) -> None:
        super().__init__('dynid_demo')
        self.samples = self.determined = self.number = 0
        self.condition_number: float | None = None
        self.overall: float | None = None
        self.create_subscription(String, 'identifier/result', self._on_result, LATCHED)

    def _on_result(self, message: Any) -> None:
        content = json.loads(message.data)
        self.samples = content['samples']
        self.number = len(content['parameters'])
        self.determined = sum(each['determined'] for each in content['parameters'])
        self.condition_number = content['condition_number']
        self.overall = content['relative_error_percent']


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
        if time.monotonic() - self._printed > QUIET and progress.samples:
            self.say(f'{stage}: {_summary(progress)}')


def _summary(progress: ProgressNode) -> str:
    condition = '-' if progress.condition_number is None else f'{progress.condition_number:.0f}'
    known = progress.determined and progress.overall is not None
    overall = f'{progress.overall:.2f} %' if known else '-'
    return (f'{progress.samples} samples, {progress.determined} of {progress.number} base '
            f'parameters determined, condition number {condition}, torque error {overall}')
