# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Recordings in tables: text, npz, npy and MAT files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dynid_ros.arm.description.schema import ANGLE_UNITS
from dynid_ros.arm.drive import COMMAND
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.settings import DRIVE_GAINS, PERCENT, TABLE_UNITS
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.data.recordings.stamp_unit import likely_unit, RANGE_HZ, STAMP_UNITS
from dynid_ros.data.tables.column_choice import Family
from dynid_ros.data.tables.column_words import Column, COLUMN_UNITS, SIGNAL_WORDS, TIME_NAMES
from dynid_ros.data.tables.lerobot_table import data_set_of
from dynid_ros.data.tables.separate_rows import between, too_far, with_joined_rows
from dynid_ros.data.tables.table_files import guesses, parts_of
from dynid_ros.data.tables.text_table import Table
from dynid_ros.errors import ArmError, RecordingError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import Mask, span_and_finite

# Distance from the middle stamp beyond which the first one is no start to count from: differences
# of that size keep a tenth of a microsecond, and no recording lasts for decades.
FARTHEST = 1e9
#: Stamps whose size shows their unit.
MOST_STAMPS = 10_000
#: Seconds since 1970 of a clock that is set: from 2001 to 2096.
EPOCH_SECONDS = (1e9, 4e9)


def read_table(path: Path, arm: ArmModel, *, rate_hz: float | None = None) -> Recording:
    """
    Read the columns that ``arm.table`` names, else those whose names say what they hold.

    Parameters
    ----------
    path : Path
        File.
    arm : ArmModel
        Joint names and table settings.
    rate_hz : float or None
        Sample rate where there is no time column, Hz; overrides the arm's.

    Returns
    -------
    Recording
        Values as recorded, and guesses among the defects.

    Raises
    ------
    RecordingError
        The file, a column or a cell is missing or unusable.

    """
    parts = parts_of(path, arm)
    if data_set_of(path) is not None and arm.table.unit is None:
        raise RecordingError(
            f'{path} is a data set of LeRobot, which does not state the unit of positions; state '
            f'it in arm.yaml, table: {{unit: ...}}, as one of {", ".join(TABLE_UNITS)}')
    guessed = guesses(parts, arm)
    data, start, bad, defects = _values(*parts[0], arm, guessed)
    t = data.pop('time', None)
    if t is not None and {'position', 'signal'} <= set(data):
        data, bad, joined = with_joined_rows(t, data, bad)
        defects = [*defects, *joined]
    for table, columns in parts[1:]:
        values, other_start, unreadable, found = _values(table, columns, arm, guessed)
        own = values.pop('time', None)
        if t is not None and own is not None:
            (name, x), = values.items()
            values[name], unreadable = _at_times(
                path, table.path, t, own + (other_start - start), x, unreadable)
        elif len(unreadable) != len(bad):
            raise RecordingError(
                f'{path}: {len(bad)} rows of positions but {len(unreadable)} rows of '
                f'{"signals" if "signal" in values else [*columns][-1]} in {table.path.name}')
        elif own is not None:
            t, start = own, other_start
        data, bad, defects = {**data, **values}, bad | unreadable, [*defects, *found]
    if guessed:
        defects = [*defects, Defect(
            'columns_guessed', 'info', f'The names of the columns give {"; ".join(guessed)}. '
            'State what differs under table in arm.yaml.')]
    signal = next(columns['signal'][0] for _, columns in parts if 'signal' in columns)
    data['time'] = _from_start(path, arm, t, len(bad), rate_hz)
    data = {name: x[~bad] for name, x in data.items()} if bad.any() else data
    return Recording(
        data['time'], data['position'], data['signal'], arm.joint_names, arm.drive.signal,
        str(path), data.get('velocity'),
        (*defects, *_other_signal(signal, arm)), as_logged=True)


def _values(
    table: Table, columns: dict[str, Family], arm: ArmModel, guessed: list[str],
) -> tuple[dict[str, Array], float, Mask, Sequence[Defect]]:
    """Read values in SI units by quantity, time from a start if there is any, and the start, s."""
    data, bad, defects = table.read(columns)
    time, start = data.pop('time'), 0.0
    data = {name: _in_units(x, name, columns[name], arm) for name, x in data.items()}
    if columns['time']:
        data['time'], start = _seconds(time, columns['time'], guessed)
    return data, start, bad, defects


def _at_times(
    path: Path, other: Path, t: Array, own: Array, u: Array, bad: Mask,
) -> tuple[Array, Mask]:
    """Bring the drive signals of a second table to the times of the first."""
    if np.array_equal(own, t):
        return u, bad
    own, u = own[~bad], u[~bad]
    far = too_far(own, t)
    if far.all():
        raise RecordingError(f'{path} and {other.name} have no time in common; let both log by '
                             'one clock')
    return np.column_stack([between(own, column, t, smooth=False) for column in u.T]), far


def _in_units(x: Array, quantity: str, family: Family, arm: ArmModel) -> Array:
    """Turn values into rad, m, rad/s, m/s or the unit of the drive signal."""
    if quantity == 'signal' and arm.drive.signal == COMMAND:
        quantity = 'position'
    known = {unit: factor for kind in (SIGNAL_WORDS[:3] if quantity == 'signal' else [quantity])
             for unit, factor in COLUMN_UNITS[kind].items()}
    factors = np.array([known.get(column.unit, 1.0) for column in family])
    if quantity != 'signal' and arm.table.unit is not None:
        return of_unit(x, quantity, arm, factors)
    if np.isnan(factors).any():
        raise RecordingError(
            f'{family[0].name} is in {family[0].unit}, a unit without a size of its own; convert '
            'it to rad, deg or m, or state table.unit in arm.yaml (rad where drive.transmission '
            'converts it)')
    return x if (factors == 1).all() else x * factors


def of_unit(x: Array, quantity: str, arm: ArmModel, sliding: Array | float = 1.0) -> Array:
    """
    Turn positions or velocities into rad and m by the unit that the arm states for tables.

    Parameters
    ----------
    x : (N, n) ndarray
        Values.
    quantity : str
        ``position`` or ``velocity``.
    arm : ArmModel
        ``table.unit``; the limits are the ends of a range in per cent.
    sliding : (n,) ndarray or float
        Factors of prismatic joints for rad or deg.

    Raises
    ------
    ArmError
        A joint has no limits that per cent could be of.

    """
    unit = arm.table.unit or 'rad'
    if unit != PERCENT:
        return np.asarray(x * np.where(arm.prismatic, sliding, ANGLE_UNITS[unit]))
    low, high = arm.limits.lower, arm.limits.upper
    for name, wide in zip(arm.joint_names, np.isfinite(high - low), strict=True):
        if not wide:
            raise ArmError(
                f"'{arm.name}': joint '{name}' has no position limits, so that table.unit: "
                'percent is of no range; give limits.lower and limits.upper of arm.yaml as '
                'calibrated')
    half = (high - low) / 2
    return np.asarray(x * (half / 100) + ((high + low) / 2 if quantity == 'position' else 0.0))


def _seconds(time: Array, columns: Family, guessed: list[str]) -> tuple[Array, float]:
    """Turn one column of time, or seconds and nanoseconds, into seconds from about the start."""
    start = _start(time[:, 0])
    values = time[:, 0] - start
    if len(columns) == 2:
        return values + 1e-9 * time[:, 1], start
    factor = COLUMN_UNITS['time'].get(columns[0].unit)
    if factor is None:
        unit = _unit_of(time[:, 0])
        if unit is not None:
            guessed.append(f'{columns[0].name} is in {unit}')
        factor = 1.0 if unit is None else STAMP_UNITS[unit]
    return values if factor == 1.0 else values * factor, start * factor


def _unit_of(time: Array) -> str | None:
    """Find the unit of stamps that are none in seconds, by their step and by their clock."""
    some = time[:MOST_STAMPS]
    steps = np.abs(np.diff(some[np.isfinite(some)]))
    if not steps.any():
        return None
    step, middle = float(np.median(steps[steps > 0])), float(np.nanmedian(some))
    low, high = RANGE_HZ
    usual = {unit: factor for unit, factor in {'s': 1.0, **STAMP_UNITS}.items()
             if low <= 1 / (step * factor) <= high}
    clock = [unit for unit, factor in usual.items()
             if EPOCH_SECONDS[0] <= middle * factor <= EPOCH_SECONDS[1]]
    unit = clock[0] if clock else None if 's' in usual else likely_unit(step)
    return None if unit == 's' else unit


def _from_start(
    path: Path, arm: ArmModel, time: Array | None, rows: int, rate: float | None
) -> Array:
    if time is not None:
        return time - _start(time)
    rate = rate if rate is not None else arm.table.rate_hz
    if rate is None:
        raise RecordingError(
            f'{path} has no time column ({", ".join(TIME_NAMES)}) and arm.yaml no table.rate_hz; '
            'name the column in table.time, or give the rate in Hz, such as '
            'table: {rate_hz: 100}')
    return np.arange(rows) / rate


def _start(time: Array) -> float:
    """First stamp that is not absurdly far from the others: it would cost them their digits."""
    (lowest, highest), all_known = span_and_finite(time[:, None])
    with np.errstate(over='ignore'):
        if len(time) and all_known and highest[0] - lowest[0] <= FARTHEST:
            return float(time[0])
        finite = time[np.isfinite(time)]
        if not len(finite):
            return 0.0
        middle = np.partition(finite, len(finite) // 2)[len(finite) // 2]
        # The middle stamp is one of them.
        return float(finite[np.argmax(np.abs(finite - middle) <= FARTHEST)])


def _other_signal(column: Column, arm: ArmModel) -> list[Defect]:
    """Warn of a drive signal of another kind than the arm's, as its name or unit says."""
    kinds = [kind for kind in SIGNAL_WORDS[:3] if column.unit in COLUMN_UNITS[kind]]
    kind = kinds[0] if kinds else column.quantity
    if arm.drive.signal == COMMAND or column.name in arm.table.signal or kind in (
            arm.drive.signal, 'signal', ''):
        return []
    if not kinds and column.documented:
        return []
    keys = ', '.join([f'signal: {kind}', *(f'{key}: [...]' for key in DRIVE_GAINS[kind])])
    text = (f'{column.name} seems to be a {"torque" if kind == "effort" else kind}, and arm.yaml '
            f'states drive signals of the kind {arm.drive.signal}: state drive: {{{keys}}}.')
    return [Defect('signal_kind', 'warning', text)]
