# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Write any recording as a rosbag2.

Write a table, printed messages or a bag of ROS 1 as a rosbag2 of joint states, with the values as
recorded. Joints and columns follow from the arm, or else from the names in the recording.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.answers.answer import Answer
from dynid_ros.interface.cli.common.described import add_described, ARM_AND_READING, given


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'convert', {
        'recording': 'LOG', 'out': '-o --output PATH', **ARM_AND_READING})


def run(args: Namespace) -> Answer:
    """Convert, and state which column became which quantity."""
    from dynid_ros.interface.answers.recording import conversion_answer
    from dynid_ros.interface.python.applications import convert

    return conversion_answer(convert(**given(args)), args.output)
