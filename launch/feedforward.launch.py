# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Fill in the effort of trajectories on their way to a joint_trajectory_controller."""

from launch import LaunchDescription, LaunchDescriptionEntity

from dynid_ros.ros.nodes.launch_arguments import Given, launch_file
from dynid_ros.ros.nodes.launch_nodes import CONFIG, NAMESPACE, node, parameter


def begin(given: Given) -> list[LaunchDescriptionEntity]:
    """Start the node."""
    return [node(given, 'feedforward', given.parameters('feedforward'))]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments."""
    return launch_file(
        begin, parameter('feedforward', 'model', None), parameter('feedforward', 'controller'),
        NAMESPACE, CONFIG)
