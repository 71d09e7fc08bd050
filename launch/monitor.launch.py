# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Watch an arm by its identified model."""

from launch import LaunchDescription, LaunchDescriptionEntity

from dynid_ros.ros.nodes.launch_arguments import Given, launch_file
from dynid_ros.ros.nodes.launch_nodes import (
    CONFIG,
    JOINT_STATES,
    NAMESPACE,
    node,
    parameter,
)


def begin(given: Given) -> list[LaunchDescriptionEntity]:
    """Start the node."""
    return [node(given, 'monitor', given.parameters('monitor'))]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments."""
    return launch_file(
        begin, parameter('monitor', 'model', None), parameter('monitor', 'alarms_per_hour'),
        parameter('monitor', 'frame_id'), parameter('monitor', 'use_sim_time'), NAMESPACE,
        JOINT_STATES, CONFIG)
