"""
Nodes without a ROS 2 installation.

The part of rclpy and of the standard messages that the nodes of this package use, on Eclipse
Cyclone DDS, with ROS 2's names and types on the wire. It steps in where rclpy cannot be imported,
and is no replacement for ROS 2.
"""

from __future__ import annotations

from collections.abc import Callable
import importlib.abc
from importlib.machinery import ModuleSpec
import importlib.util
import sys
from types import ModuleType
from typing import Any

from dynid_ros.errors import InputError

_PACKAGES = ('action_msgs', 'builtin_interfaces', 'control_msgs', 'diagnostic_msgs',
             'rcl_interfaces', 'sensor_msgs', 'std_msgs', 'std_srvs', 'trajectory_msgs')


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
    if importlib.util.find_spec('rclpy') is not None:
        return False
    if importlib.util.find_spec('cyclonedds') is None:
        raise InputError('nodes need a sourced ROS 2, or else the Python package cyclonedds; '
                         'install it with: pip install cyclonedds')
    sys.meta_path.append(_Finder())
    print('dynid: rclpy is not installed; dynid_ros.embedded stands in for it',
          file=sys.stderr, flush=True)
    return True


class _Module(ModuleType):
    """A module whose content is looked up."""

    def __init__(self, name: str, find: Callable[[str], Any]) -> None:
        super().__init__(name)
        self._find = find

    def __getattr__(self, name: str) -> Any:
        if name.startswith('_'):
            raise AttributeError(name)
        return self._find(name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes the modules when they are imported."""

    def find_spec(
        self, fullname: str, path: Any, target: Any = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        package, _, rest = fullname.partition('.')
        if package == 'rclpy' or (package in _PACKAGES and rest in ('', 'msg', 'srv', 'action')):
            return ModuleSpec(fullname, self, is_package=not rest)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        from dynid_ros.embedded import messages, rclpy_modules

        package, _, kind = spec.name.partition('.')
        if package == 'rclpy':
            return _Module(spec.name, rclpy_modules.content(spec.name))
        finders = {'srv': messages.service_class, 'action': messages.action_class}
        find = finders.get(kind, messages.message_class)
        return _Module(spec.name, lambda name: find(f'{package}/{kind}/{name}'))

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to be done."""
