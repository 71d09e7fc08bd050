"""Recordings in tables: text, npz, npy and MAT files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.in_blocks import Mask
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.recordings.stamp_checks import THRESHOLDS
from dynid_ros.data.recordings.stamp_unit import likely_unit
from dynid_ros.data.recordings.stamp_unit import THRESHOLDS as RATES
from dynid_ros.data.recordings.stamp_unit import UNITS as STAMP_UNITS
from dynid_ros.data.tables.column_choice import DOCUMENTED, Family, TIME_NAMES
from dynid_ros.data.tables.column_words import Column, SIGNALS, UNITS
from dynid_ros.data.tables.parts import guesses, parts_of
from dynid_ros.errors import RecordingError
from dynid_ros.utilities.arrays import Array

# Distance from the middle stamp beyond which the first one is no start to count from: differences
# of that size keep a tenth of a microsecond, and no recording lasts for decades.
FARTHEST = 1e9
#: Stamps that tell their unit.
MOST_STAMPS = 10_000
#: Seconds since 1970 of a clock that is set: from 2001 to 2096.
CLOCK = (1e9, 4e9)


def read_table(
    path: Path, arm: ArmModel, *, rate_hz: float | None = None,
) -> tuple[Array, Array, Array, Array | None, tuple[Defect, ...]]:
    """
    Read the columns that ``arm.table`` names, else those whose names say what they hold.

    Parameters
    ----------
    path : Path
        File.
    arm : ArmModel
        Joint names and table settings.
    rate_hz : float or None
        Sample rate where there is no time column, Hz; overrides that of the arm.

    Returns
    -------
    t : (N,) ndarray
        Time from the first row, s.
    q, u : (N, n) ndarray
        Positions and drive signals as recorded.
    qd : (N, n) ndarray or None
        Velocities as recorded, where there are any.
    defects : tuple of Defect
        Defects of the files, and guesses.

    Raises
    ------
    RecordingError
        The file, a column or a cell is missing or unusable.

    """
    parts = parts_of(path, arm)
    data: dict[str, Array] = {}
    times: list[tuple[Array, float] | None] = []
    defects: list[Defect] = []
    guessed = guesses(parts, arm)
    bad: Mask = np.zeros(0, dtype=np.bool_)
    for table, columns in parts:
        wanted = {name: family for name, family in columns.items() if name != 'time'}
        time = [column.name for column in columns['time']]
        read = table.read([column.name for family in wanted.values() for column in family], time)
        times.append(_seconds(read.take(time), columns['time'], guessed) if time else None)
        values = {name: _in_units(read.take([column.name for column in family]), name, family, arm)
                  for name, family in wanted.items()}
        if data:
            values, unreadable = _at_rows(
                path, table.path, (times[0], len(bad)), (times[1], values, read.unreadable))
            bad = bad | unreadable
        else:
            bad = read.unreadable
        data |= values
        defects += read.defects
    q, qd, u = data['position'], data.get('velocity'), data['signal']
    t = _from_start(path, arm, times[0] and times[0][0], len(q), rate_hz)
    if bad.any():
        t, q, u = (x[~bad] for x in (t, q, u))
        qd = None if qd is None else qd[~bad]
    if guessed:
        defects.append(Defect(
            'columns_guessed', 'info', f'The names of the columns give {"; ".join(guessed)}. '
            'State what differs under table in arm.yaml.'))
    return t, q, u, qd, (*defects, *_other_signal(parts[-1][1]['signal'][0], arm))


def _at_rows(
    path: Path, other: Path, first: tuple[tuple[Array, float] | None, int],
    second: tuple[tuple[Array, float] | None, dict[str, Array], Mask],
) -> tuple[dict[str, Array], Mask]:
    """Bring the values of a second table to the rows of the first, by the times of both."""
    (time, rows), (times, values, bad) = first, second
    if time is None or times is None:
        if len(bad) != rows:
            raise RecordingError(f'{path}: {rows} rows of positions but {len(bad)} rows of '
                                 f'signals in {other.name}')
        return values, bad
    t, own = time[0], times[0] + (times[1] - time[1])
    if np.array_equal(own, t):
        return values, bad
    order = np.flatnonzero(~bad)[np.argsort(own[~bad], kind='stable')]
    own, values = own[order], {name: x[order] for name, x in values.items()}
    place = np.clip(np.searchsorted(own, t), 1, len(own) - 1)
    far = (t < own[0]) | (t > own[-1])
    far |= own[place] - own[place - 1] > THRESHOLDS.gap_seconds
    if far.all():
        raise RecordingError(f'{path} and {other.name} have no time in common; let both log by '
                             'one clock')
    return {name: np.column_stack([np.interp(t, own, column) for column in x.T])
            for name, x in values.items()}, far


def _in_units(x: Array, quantity: str, family: Family, arm: ArmModel) -> Array:
    """Turn values into rad, m, rad/s, m/s or the unit of the drive signal."""
    factors = np.array([_factor(column, quantity, arm) for column in family])
    if quantity != 'signal' and arm.table.unit == 'deg':
        factors = np.where(arm.prismatic, factors, np.pi / 180)
    return x if (factors == 1).all() else x * factors


def _factor(column: Column, quantity: str, arm: ArmModel) -> float:
    if quantity != 'signal':
        return 1.0 if arm.table.unit == 'rad' else UNITS[quantity].get(column.unit, 1.0)
    return next((UNITS[kind][column.unit] for kind in SIGNALS[:3] if column.unit in UNITS[kind]),
                1.0)


def _seconds(time: Array, columns: Family, guessed: list[str]) -> tuple[Array, float]:
    """Turn one column of time, or seconds and nanoseconds, into seconds from about the start."""
    start = _start(time[:, 0])
    values = time[:, 0] - start
    if len(columns) == 2:
        return values + 1e-9 * time[:, 1], start
    factor = UNITS['time'].get(columns[0].unit)
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
    low, high = RATES.range_hz
    usual = {unit: factor for unit, factor in {'s': 1.0, **STAMP_UNITS}.items()
             if low <= 1 / (step * factor) <= high}
    clock = [unit for unit, factor in usual.items()
             if CLOCK[0] <= middle * factor <= CLOCK[1]]
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
    if len(time) and np.ptp(time) <= FARTHEST:
        return float(time[0])
    finite = time[np.isfinite(time)]
    if not len(finite):
        return 0.0
    middle = np.partition(finite, len(finite) // 2)[len(finite) // 2]
    with np.errstate(over='ignore'):
        start: float = finite[np.abs(finite - middle) <= FARTHEST][0]
    return start


def _other_signal(column: Column, arm: ArmModel) -> list[Defect]:
    """Warn of a drive signal of another kind than that of the arm, as its name or unit says."""
    kinds = [kind for kind in SIGNALS[:3] if column.unit in UNITS[kind]]
    kind = kinds[0] if kinds else column.quantity
    if column.name in arm.table.signal or kind in (arm.drive.signal, 'signal', ''):
        return []
    if not kinds and DOCUMENTED.fullmatch(column.pattern):
        return []
    text = (f'{column.name} seems to be a {"torque" if kind == "effort" else kind}, and arm.yaml '
            f'states drive signals of the kind {arm.drive.signal}: state '
            f'drive: {{signal: {kind}, ...}} with its gains.')
    return [Defect('signal_kind', 'warning', text)]
