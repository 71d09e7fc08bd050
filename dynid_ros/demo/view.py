"""Progress of the running nodes, as they publish it, on the terminal."""

from __future__ import annotations

import json
import math
import time
from types import TracebackType
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text
from std_msgs.msg import String

from dynid_ros.nodes.common.runtime import LATCHED

#: Time between lines where the output is no terminal, s.
QUIET = 5.0


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
    joints : dict of str to (float, float)
        The same joint by joint, percent, and its root mean square, in the unit of the joint.

    """

    def __init__(self) -> None:
        super().__init__('dynid_demo')
        self.samples = self.determined = self.number = 0
        self.condition_number: float | None = None
        self.overall: float | None = None
        self.joints: dict[str, tuple[float, float]] = {}
        self.create_subscription(String, 'identifier/result', self._on_result, LATCHED)
        self.create_subscription(
            DiagnosticArray, 'identifier/validation', self._on_validation, 10)

    def _on_result(self, message: Any) -> None:
        content = json.loads(message.data)
        self.samples = content['samples']
        self.number = len(content['parameters'])
        self.determined = sum(each['determined'] for each in content['parameters'])
        self.condition_number = content['condition_number']
        self.overall = content['relative_error_percent']

    def _on_validation(self, message: Any) -> None:
        for status in message.status:
            values = {pair.key: float(pair.value) for pair in status.values}
            if 'rmse' in values:
                self.joints[status.name] = (
                    values['relative_error_percent'], values['rmse'])


class View:
    """
    Shows how the demonstration goes: live on a terminal, and line by line elsewhere.

    Parameters
    ----------
    title : str
        Heading of the page.

    """

    def __init__(self, title: str) -> None:
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._title = title
        self._printed = -math.inf
        self._began = time.monotonic()

    def __enter__(self) -> View:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        """Leave a line that stays."""
        self._console.print(f'{time.monotonic() - self._began:5.1f} s  {text}', highlight=False,
                            soft_wrap=True)

    def show(self, stage: str, progress: ProgressNode) -> None:
        """Show what is known self."""
        if self._console.is_terminal:
            self._live.update(self._page(stage, progress), refresh=True)
        elif time.monotonic() - self._printed > QUIET and progress.samples:
            self._printed = time.monotonic()
            self.say(f'{stage}: {_summary(progress)}')

    def _page(self, stage: str, progress: ProgressNode) -> Group:
        head = Text(f'{self._title}   {time.monotonic() - self._began:.0f} s   {stage}',
                    style='bold')
        table = Table('joint', box=None, pad_edge=False)
        table.add_column('torque error, %', justify='right')
        table.add_column('rms, Nm or N', justify='right')
        for name, (percent, rmse) in progress.joints.items():
            table.add_row(name, f'{percent:.2f}', f'{rmse:.3g}')
        return Group(head, Text(_summary(progress)), table)


def _summary(progress: ProgressNode) -> str:
    if not progress.samples:
        return 'waiting for the first samples'
    condition = '-' if progress.condition_number is None else f'{progress.condition_number:.0f}'
    known = progress.determined and progress.overall is not None
    overall = f'{progress.overall:.2f} %' if known else '-'
    return (f'{progress.samples} samples, {progress.determined} of {progress.number} base '
            f'parameters determined, condition number {condition}, torque error {overall}')
