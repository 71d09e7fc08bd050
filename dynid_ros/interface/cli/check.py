"""
Report the defects of a recording.

Check the stamps, names and values of a recording for defects, and the unit and gains of the drive
signals against it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dynid_ros.interface.cli.common.arguments import add_arm, reading
from dynid_ros.interface.cli.common.output import Answer


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('recording', type=Path, metavar='BAG')
    add_arm(parser)


def run(args: Namespace) -> Answer:
    """Find the defects; status 1 if one of them spoils what would be identified."""
    from dynid_ros.arm import load_arm
    from dynid_ros.data.recordings.clock import with_one_clock
    from dynid_ros.interface.cli.common.summary import defect_notes
    from dynid_ros.interface.python.identification import check_recording, read_recording
    from dynid_ros.utilities.text import counted, several

    arm = load_arm(args.arm)
    recording = read_recording(args.recording, arm, **reading(args))
    defects = check_recording(recording, arm)
    seconds = with_one_clock(recording).seconds
    errors, warnings = (sum(each.severity == severity for each in defects)
                        for severity in ('error', 'warning'))
    counts = [counted(number, noun) for number, noun in (
        (errors, 'error'), (warnings, 'warning')) if number]
    return Answer(
        {'arm': arm.name, 'samples': len(recording.t), 'seconds': seconds, 'defects': defects},
        f'{"Not usable as it is" if errors else "Usable"}: {len(recording.t)} samples of '
        f'{counted(arm.n, "joint")} in {seconds:.1f} s, {several(counts or ["no defect"])}.',
        status=int(errors > 0), notes=defect_notes(defects))
