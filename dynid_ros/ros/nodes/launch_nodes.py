# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Nodes in launch files, and arguments that several files share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from launch.actions import DeclareLaunchArgument
from launch.events.process import ProcessExited
from launch.launch_context import LaunchContext
from launch.launch_description_entity import LaunchDescriptionEntity
from launch_ros.actions import Node

from dynid_ros.ros.nodes.launch_arguments import Given, settings_of
from dynid_ros.ros.nodes.launching import enclave, fast_dds, LONGEST_END, PACKAGE, PATIENT

TRUTH = ['true', 'false']
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


def parameter(executable: str, name: str, default: str | None = '') -> DeclareLaunchArgument:
    """
    Declare the launch argument of a parameter, with its description and choices.

    Parameters
    ----------
    executable, name : str
        The node and its parameter.
    default : str or None
        Shown default; the node's own if empty, and none if the argument is required.

    """
    setting = settings_of(executable)[name]
    known = setting.default
    own = str(known).lower() if isinstance(known, bool) else '' if known == [] else str(known)
    choices = list(setting.choices) or (TRUTH if isinstance(known, bool) else None)
    return DeclareLaunchArgument(
        name, default_value=own if default == '' else default,
        description=setting.description, choices=choices)


def folder(name: str, default: str, what: str) -> DeclareLaunchArgument:
    """Declare a folder."""
    return DeclareLaunchArgument(name, default_value=default, description=f'Folder for {what}.')


def chosen_folder(given: Given, name: str) -> str:
    """Return a folder, by default in that of the namespace."""
    value = given.values[name]
    return value if name in given.given else str(Path(given.namespace, value))


def writing(given: Given, executable: str, name: str, **defaults: object) -> dict[str, Any]:
    """Return the parameters of a node that writes to the folder of a launch argument."""
    chosen = {'output_folder': chosen_folder(given, name)}
    found = given.parameters(executable, **chosen, **defaults)
    return found | chosen if name in given.given else found


def node(
    given: Given, executable: str, parameters: Mapping[str, Any], *, prefix: str = PATIENT,
    required: bool = True, **topics: str,
) -> Node:
    """
    Make a node in the namespace; arguments remap its topics.

    The end of a `required` node ends the launch, with a nonzero status.
    """
    kept = {name: value for name, value in parameters.items() if value not in ('', [])}
    named = {name: given.values[name] for name in TOPICS if name in given.given} | topics
    return Node(
        package=PACKAGE, executable=executable, exec_name=executable, output='screen',
        namespace=given.namespace, parameters=[kept], remappings=list(named.items()),
        prefix=prefix, sigterm_timeout=LONGEST_END, on_exit=end_with_node if required else None,
        additional_env={**enclave(executable), **fast_dds()})


def end_with_node(event: ProcessExited, context: LaunchContext) -> None:
    """End the launch with a node, with the status of a node that failed."""
    if event.returncode or not context.is_shutdown:
        raise RuntimeError(f'{event.process_name} ended with status {event.returncode}')


def listening() -> list[DeclareLaunchArgument]:
    """Declare the arguments of `listeners`."""
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


def listeners(given: Given, save: bool = True) -> list[LaunchDescriptionEntity]:
    """Make recorder and identifier, and the live page if `view` is true."""
    nodes = [
        node(given, 'recorder', writing(given, 'recorder', 'recordings', record_at_start=True)),
        node(given, 'identifier', writing(given, 'identifier', 'result', save_at_end=save))]
    if given.values['view'] == 'true':
        nodes.append(node(given, 'watch', given.parameters('watch'), required=False))
    return nodes
