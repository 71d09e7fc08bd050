"""Recordings in tables: text, npz, npy and MAT files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.arrays import Array
from dynid_ros.errors import RecordingError
from dynid_ros.recordings.in_blocks import chosen, Mask, transformed
from dynid_ros.recordings.recording import Defect
from dynid_ros.recordings.stamp_checks import THRESHOLDS
from dynid_ros.recordings.stamp_unit import likely_unit
from dynid_ros.recordings.stamp_unit import THRESHOLDS as RATES
from dynid_ros.recordings.stamp_unit import UNITS as STAMP_UNITS
from dynid_ros.tables.array_table import ArrayTable, open_arrays
from dynid_ros.tables.column_choice import Choice, DOCUMENTED, Family, role, summary, TIME_NAMES
from dynid_ros.tables.column_words import (
    Column,
    FILLERS,
    plain,
    SIGNALS,
    tokens,
    UNITS,
    WORDS,
)
from dynid_ros.tables.text_table import open_text, TextTable

ARRAY_SUFFIXES = ('.npz', '.npy', '.mat')
TEXT_SUFFIXES = ('.csv', '.tsv', '.txt', '.dat')
TABLE_SUFFIXES = (*TEXT_SUFFIXES, *ARRAY_SUFFIXES)
# Distance from the middle stamp beyond which the first one is no start to count from: differences
# of that size keep a tenth of a microsecond, and no recording lasts for decades.
FARTHEST = 1e9
#: Stamps that tell their unit.
MOST_STAMPS = 10_000
#: Seconds since 1970 of a clock that is set: from 2001 to 2096.
CLOCK = (1e9, 4e9)


@dataclass(frozen=True)
class Chosen:
    """
    The columns of a recording.

    Attributes
    ----------
    tables : tuple of (TextTable or ArrayTable, dict of str to list of Column)
        Each file with the columns of it by quantity; the drive signal may have one of its own.
    guesses : tuple of str
        Choices that neither the arm nor the documents make.

    """

    tables: tuple[tuple[TextTable | ArrayTable, dict[str, Family]], ...]
    guesses: tuple[str, ...]


def open_table(path: Path, header: Sequence[str] = ()) -> TextTable | ArrayTable:
    """
    Find the columns of a table.

    Parameters
    ----------
    path : Path
        File.
    header : sequence of str
        Names of columns that have none.

    Raises
    ------
    RecordingError
        The file cannot be read.

    """
    arrays = path.suffix.lower() in ARRAY_SUFFIXES
    return open_arrays(path, header) if arrays else open_text(path, header)


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
    choice = _choose(path, arm)
    data: dict[str, Array] = {}
    times: list[tuple[Array, float] | None] = []
    defects: list[Defect] = []
    guesses = [*choice.guesses]
    bad: Mask = np.zeros(0, dtype=np.bool_)
    for table, columns in choice.tables:
        wanted = {name: family for name, family in columns.items() if name != 'time'}
        time = [column.name for column in columns['time']]
        read = table.read([column.name for family in wanted.values() for column in family], time)
        times.append(_seconds(read.take(time), columns['time'], guesses) if time else None)
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
        t, q, u = (chosen(x, ~bad) for x in (t, q, u))
        qd = None if qd is None else chosen(qd, ~bad)
    if guesses:
        defects.append(Defect(
            'columns_guessed', 'info', f'guessed from the names: {"; ".join(guesses)}. State '
            'what differs under table in arm.yaml.'))
    return t, q, u, qd, (*defects, *_other_signal(choice, arm))


def _choose(path: Path, arm: ArmModel) -> Chosen:
    """Choose the columns, and the file of the drive signals."""
    table, settings = open_table(path, arm.table.header), arm.table
    choice = Choice(path, table.names, arm)
    columns: dict[str, Family] = {
        'time': _named(table, (settings.time,) if settings.time else ()) or choice.time()}
    for name, named in (('position', settings.position), ('velocity', settings.velocity),
                        ('signal', settings.signal)):
        if name == 'signal' and settings.signal_file is not None:
            continue
        # Joint names alone are positions, if the file is not named otherwise.
        bare = (role(path) or 'position') == name
        found = _named(table, named) or choice.of(name, bare=bare)
        # Who names the positions has seen the velocities.
        if found and not (name == 'velocity' and settings.position and not named and
                          not DOCUMENTED.fullmatch(found[0].pattern)):
            columns[name] = found
        elif name == 'position':
            raise choice.missing(name)
    tables = [(table, columns)]
    if 'signal' not in columns:
        other = _beside(path, arm)
        if other is None:
            raise choice.missing('signal')
        tables.append(other)
    return Chosen(tuple(tables), tuple(_guesses(tables, arm)))


def _named(table: TextTable | ArrayTable, names: Sequence[str]) -> Family:
    """Return the columns that arm.yaml names."""
    table.require(names)
    return [plain(name) for name in names]


def _beside(
    path: Path, arm: ArmModel
) -> tuple[TextTable | ArrayTable, dict[str, Family]] | None:
    """Find the file of the drive signals: the stated one, or the one beside that holds some."""
    settings = arm.table
    if settings.signal_file is not None:
        table = open_table(path.parent / settings.signal_file, settings.header)
        choice = Choice(table.path, table.names, arm)
        signal = _named(table, settings.signal) or choice.of('signal', bare=True)
        if not signal:
            raise choice.missing('signal')
        return table, {'time': choice.time(), 'signal': signal}
    others = {other: holding for other in sorted(path.parent.iterdir())
              if other != path and other.suffix.lower() in TABLE_SUFFIXES
              and (holding := _holding(other, arm)) is not None}
    found = {other: holding for other, holding in others.items()
             if 'signal' in holding[1] and 'position' not in holding[1]}
    # One that differs in the words for its quantity alone goes with the positions.
    same = [other for other in found if _stem(other) == _stem(path)]
    alone = not any('signal' not in columns for _, columns in others.values())
    if len(same) == 1 or (len(found) == 1 and alone):
        return found[(same or list(found))[0]]
    if found:
        raise RecordingError(
            f'{path} holds no drive signals; they may be those in '
            f'{" or ".join(other.name for other in found)}: name the file in table.signal_file '
            'of arm.yaml')
    return None


def _holding(
    path: Path, arm: ArmModel
) -> tuple[TextTable | ArrayTable, dict[str, Family]] | None:
    """Find the positions and drive signals of a table; None if it holds none."""
    try:
        table = open_table(path, arm.table.header)
        choice = Choice(path, table.names, arm)
        found = {name: family for name in ('position', 'signal')
                 if (family := choice.of(name, bare=(role(path) or 'position') == name))}
        return (table, {'time': choice.time(), **found}) if found else None
    except RecordingError:
        return None


def _stem(path: Path) -> list[str]:
    return [word for word in tokens(path.stem) if word not in WORDS and word not in FILLERS]


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
    return x if (factors == 1).all() else transformed(x, lambda part: part * factors)


def _factor(column: Column, quantity: str, arm: ArmModel) -> float:
    if quantity != 'signal':
        return 1.0 if arm.table.unit == 'rad' else UNITS[quantity].get(column.unit, 1.0)
    return next((UNITS[kind][column.unit] for kind in SIGNALS[:3] if column.unit in UNITS[kind]),
                1.0)


def _seconds(time: Array, columns: Family, guesses: list[str]) -> tuple[Array, float]:
    """Turn one column of time, or seconds and nanoseconds, into seconds from about the start."""
    start = _start(time[:, 0])
    values = time[:, 0] - start
    if len(columns) == 2:
        return values + 1e-9 * time[:, 1], start
    factor = UNITS['time'].get(columns[0].unit)
    if factor is None:
        unit = _unit_of(time[:, 0])
        if unit is not None:
            guesses.append(f'{columns[0].name} is in {unit}')
        factor = 1.0 if unit is None else STAMP_UNITS[unit]
    return values if factor == 1.0 else values * factor, start * factor


def _unit_of(time: Array) -> str | None:
    """Find the unit of stamps that are none in seconds, by their clock or by their step."""
    some = time[:MOST_STAMPS]
    finite = some[np.isfinite(some)]
    if len(finite) < 2:
        return None
    middle, step = float(np.median(finite)), float(np.median(np.abs(np.diff(finite))))
    for unit, seconds in STAMP_UNITS.items():
        if CLOCK[0] <= middle * seconds <= CLOCK[1]:
            return unit
    low, high = RATES.range_hz
    if CLOCK[0] <= middle <= CLOCK[1] or not step or low <= 1 / step <= high:
        return None
    return likely_unit(step)


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


def _guesses(
    tables: Sequence[tuple[TextTable | ArrayTable, dict[str, Family]]], arm: ArmModel
) -> list[str]:
    """Say which columns were taken, unless arm.yaml or the documents name all of them."""
    named = {arm.table.time, *arm.table.position, *arm.table.velocity, *arm.table.signal}
    every = [(name, family) for _, columns in tables for name, family in columns.items() if family]
    if (len(tables) == 1 or arm.table.signal_file is not None) and all(
            column.name in named or column.name.lower() in TIME_NAMES or
            (DOCUMENTED.fullmatch(column.pattern) and not column.unit)
            for _, family in every for column in family):
        return []
    found = []
    for table, columns in tables:
        where = '' if len(tables) == 1 else f' of {table.path.name}'
        found += [f'{name} from {_shown(family)}{where}'
                  for name, family in columns.items() if family]
    numbered = any(column.label.isdigit() for _, family in every for column in family)
    if numbered:
        found.append(f'joints by number, {", ".join(arm.joint_names)}')
    return found


def _shown(family: Family) -> str:
    """Name columns by their pattern, numbered ones by the first and last."""
    if any('*' in column.pattern and not column.label.isdigit() for column in family):
        return family[0].pattern.replace('*', 'JOINT')
    return summary([column.name for column in family])


def _other_signal(choice: Chosen, arm: ArmModel) -> list[Defect]:
    """Warn of a drive signal of another kind than that of the arm, as its name or unit says."""
    column = choice.tables[-1][1]['signal'][0]
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
