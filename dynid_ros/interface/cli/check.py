"""
Report the defects of a recording.

Check the stamps, names and values of a recording for defects, and the unit and gains of the drive
signals against it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dynid_ros.interface.cli.common.arguments import (
    add_arm,
    add_json,
    add_reading,
    answer,
    read_recording,
)


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('recording', type=Path, metavar='BAG')
    add_arm(parser)
    add_reading(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Check and print the defects; status 1 if one of them spoils what would be identified."""
    from dynid_ros.arm import load_arm
    from dynid_ros.data.recordings.clock import with_one_clock
    from dynid_ros.interface.cli.common.summary import defect_lines
    from dynid_ros.interface.python.tasks import check_recording

    arm = load_arm(args.arm)
    recording = read_recording(args, args.recording, arm)
    defects = check_recording(recording, arm)
    seconds = with_one_clock(recording).seconds
    answer(args, {
        'arm': arm.name, 'samples': len(recording.t), 'seconds': seconds,
        'defects': [defect.as_dict() for defect in defects],
    }, [f'{args.recording}: {len(recording.t)} samples of {arm.n} joints in {seconds:.1f} s',
        *(defect_lines(defects) or ['no defects found'])])
    return int(any(defect.severity == 'error' for defect in defects))
