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
    add_reading,
    read_recording,
)
from dynid_ros.interface.cli.common.output import add_answer, answer


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('recording', type=Path, metavar='BAG')
    add_arm(parser)
    add_reading(parser)
    add_answer(parser)


def run(args: Namespace) -> int:
    """Check and print the defects; status 1 if one of them spoils what would be identified."""
    from dynid_ros.arm import load_arm
    from dynid_ros.data.recordings.clock import with_one_clock
    from dynid_ros.interface.cli.common.summary import defect_notes
    from dynid_ros.interface.python.identification import check_recording
    from dynid_ros.utilities.text import counted, several

    arm = load_arm(args.arm)
    recording = read_recording(args, args.recording, arm)
    defects = check_recording(recording, arm)
    seconds = with_one_clock(recording).seconds
    found = {severity: [defect for defect in defects if defect.severity == severity]
             for severity in ('error', 'warning')}
    counts = [counted(len(each), severity) for severity, each in found.items() if each]
    of_what = (f'{len(recording.t)} samples of {counted(arm.n, "joint")} in {seconds:.1f} s, '
               f'{several(counts or ["no defect"])}')
    answer(args, {
        'arm': arm.name, 'samples': len(recording.t), 'seconds': seconds,
        'defects': [defect.as_dict() for defect in defects],
    }, f'{"Not usable as it is" if found["error"] else "Usable"}: {of_what}.',
        notes=defect_notes(defects))
    return int(bool(found['error']))
