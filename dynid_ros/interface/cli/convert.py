"""
Write any recording as a rosbag2.

Write a table, printed messages or a bag of ROS 1 as a rosbag2 of joint states, with the values as
recorded. Joints and columns are those of the arm, or else those that the names in the recording
tell.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dynid_ros.interface.cli.common.arguments import (
    add_arm,
    add_output,
    add_reading,
    reading,
)
from dynid_ros.interface.cli.common.output import add_answer, answer


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('recording', type=Path, metavar='LOG')
    add_output(parser, 'folder of the bag')
    add_arm(parser, required=False)
    add_reading(parser)
    add_answer(parser)


def run(args: Namespace) -> int:
    """Convert, and print what was taken for what."""
    from dynid_ros.interface.cli.common.summary import defect_notes
    from dynid_ros.interface.python.applications import convert
    from dynid_ros.utilities.text import several

    written = convert(args.recording, args.output, arm=args.arm, **reading(args))
    answer(args, {
        'bag': str(args.output), 'joints': list(written.joint_names),
        'samples': len(written.t), 'seconds': written.seconds,
        'defects': [defect.as_dict() for defect in written.defects],
    }, f'Converted: {len(written.t)} samples of {several(written.joint_names)} in '
        f'{written.seconds:.1f} s.', notes=defect_notes(written.defects), wrote=[args.output])
    return 0
