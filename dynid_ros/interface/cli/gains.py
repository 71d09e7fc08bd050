# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Find drive gains from recordings.

Find the ratios of the drive gains from recordings in which all joints move, and the gains
themselves from further ones with a load of known mass. Status 1 if the data refute a gain that the
arm states, or determine none.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from itertools import compress
from pathlib import Path
from typing import Any, TYPE_CHECKING

from dynid_ros.errors import InputError
from dynid_ros.interface.cli.common.arguments import add_described, ARM_AND_READING, given
from dynid_ros.interface.cli.common.output import Answer
from dynid_ros.utilities.text import sentence, several

if TYPE_CHECKING:
    from dynid_ros.arm.model import ArmModel
    from dynid_ros.estimation.calibration.gain_verdict import DriveGains

#: Units of the signals; an effort in Nm has a gain without one.
SIGNAL_UNITS = {'current': 'A', 'voltage': 'V', 'command': 'rad'}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_described(parser, 'gains', {
        'recordings': 'BAG', 'loaded': '--loaded BAG', **ARM_AND_READING, 'mass': '--mass KG',
        'friction': '--friction TERMS'})
    parser.add_argument(
        '--write', type=Path, metavar='FILE',
        help='write a copy of the arm.yaml with the gains found for those that the data refute')


def run(args: Namespace) -> Answer:
    """Find the gains, and write them into a copy of the arm."""
    from dynid_ros.arm import load_arm
    from dynid_ros.arm.drive import OPEN
    from dynid_ros.arm.drive_file import check_copy, write_copy
    from dynid_ros.interface.python.identification import gains

    if bool(args.loaded) != (args.mass is not None):
        raise InputError('--loaded and --mass belong together; give the recording with the load '
                         'and the mass of the load')
    arm = load_arm(args.arm)
    if args.write:
        check_copy(args.arm, args.write)
    found = gains(**given(args) | {'arm': arm})
    unstated, wrote = arm.drive.scale == OPEN, []
    # What nobody states, and no load gave, is no gain.
    lacking = list(compress(found.joint_names, ~found.known)) if unstated else []
    if unstated and args.mass is None:
        lacking = list(found.joint_names)
    if args.write and not found.objection and not lacking:
        write_copy(args.arm, found.gain, args.write)
        wrote = [args.write]
    unwritten = [f'{args.write} is not written.' if found.objection else
                 f'{args.write} is not written: kp of {several(lacking)} is not known in Nm/rad.'
                 ] if args.write and not wrote else []
    refuted = list(compress(found.joint_names, found.refuted))
    joints, reference = gain_joints(found), found.logarithms.reference
    facts = {
        'arm': arm.name, 'signal': arm.drive.signal, 'trustworthy': not found.objection,
        'reference': None if reference is None else found.joint_names[reference],
        'joints': joints, 'written': args.write if wrote else None,
        **{key: getattr(found, key) for key in (
            'friction', 'mass', 'stated_error_percent', 'error_percent', 'notes', 'objection')}}
    against = f'the stated gain of {several(refuted)}' if refuted else 'no stated gain'
    return Answer(
        facts, f'Not trustworthy: {sentence(found.objection)}' if found.objection else
        'arm.yaml states no kp, which the data give as below.' if unstated else
        f'The data refute {against}.',
        int(bool((refuted and not unstated) or found.objection)), gain_table(arm, joints),
        [*unwritten, *_notes(found)], [f'Friction: {", ".join(found.friction) or "none"}.'], wrote)


def gain_joints(found: DriveGains) -> list[dict[str, Any]]:
    """Return the gain of each joint under stable keys."""
    from dynid_ros.estimation.calibration.gain_verdict import NOT_DETERMINED
    from dynid_ros.estimation.estimate.possible_parameters import source_of

    rows = zip(found.joint_names, found.stated, found.ratio, found.ratio_std, found.verdicts,
               map(source_of, found.logarithms.from_data), zip(*found.interval, strict=True),
               found.gain, strict=True)
    return [
        {'name': name, 'stated': stated, 'ratio': ratio, 'ratio_std': std, 'source': source,
         'interval_95': None if verdict == NOT_DETERMINED else interval,
         'gain': None if verdict == NOT_DETERMINED else gain, 'verdict': verdict}
        for name, stated, ratio, std, verdict, source, interval, gain in rows]


def gain_table(arm: ArmModel, joints: list[dict[str, Any]]) -> list[list[str]]:
    """Gains joint by joint."""
    from dynid_ros.arm.parameters import torque_units
    from dynid_ros.estimation.calibration.gain_verdict import NOT_DETERMINED, REFERENCE_CODE, ROUGH
    from dynid_ros.estimation.estimate.possible_parameters import source_of

    table, signal = [['joint', 'stated', 'found by stated', 'gain', 'verdict']], arm.drive.signal
    for each, torque in zip(joints, torque_units(arm), strict=True):
        verdict, ratio, std = (each[key] for key in ('verdict', 'ratio', 'ratio_std'))
        found = gain = remark = ''
        if verdict == NOT_DETERMINED:
            remark = (f' (± {100 * std / ratio:.0f} %)' if each['source'] == source_of(True) else
                      f' (source: {each["source"]})')
        else:
            unit = f'{torque}/{SIGNAL_UNITS[signal]}' if signal in SIGNAL_UNITS else ''
            # A drive that slides follows a distance.
            unit = 'N/m' if unit == 'N/rad' else unit
            gain = f'{each["gain"]:.5g} {unit}'.strip()
            found = '' if verdict == REFERENCE_CODE else f'{ratio:.4f} ± {std:.4f}'
        if verdict == ROUGH:
            remark = ' ({:.3f} to {:.3f})'.format(*each['interval_95'])
        table.append([each['name'], f'{each["stated"]:.5g}', found, gain, verdict + remark])
    return table


def _notes(found: DriveGains) -> Iterator[str]:
    """List remarks on the gains."""
    reference = found.logarithms.reference
    yield (f'The fit leaves {found.stated_error_percent:.1f} % of the torque with the gains '
           f'stated, and {found.error_percent:.1f} % with the gains found.')
    yield ('Without a weighed load the data give ratios of gains only: the gain of '
           f'{found.joint_names[reference]} is taken as stated.' if reference is not None else
           f'The load of {found.mass:g} kg gives the gains themselves.')
    yield from map(sentence, found.notes)
