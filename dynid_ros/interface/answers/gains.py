# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Answer for drive gains, beside those of the arm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

from dynid_ros.arm.drive import OPEN
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.estimation.calibration.gain_verdict import (
    DriveGains,
    NOT_DETERMINED,
    REFERENCE_CODE,
    ROUGH,
)
from dynid_ros.estimation.estimate.possible_parameters import source_of
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.utilities.text import sentence, several

#: Units of the signals; an effort in Nm has a gain without one.
SIGNAL_UNITS = {'current': 'A', 'voltage': 'V', 'command': 'rad'}


def gain_answer(
    found: DriveGains, arm: ArmModel, unwritten: Sequence[str] = (), wrote: Sequence[Path] = (),
) -> Answer:
    """State which gains the data refute; status 1 if they refute one, or determine none."""
    unstated = arm.drive.scale == OPEN
    refuted = list(compress(found.joint_names, found.refuted))
    joints, reference = gain_joints(found), found.logarithms.reference
    facts = {
        'arm': arm.name, 'signal': arm.drive.signal, 'trustworthy': not found.objection,
        'reference': None if reference is None else found.joint_names[reference],
        'joints': joints, 'written': wrote[0] if wrote else None,
        **{key: getattr(found, key) for key in (
            'friction', 'mass', 'stated_error_percent', 'error_percent', 'notes', 'objection')}}
    against = f'the stated gain of {several(refuted)}' if refuted else 'no stated gain'
    return Answer(
        facts, f'Not trustworthy: {sentence(found.objection)}' if found.objection else
        'arm.yaml states no kp, which the data give as below.' if unstated else
        f'The data refute {against}.',
        int(bool((refuted and not unstated) or found.objection)), gain_table(arm, joints),
        [*unwritten, *_notes(found)], [f'Friction: {", ".join(found.friction) or "none"}.'], wrote)


def unknown_gains(found: DriveGains, arm: ArmModel) -> list[str]:
    """Return joints without a gain: nobody states it, and no load gave it."""
    if arm.drive.scale != OPEN:
        return []
    return [name for name, known in zip(found.joint_names, found.known, strict=True)
            if found.mass is None or not known]


def gain_joints(found: DriveGains) -> list[dict[str, Any]]:
    """Return the gain of each joint under stable keys."""
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
