# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Launch arguments that are parameters of nodes: defaults of nodes < config < given arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import currentframe
from pathlib import Path
from typing import Any

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_context import LaunchContext
from launch.launch_description import LaunchDescription
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
from launch_ros.actions import Node
import yaml

from dynid_ros.errors import DynidError
from dynid_ros.ros.nodes.common.launch_ends import end_with_node, end_with_terminal
from dynid_ros.ros.nodes.common.runtime import Setting
from dynid_ros.ros.nodes.launching import enclave, fast_dds, LONGEST_END, PACKAGE, PATIENT
from dynid_ros.ros.stand_in.arguments import parse

TRUTH = ['true', 'false']
#: Parameters that `ros2 param dump` writes too, and that rclpy declares.
OF_RCLPY = {'start_type_description_service', 'qos_overrides'}
#: Parameter of every node; rclpy declares it.
SIMULATED = Setting('use_sim_time', False, 'true: the time comes from /clock, of a simulator.')
NAMESPACE = DeclareLaunchArgument(
    'namespace', default_value='',
    description='Namespace of the arm; default folders are in a folder of this name.')
JOINT_STATES = DeclareLaunchArgument(
    'joint_states', default_value='joint_states', description='Topic of the states.')
#: Arguments that are names of topics.
TOPICS = ('joint_states', 'effort_commands')
CONFIG = DeclareLaunchArgument(
    'config', default_value='',
    description='YAML file with parameters of the nodes, as `ros2 param dump` writes them; '
                'launch arguments that are given replace them.')


def folder(name: str, default: str, what: str) -> DeclareLaunchArgument:
    """Declare a folder."""
    return DeclareLaunchArgument(name, default_value=default, description=f'Folder for {what}.')


def listening() -> list[DeclareLaunchArgument]:
    """Declare the arguments of `Given.listeners`."""
    return [
        folder('recordings', 'recordings', 'the recordings'),
        folder('result', 'dynid_result', 'the result, which only an arm that has moved replaces'),
        *(parameter('recorder', name) for name in ('topics', 'wrench_topic')),
        *(parameter('identifier', name) for name in (
            'start', 'payload', 'model', 'use_sim_time')),
        DeclareLaunchArgument(
            'view', default_value='false', choices=TRUTH,
            description='true: the live page shows the nodes; its address is printed.'),
        *(parameter('watch', name) for name in ('host', 'port')),
        NAMESPACE, JOINT_STATES, CONFIG]


def settings_of(executable: str) -> dict[str, Setting]:
    """Return the parameters of a node by their names."""
    settings = import_module(f'dynid_ros.ros.nodes.{executable}').SETTINGS
    return {each.name: each for each in (*settings, SIMULATED)}


def parameter(executable: str, name: str, default: str | None = '') -> DeclareLaunchArgument:
    """
    Declare the launch argument of a parameter, with its description and choices.

    Parameters
    ----------
    executable, name : str
        The node and its parameter.
    default : str or None
        Shown default; the node's own where empty, and none where the argument must be given.

    """
    setting = settings_of(executable)[name]
    known = setting.default
    own = str(known).lower() if isinstance(known, bool) else '' if known == [] else str(known)
    choices = list(setting.choices) or (TRUTH if isinstance(known, bool) else None)
    return DeclareLaunchArgument(
        name, default_value=own if default == '' else default,
        description=setting.description, choices=choices)


@dataclass(frozen=True)
class Given:
    """
    Launch arguments.

    Attributes
    ----------
    values : dict of str to str
        Of all that are declared.
    given : frozenset of str
        Those that were given, instead of left to their defaults.

    """

    values: Mapping[str, str]
    given: frozenset[str]

    @property
    def namespace(self) -> str:
        """Return the namespace of the arm."""
        return self.values['namespace'].strip('/')

    def folder(self, name: str) -> str:
        """Return a folder, whose default is in one that the namespace names."""
        value = self.values[name]
        return value if name in self.given else str(Path(self.namespace, value))

    def parameters(self, executable: str, folder: str = '', **defaults: object) -> dict[str, Any]:
        """
        Return the parameters of a node.

        Parameters
        ----------
        executable : str
            The node.
        folder : str
            Launch argument that is its ``output_folder``, if any.
        **defaults
            Replace the defaults of the node.

        Raises
        ------
        RuntimeError
            The config cannot be read, or names a parameter that the node lacks; or an argument is
            not of the type of its parameter.

        """
        settings, file = settings_of(executable), self.values.get('config', '')
        found = dict(defaults) | ({'output_folder': self.folder(folder)} if folder else {})
        if file:
            names = [*filter(None, [self.namespace]), executable]
            found |= _configured(file, f'/{"/".join(names)}', settings)
        if folder in self.given:
            found['output_folder'] = self.values[folder]
        return found | {
            name: _read(settings[name], self.values[name]) for name in settings
            if name in self.given}

    def node(
        self, executable: str, parameters: Mapping[str, Any], *, prefix: str = PATIENT,
        required: bool = True, **topics: str,
    ) -> Node:
        """
        Make a node in the namespace; topics are remapped where an argument names them.

        The end of one that is `required` ends the launch, with a status that is not 0.
        """
        kept = {name: value for name, value in parameters.items() if value not in ('', [])}
        named = {name: self.values[name] for name in TOPICS if name in self.given} | topics
        return Node(
            package=PACKAGE, executable=executable, exec_name=executable, output='screen',
            namespace=self.namespace, parameters=[kept], remappings=list(named.items()),
            prefix=prefix, sigterm_timeout=LONGEST_END,
            on_exit=end_with_node if required else None,
            additional_env={**enclave(executable), **fast_dds()})

    def listeners(self, save: bool = True) -> list[LaunchDescriptionEntity]:
        """Make recorder and identifier, and the live page if `view` is true."""
        nodes = [
            self.node('recorder', self.parameters(
                'recorder', 'recordings', record_at_start=True)),
            self.node('identifier', self.parameters('identifier', 'result', save_at_end=save))]
        if self.values['view'] == 'true':
            nodes.append(self.node('watch', self.parameters('watch'), required=False))
        return nodes


def _configured(file: str, name: str, settings: Mapping[str, Setting]) -> dict[str, Any]:
    """Read the parameters of a node from a config; under ``/**``, other nodes may have theirs."""
    try:
        read = parse(['--ros-args', '--params-file', file])
    except (DynidError, OSError, ValueError) as error:
        raise RuntimeError(f'config:={file} cannot be read: {error}') from error
    found, shared = read.overrides(name), read.parameters.get('/**', {})
    unknown = {key for key in found if key.partition('.')[0] not in OF_RCLPY
               } - settings.keys() - shared.keys()
    if unknown:
        raise RuntimeError(
            f'{file}: {name} has no parameter {", ".join(sorted(unknown))}; it has '
            f'{", ".join(sorted(settings))}')
    return {key: float(value) if isinstance(settings[key].default, float) else value
            for key, value in found.items() if key in settings}


def _read(setting: Setting, text: str) -> Any:
    """Read the value of a launch argument as the type of its parameter."""
    default = setting.default
    if isinstance(default, str):
        return text
    try:
        value = yaml.safe_load(text)
        if isinstance(value, list) != isinstance(default, list):
            raise TypeError(text)
        return [float(each) for each in value] if setting.numbers else type(default)(value)
    except (TypeError, ValueError, yaml.YAMLError) as error:
        raise RuntimeError(
            f'the launch argument {setting.name}:={text} must be a '
            + ('list of numbers, such as [100.0, 50.0]' if setting.numbers else
               f'{type(default).__name__}, such as {default!r}')) from error


class LaunchFile(LaunchDescription):
    """
    A launch file whose arguments are those that its include gives, and end with it.

    A launch configuration of ROS 2 stays in its scope: without a ``<group>``, the arguments of one
    include would be those of the next one, and names of the file around it would be given, too.

    Parameters
    ----------
    begin : callable
        Returns the entities of the launch.
    *arguments
        The arguments.

    """

    def __init__(
        self, begin: Callable[[Given], Sequence[LaunchDescriptionEntity]],
        *arguments: DeclareLaunchArgument,
    ) -> None:
        super().__init__([
            OpaqueFunction(function=self._enter), *arguments, OpaqueFunction(function=self._begin),
            OpaqueFunction(function=self._leave)])
        self._launch = begin
        self._names = {each.name for each in arguments}
        self._given: frozenset[str] | None = None
        self._before: dict[str, str] | None = None

    def get_launch_arguments_with_include_launch_description_actions(
        self, *options: Any, **named: Any,
    ) -> Any:
        """Note the arguments of an include, which asks for this list before it gives them."""
        frame = currentframe()
        asking = frame.f_back.f_locals if frame and frame.f_back else {}
        include, context = asking.get('self'), asking.get('context')
        if isinstance(include, IncludeLaunchDescription) and isinstance(context, LaunchContext):
            self._before = dict(context.launch_configurations)
            self._given = frozenset(
                perform_substitutions(context, normalize_to_list_of_substitutions(name))
                for name, _ in include.launch_arguments)
        return super().get_launch_arguments_with_include_launch_description_actions(
            *options, **named)

    def _enter(self, context: LaunchContext) -> None:
        """Leave only the arguments that are given."""
        end_with_terminal(context)
        configurations = context.launch_configurations
        if self._given is None or self._before is None:
            # No launch file includes this one.
            self._given, self._before = frozenset(configurations), dict(configurations)
        _refuse_unknown(context, self._names, self._before)
        for name in self._names - self._given:
            configurations.pop(name, None)

    def _begin(self, context: LaunchContext) -> Sequence[LaunchDescriptionEntity]:
        values = {name: context.launch_configurations[name] for name in self._names}
        given = frozenset(self._names & (self._given or frozenset()))
        return self._launch(Given(values, given))

    def _leave(self, context: LaunchContext) -> None:
        """Give the file around this one its own values back."""
        before, self._before, self._given = self._before or {}, None, None
        for name in self._names:
            context.launch_configurations.pop(name, None)
        context.launch_configurations.update(
            {name: before[name] for name in self._names & before.keys()})


def _refuse_unknown(context: LaunchContext, names: set[str], before: Mapping[str, str]) -> None:
    """Refuse arguments of the command line that nobody declares, which launch itself ignores."""
    # Those that were there before are the arguments of a launch file that includes this one.
    given = dict.fromkeys(word.partition(':=')[0] for word in context.argv)
    unknown = [name for name in given if name not in names and name not in before]
    if unknown:
        file = Path(context.locals.current_launch_file_path).name
        raise RuntimeError(
            f'{file} has no launch argument {", ".join(unknown)}; it has '
            f'{", ".join(sorted(names))}')
