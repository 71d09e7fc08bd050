# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Identify a real arm: run an excitation through its controller and identify while it runs."""

from launch import LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument

from dynid_ros.ros.nodes.launch_arguments import Given, launch_file
from dynid_ros.ros.nodes.launch_nodes import listeners, listening, node, parameter
from dynid_ros.ros.nodes.launching import LISTENERS


def begin(given: Given) -> list[LaunchDescriptionEntity]:
    """Start nodes that wait for ~/start; of a dry run, nothing is saved."""
    moved = given.parameters('trajectory_publisher', dry_run=True, listeners=LISTENERS)
    return [*listeners(given, save=not moved['dry_run']),
            node(given, 'trajectory_publisher', moved)]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments."""
    mover = 'trajectory_publisher'
    return launch_file(
        begin,
        parameter(mover, 'arm', None),
        parameter(mover, 'excitation', None),
        parameter(mover, 'dry_run', 'true'),
        *(parameter(mover, name) for name in (
            'command', 'controller', 'feedforward', 'stiffness', 'damping', 'start_speed',
            'tracking_error', 'state_timeout')),
        DeclareLaunchArgument(
            'effort_commands', default_value='effort_commands',
            description='Topic of the effort controller, such as effort_controller/commands.'),
        *listening())
