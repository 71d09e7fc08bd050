# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Report the defects of a recording.

Check the stamps, names and values of a recording for defects, and the delay, unit and gains of the
drive signals against it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter

from dynid_ros.interface.cli.common.arguments import add_described, ARM_AND_READING, given
from dynid_ros.interface.cli.common.output import Answer


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'read_recording', {'path': 'BAG', **ARM_AND_READING})


def run(args: Namespace) -> Answer:
    """Find the defects; status 1 if one of them spoils an identification."""
    from dynid_ros.arm import load_arm
    from dynid_ros.interface.cli.common.summary import defect_notes, recording_as_dict
    from dynid_ros.interface.python.identification import check_recording, read_recording
    from dynid_ros.utilities.text import counted, several

    arm = load_arm(args.arm)
    recording = read_recording(**given(args) | {'arm': arm})
    defects = check_recording(recording, arm)
    facts = recording_as_dict(recording, arm)
    number = Counter(each.severity for each in defects)
    counts = [counted(number[kind], kind) for kind in ('error', 'warning') if number[kind]]
    return Answer(
        {**facts, 'defects': defects},
        f'{"Not usable as it is" if number["error"] else "Usable"}: {len(recording.t)} samples of '
        f'{counted(arm.n, "joint")} in {facts["seconds"]:.1f} s, '
        f'{several(counts or ["no defect"])}.',
        status=int(number['error'] > 0), notes=defect_notes(defects))
