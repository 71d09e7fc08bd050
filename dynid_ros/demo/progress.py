"""What the running nodes say of how far they are."""

from __future__ import annotations

from dataclasses import dataclass, field
import json
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from std_msgs.msg import String

from dynid_ros.nodes.common.runtime import LATCHED


@dataclass
class Progress:
    """
    What is known by now.

    Attributes
    ----------
    samples, determined, parameters : int
        Samples that were learned from, and how many of the base parameters they determine.
    condition_number : float or None
        Of the scaled regressor; None while parameters are not determined.
    overall : float or None
        Torque error of predictions made before each torque was used, percent.
    joints : dict of str to (float, float)
        The same joint by joint, percent, and its root mean square, in the unit of the joint.

    """

    samples: int = 0
    determined: int = 0
    parameters: int = 0
    condition_number: float | None = None
    overall: float | None = None
    joints: dict[str, tuple[float, float]] = field(default_factory=dict)


class ProgressNode(Node):
    """Listens to the identifier."""

    def __init__(self) -> None:
        super().__init__('dynid_demo')
        self.progress = Progress()
        self.create_subscription(String, 'identifier/result', self._on_result, LATCHED)
        self.create_subscription(
            DiagnosticArray, 'identifier/validation', self._on_validation, 10)

    def _on_result(self, message: Any) -> None:
        content, now = json.loads(message.data), self.progress
        now.samples = content['samples']
        now.parameters = len(content['parameters'])
        now.determined = sum(each['determined'] for each in content['parameters'])
        now.condition_number = content['condition_number']
        now.overall = content['relative_error_percent']

    def _on_validation(self, message: Any) -> None:
        for status in message.status:
            values = {pair.key: float(pair.value) for pair in status.values}
            if 'rmse' in values:
                self.progress.joints[status.name] = (
                    values['relative_error_percent'], values['rmse'])
