"""Drive gains as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
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

#: Units of the signals; an effort in Nm has a gain without one.
_SIGNALS = {'current': 'A', 'voltage': 'V'}


def gain_lines(arm: ArmModel, found: DriveGains) -> Iterable[str]:
    """Lines for users."""
    width = max(len(name) for name in (*found.joint_names, 'joint'))
    reference = found.logarithms.reference
    yield f'{arm.name}: drive gains, with friction {", ".join(found.friction) or "none"}'
    yield (f'the fit leaves {found.stated_error_percent:.1f} % of the torque with the gains '
           f'stated, and {found.error_percent:.1f} % with those found')
    yield from found.notes
    if reference is None:
        yield f'a load of {found.mass:g} kg gives the gains themselves'
    else:
        yield (f'recordings without a weighed load give ratios of gains only: that of '
               f'{found.joint_names[reference]} is taken as stated')
    yield f'{"joint":{width}}{"stated":>10}{"found by stated":>20}{"gain":>14}  verdict'
    rows = zip(found.joint_names, found.stated, found.ratio, found.ratio_std, found.gain,
               _units(arm), found.verdicts, *found.interval, found.logarithms.from_data,
               strict=True)
    for name, stated, ratio, std, gain, unit, verdict, low, high, from_data in rows:
        share = '' if verdict in (REFERENCE, NOT_DETERMINED) else f'{ratio:.4f} ± {std:.4f}'
        value = '' if verdict == NOT_DETERMINED else f'{gain:.5g} {unit}'
        remark = {NOT_DETERMINED: _how_open(std / ratio, from_data),
                  ROUGH: f' ({low:.3f} to {high:.3f})'}.get(verdict, '')
        yield f'{name:{width}}{stated:10.5g}{share:>20}{value:>14}  {verdict}{remark}'
    yield from _verdict(found)


def _units(arm: ArmModel) -> list[str]:
    signal = _SIGNALS.get(arm.drive.signal)
    return [f'{unit}/{signal}' if signal else '' for unit in torque_units(arm)]


def _how_open(share: float, from_data: bool) -> str:
    return f' (± {100 * share:.0f} %)' if from_data else f' (source: {source_of(False)})'


def _verdict(found: DriveGains) -> Iterable[str]:
    refuted = [name for name, one in zip(found.joint_names, found.refuted, strict=True) if one]
    if found.objection:
        yield f'verdict: NOT trustworthy: {found.objection}'
    elif refuted:
        yield f'verdict: the data refute the stated gain of {", ".join(refuted)}'
    else:
        yield 'verdict: the data refute no stated gain'


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
