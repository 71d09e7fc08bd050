# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Record an arm that others move: a teach pendant, MoveIt or a hand; identify meanwhile."""

from launch import LaunchDescription, LaunchDescriptionEntity

from dynid_ros.ros.nodes.launch_arguments import Given, launch_file
from dynid_ros.ros.nodes.launch_nodes import listeners, listening, parameter


def begin(given: Given) -> list[LaunchDescriptionEntity]:
    """Start the nodes."""
    return listeners(given)


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments."""
    return launch_file(begin, parameter('recorder', 'arm', None), *listening())
