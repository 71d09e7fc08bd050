"""``dynid run``: one node, with or without ROS 2."""

from __future__ import annotations

import argparse
from importlib import import_module
import sys

from dynid_ros.interface.cli.common.arguments import Subparsers

NODES = (
    'feedforward', 'identifier', 'monitor', 'recorder', 'simulated_arm', 'trajectory_publisher',
    'watch')


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        'run', help='run one node, with or without ROS 2',
        description='Run a node as `ros2 run dynid_ros NODE` does. Where rclpy cannot be '
                    'imported, dynid_ros.ros.stand_in stands in for it.')
    parser.add_argument('node', choices=NODES, metavar='NODE', help=', '.join(NODES))
    parser.add_argument(
        'arguments', nargs=argparse.REMAINDER, metavar='--ros-args ...',
        help='such as --ros-args -p arm:=panda -r joint_states:=arm/joint_states')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the node until it ends."""
    # rclpy reads the command line of the process.
    sys.argv = [args.node, *args.arguments]
    status: int = import_module(f'dynid_ros.ros.nodes.{args.node}').main()
    return status
