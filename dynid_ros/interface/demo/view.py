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
    known : str
        Samples used, base parameters that they determine, condition number of the scaled
        regressor, and error of torques predicted before use; empty before the first result.

    """

    def __init__(self) -> None:
        super().__init__('dynid_demo')
        self.known = ''
        self.create_subscription(String, 'identifier/result', self._on_result, LATCHED)

    def _on_result(self, message: Any) -> None:
        content = json.loads(message.data)
        determined = [each['determined'] for each in content['parameters']]
        condition, error = content['condition_number'], content['relative_error_percent']
        self.known = (
            f'{content["samples"]} samples, {sum(determined)} of {len(determined)} base '
            'parameters determined, condition number '
            f'{"-" if condition is None else format(condition, ".0f")}, torque error '
            + (f'{error:.2f} %' if any(determined) and error is not None else '-'))


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
