# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Launch arguments as parameters of nodes: defaults of nodes < config < given arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
import signal
import sys
import threading
from typing import Any

from launch.actions import (
    DeclareLaunchArgument,
    OpaqueFunction,
    PopLaunchConfigurations,
    PushLaunchConfigurations,
)
from launch.events import Shutdown
from launch.launch_context import LaunchContext
from launch.launch_description import LaunchDescription
from launch.launch_description_entity import LaunchDescriptionEntity
import yaml

from dynid_ros.errors import DynidError
from dynid_ros.ros.nodes.common.runtime import Setting, SIMULATED
from dynid_ros.ros.nodes.launching import PACKAGE
from dynid_ros.ros.stand_in.arguments import parse

#: Parameters that rclpy declares; `ros2 param dump` writes them, too.
OF_RCLPY = {'start_type_description_service', 'qos_overrides'}


@dataclass(frozen=True)
class Given:
    """
    Launch arguments.

    Attributes
    ----------
    values : dict of str to str
        Of all that are declared, here or in a launch file that includes this one.
    given : frozenset of str
        Those that were given and do not have their defaults.

    """

    values: Mapping[str, str]
    given: frozenset[str]

    @property
    def namespace(self) -> str:
        """Return the namespace of the arm."""
        return self.values['namespace'].strip('/')

    def parameters(self, executable: str, **defaults: object) -> dict[str, Any]:
        """
        Return the parameters of a node.

        Parameters
        ----------
        executable : str
            The node.
        **defaults
            Replace the defaults of the node.

        Raises
        ------
        RuntimeError
            The config cannot be read, or names a parameter that the node lacks; or an argument is
            not of the type of its parameter.

        """
        settings = settings_of(executable)
        name = '/'.join(['', *filter(None, [self.namespace]), executable])
        return defaults | _configured(self.values['config'], name, settings) | {
            key: _read(settings[key], self.values[key]) for key in self.given & settings.keys()}


def settings_of(executable: str) -> dict[str, Setting]:
    """Return the parameters of a node by their names."""
    module = import_module(f'dynid_ros.ros.nodes.{executable}')
    return {each.name: each for each in (*module.SETTINGS, SIMULATED)}


def launch_file(
    begin: Callable[[Given], Sequence[LaunchDescriptionEntity]], *arguments: DeclareLaunchArgument,
) -> LaunchDescription:
    """
    Make a launch file whose defaults end with it.

    Parameters
    ----------
    begin : callable
        Returns the entities of the launch.
    *arguments
        The arguments.

    """
    names = {each.name for each in arguments}
    given: set[str] = set()

    def enter(context: LaunchContext) -> None:
        end_with_terminal(context)
        _refuse_unknown(context, names)
        given.update(names & context.launch_configurations.keys())

    def started(context: LaunchContext) -> Sequence[LaunchDescriptionEntity]:
        return begin(Given(dict(context.launch_configurations), frozenset(given)))

    return LaunchDescription([
        PushLaunchConfigurations(), OpaqueFunction(function=enter), *arguments,
        OpaqueFunction(function=started), PopLaunchConfigurations()])


def end_with_terminal(context: LaunchContext) -> None:
    """End the nodes with their terminal, which signals only launch, and would kill it."""
    def end(_number: int, _frame: object) -> None:
        if not context.is_shutdown:
            context.emit_event_sync(Shutdown(reason='the terminal was closed'))

    if (threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL):
        signal.signal(signal.SIGHUP, end)


def _refuse_unknown(context: LaunchContext, names: set[str]) -> None:
    """Refuse undeclared arguments of the command line, which launch itself ignores."""
    file = Path(context.locals.current_launch_file_path)
    unknown = {word.partition(':=')[0] for word in context.argv} - names
    # The arguments of a launch file that includes this one are its own.
    words = {*sys.argv, *(Path(word).resolve() for word in sys.argv)}
    if unknown and ({PACKAGE, file.name} <= words or file.resolve() in words):
        raise RuntimeError(f'{file.name} has no launch argument {", ".join(sorted(unknown))}; '
                           f'it has {", ".join(sorted(names))}')


def _configured(file: str, name: str, settings: Mapping[str, Setting]) -> dict[str, Any]:
    """Read the parameters of a node from a config; under ``/**``, other nodes may have theirs."""
    try:
        read = parse(['--ros-args', '--params-file', file] if file else [])
    except (DynidError, OSError, ValueError) as error:
        raise RuntimeError(f'config:={file} cannot be read: {error}') from error
    found, others = read.overrides(name), OF_RCLPY | read.parameters.get('/**', {}).keys()
    unknown = {key for key in found if key.partition('.')[0] not in others | settings.keys()}
    if unknown:
        raise RuntimeError(f'{file}: {name} has no parameter {", ".join(sorted(unknown))}; '
                           f'it has {", ".join(sorted(settings))}')
    # rclpy refuses 1 for 1.0, which YAML reads as an integer.
    return {key: float(value) if type(value) is int and isinstance(settings[key].default, float)
            else value for key, value in found.items() if key in settings}


def _read(setting: Setting, text: str) -> Any:
    """Read the value of a launch argument as the type of its parameter."""
    default = setting.default
    try:
        value = text if isinstance(default, str) else yaml.safe_load(text)
        if isinstance(value, list) != isinstance(default, list):
            raise TypeError(text)
        return [float(each) for each in value] if setting.numbers else type(default)(value)
    except (TypeError, ValueError, yaml.YAMLError) as error:
        kind = 'list of numbers' if setting.numbers else type(default).__name__
        raise RuntimeError(f'the launch argument {setting.name}:={text} must be a {kind}, such as '
                           f'{[100.0, 50.0] if setting.numbers else default!r}') from error
