# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Run one node, with or without ROS 2.

Run a node as `ros2 run dynid_ros NODE` does. Where rclpy cannot be imported,
dynid_ros.ros.stand_in stands in for it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, REMAINDER
from importlib import import_module
import sys

NODES = (
    'feedforward', 'identifier', 'monitor', 'recorder', 'simulated_arm', 'trajectory_publisher',
    'watch', 'wrist_sensor')


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add('node', choices=NODES, metavar='NODE', help=', '.join(NODES))
    add('arguments', nargs=REMAINDER, metavar='--ros-args ...',
        help='such as --ros-args -p arm:=panda -r joint_states:=arm/joint_states')


def run(args: Namespace) -> int:
    """Run the node until it ends."""
    # rclpy reads the command line of the process.
    sys.argv = [args.node, *args.arguments]
    status: int = import_module(f'dynid_ros.ros.nodes.{args.node}').main()
    return status
