# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Nodes without a ROS 2 installation.

The part of rclpy and of the standard messages that the nodes of this package use, on Eclipse
Cyclone DDS, with ROS 2's names and types on the wire. It steps in where rclpy cannot be imported,
and is no replacement for ROS 2.
"""

from __future__ import annotations

import importlib
from importlib.machinery import ModuleSpec
import importlib.util
import sys
from types import ModuleType
from typing import Any

from dynid_ros.errors import InputError

_MESSAGES = ('action_msgs', 'builtin_interfaces', 'control_msgs', 'diagnostic_msgs',
             'geometry_msgs', 'rcl_interfaces', 'rosgraph_msgs', 'sensor_msgs', 'std_msgs',
             'std_srvs', 'trajectory_msgs', 'visualization_msgs')
_KINDS = ('', '.msg', '.srv', '.action')
#: Names in modules of rclpy, and the modules here that hold them.
_RCLPY = {
    'rclpy': ('spin', 'init ok shutdown try_shutdown spin_once'),
    'rclpy.action': ('actions', 'ActionClient ActionServer CancelResponse GoalResponse'),
    'rclpy.clock': ('spin', 'Clock ClockType'),
    'rclpy.duration': ('spin', 'Duration'),
    'rclpy.executors': ('spin', 'SingleThreadedExecutor'),
    'rclpy.exceptions': ('parameters', 'ParameterException'),
    'rclpy.node': ('node', 'Node'),
    'rclpy.parameter': ('parameters', 'Parameter'),
    'rclpy.qos': ('dds', 'DurabilityPolicy QoSProfile ReliabilityPolicy'),
    'rclpy.signals': ('spin', 'SignalHandlerOptions'),
}


def step_in() -> bool:
    """
    Provide rclpy and the message packages if they cannot be imported.

    Returns
    -------
    bool
        Whether that was needed.

    Raises
    ------
    InputError
        Cyclone DDS cannot be imported either.

    """
    if active() or importlib.util.find_spec('rclpy') is not None:
        return False
    if importlib.util.find_spec('cyclonedds') is None:
        raise InputError('nodes need a sourced ROS 2, or else the Python package cyclonedds; '
                         'install it with: pip install cyclonedds')
    for name in (*_RCLPY, *(f'{package}{kind}' for package in _MESSAGES for kind in _KINDS)):
        sys.modules[name] = _Module(name)
        parent, _, child = name.partition('.')
        if child:
            setattr(sys.modules[parent], child, sys.modules[name])
    print('dynid: rclpy is not installed; dynid_ros.ros.stand_in stands in for it',
          file=sys.stderr, flush=True)
    return True


def active() -> bool:
    """Whether this package stands in for rclpy here."""
    return isinstance(sys.modules.get('rclpy'), _Module)


class _Module(ModuleType):
    """A module whose content is looked up when it is first used."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith('_'):
            raise AttributeError(name)
        if self.__name__ not in _RCLPY:
            from dynid_ros.ros.stand_in.messages import message_class
            return message_class(f'{self.__name__.replace(".", "/")}/{name}')
        place, provided = _RCLPY[self.__name__]
        if name not in provided.split():
            raise AttributeError(f'{self.__name__}.{name} is not provided without ROS 2')
        return getattr(importlib.import_module(f'{__name__}.{place}'), name)
