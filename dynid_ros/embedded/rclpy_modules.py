"""Which module of rclpy holds what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from types import SimpleNamespace
from typing import Any

from dynid_ros.embedded import actions, node, parameters, qos, times
from dynid_ros.embedded.spin import CONTEXT, Future, spin_once


class SignalHandlerOptions(Enum):
    """Which signal handlers rclpy installs; here none, whatever is asked for."""

    NO = 0
    ALL = 3


def init(
    *, args: Sequence[str] | None = None,
    signal_handler_options: SignalHandlerOptions = SignalHandlerOptions.ALL,  # noqa: ARG001
) -> None:
    """Join the graph."""
    CONTEXT.init(args)


_ROOT = SimpleNamespace(
    init=init, ok=CONTEXT.ok, shutdown=CONTEXT.shutdown, try_shutdown=CONTEXT.shutdown,
    create_node=node.Node, spin_once=spin_once)
_CONTENT: dict[str, tuple[Any, str]] = {
    'rclpy': (_ROOT, 'init ok shutdown try_shutdown create_node spin_once'),
    'rclpy.action': (actions, 'ActionClient ActionServer CancelResponse'),
    'rclpy.clock': (times, 'Clock ClockType'),
    'rclpy.duration': (times, 'Duration'),
    'rclpy.exceptions': (parameters, 'ParameterException'),
    'rclpy.node': (node, 'Node'),
    'rclpy.parameter': (parameters, 'Parameter'),
    'rclpy.qos': (qos, 'DurabilityPolicy HistoryPolicy QoSProfile ReliabilityPolicy'),
    'rclpy.signals': (SimpleNamespace(SignalHandlerOptions=SignalHandlerOptions),
                      'SignalHandlerOptions'),
    'rclpy.task': (SimpleNamespace(Future=Future), 'Future'),
    'rclpy.time': (times, 'Time'),
}


def content(module: str) -> Callable[[str], Any]:
    """
    Look up what a module of rclpy holds.

    Raises
    ------
    ModuleNotFoundError
        Nothing of it is provided.

    """
    if module not in _CONTENT:
        raise ModuleNotFoundError(f'{module} is not provided without ROS 2', name=module)

    def find(name: str) -> Any:
        place, names = _CONTENT[module]
        if name not in names.split():
            raise AttributeError(f'{module}.{name} is not provided without ROS 2')
        return getattr(place, name)
    return find
