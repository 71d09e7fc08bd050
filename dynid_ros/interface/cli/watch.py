# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
A live page of the running nodes in a browser.

Serve a page with the arm in 3D, its reference, the estimates while they converge, the quality of
the stream and the verdict, and with buttons to start, stop, freeze and save. It needs no ROS 2,
and joins a graph of it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, REMAINDER
from importlib import import_module
import json
import sys

from dynid_ros.interface.cli.common.arguments import add_address


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add('arm', metavar='ARM', help='a shipped arm, or the path of an arm.yaml')
    add_address(parser, 'with any other, the buttons need a token, which is printed at the start')
    add('--ros-args', nargs=REMAINDER, default=[], metavar='...',
        help='comes last, such as --ros-args -r __ns:=/left -r joint_states:=arm/joint_states')


def run(args: Namespace) -> int:
    """Serve the page until Ctrl-C."""
    # rclpy reads the command line of the process. Quoted, for a text may look like a number.
    sys.argv = ['watch', '--ros-args', *args.ros_args]
    for name in ('arm', 'host', 'port'):
        sys.argv += ['-p', f'{name}:={json.dumps(getattr(args, name), ensure_ascii=False)}']
    status: int = import_module('dynid_ros.ros.nodes.watch').main()
    return status
