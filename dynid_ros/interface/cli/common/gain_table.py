"""Drive gains as a table and as JSON."""

from __future__ import annotations

from typing import Any

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.estimation.calibration.gain_verdict import (
    DriveGains,
    NOT_DETERMINED,
    REFERENCE,
    ROUGH,
)
from dynid_ros.estimation.model.standard_parameters import source_of
from dynid_ros.utilities.text import sentence, several

#: Units of the signals; an effort in Nm has a gain without one.
_SIGNALS = {'current': 'A', 'voltage': 'V'}


def gain_line(found: DriveGains) -> str:
    """State in a line whether the data refute stated gains."""
    refuted = [name for name, one in zip(found.joint_names, found.refuted, strict=True) if one]
    if found.objection:
        return f'Not trustworthy: {sentence(found.objection)}'
    return (f'The data refute the stated gain of {several(refuted)}.' if refuted else
            'The data refute no stated gain.')


def gain_table(arm: ArmModel, found: DriveGains) -> list[list[str]]:
    """Gains joint by joint."""
    table = [['joint', 'stated', 'found by stated', 'gain', 'verdict']]
    rows = zip(found.joint_names, found.stated, found.ratio, found.ratio_std, found.gain,
               _units(arm), found.verdicts, *found.interval, found.logarithms.from_data,
               strict=True)
    for name, stated, ratio, std, gain, unit, verdict, low, high, from_data in rows:
        known = verdict != NOT_DETERMINED
        remark = {NOT_DETERMINED: _how_open(std / ratio, from_data),
                  ROUGH: f' ({low:.3f} to {high:.3f})'}.get(verdict, '')
        table.append([
            name, f'{stated:.5g}',
            f'{ratio:.4f} ± {std:.4f}' if known and verdict != REFERENCE else '',
            f'{gain:.5g} {unit}'.strip() if known else '', verdict + remark])
    return table


def gain_notes(found: DriveGains) -> list[str]:
    """List what a user should know of the gains."""
    reference = found.logarithms.reference
    alone = ('Without a weighed load the data give ratios of gains only: the gain of '
             f'{found.joint_names[reference]} is taken as stated.' if reference is not None else
             f'The load of {found.mass:g} kg gives the gains themselves.')
    return [f'The fit leaves {found.stated_error_percent:.1f} % of the torque with the gains '
            f'stated, and {found.error_percent:.1f} % with the gains found.', alone,
            *map(sentence, found.notes)]


def gain_details(found: DriveGains) -> list[str]:
    """State how the gains were found."""
    return [f'Friction: {", ".join(found.friction) or "none"}.']


def _units(arm: ArmModel) -> list[str]:
    signal = _SIGNALS.get(arm.drive.signal)
    return [f'{unit}/{signal}' if signal else '' for unit in torque_units(arm)]


def _how_open(share: float, from_data: bool) -> str:
    return f' (± {100 * share:.0f} %)' if from_data else f' (source: {source_of(False)})'


def gains_as_dict(arm: ArmModel, found: DriveGains) -> dict[str, Any]:
    """Return the same facts under stable keys."""
    reference = found.logarithms.reference
    joints = zip(found.joint_names, found.stated, found.ratio, found.ratio_std, *found.interval,
                 found.gain, found.verdicts, found.logarithms.from_data, strict=True)
    return {
        'arm': arm.name,
        'signal': arm.drive.signal,
        'friction': list(found.friction),
        'mass': found.mass,
        'reference': None if reference is None else found.joint_names[reference],
        'stated_error_percent': found.stated_error_percent,
        'error_percent': found.error_percent,
        'notes': list(found.notes),
        'trustworthy': not found.objection,
        'objection': found.objection,
        'joints': [
            {'name': name, 'stated': float(stated),
             'ratio': float(ratio), 'ratio_std': float(std), 'source': source_of(from_data),
             'interval_95': None if verdict == NOT_DETERMINED else [float(low), float(high)],
             'gain': None if verdict == NOT_DETERMINED else float(gain), 'verdict': verdict}
            for name, stated, ratio, std, low, high, gain, verdict, from_data in joints],
    }
