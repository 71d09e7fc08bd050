# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Write any recording as a rosbag2.

Write a table, printed messages or a bag of ROS 1 as a rosbag2 of joint states, with the values as
recorded. Joints and columns follow from the arm, or else from the names in the recording.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynid_ros.interface.cli.common.arguments import add_described, ARM_AND_READING, given
from dynid_ros.interface.cli.common.output import Answer


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'convert', {
        'recording': 'LOG', 'out': '-o --output PATH', **ARM_AND_READING})


def run(args: Namespace) -> Answer:
    """Convert, and state which column became which quantity."""
    from dynid_ros.interface.cli.common.summary import defect_notes
    from dynid_ros.interface.python.applications import convert
    from dynid_ros.utilities.text import several

    written = convert(**given(args))
    facts = {'bag': args.output, 'joints': written.joint_names, 'samples': len(written.t),
             'seconds': written.seconds, 'defects': written.defects}
    return Answer(
        facts, f'Converted: {len(written.t)} samples of {several(written.joint_names)} in '
        f'{written.seconds:.1f} s.', notes=defect_notes(written.defects), wrote=[args.output])
