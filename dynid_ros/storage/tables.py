"""Recordings in tables: CSV and npz files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
import re

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.arrays import Array
from dynid_ros.errors import RecordingError
from dynid_ros.recordings.in_blocks import chosen, transformed
from dynid_ros.recordings.recording import Defect
from dynid_ros.storage.npz_table import read_npz
from dynid_ros.storage.text_table import open_text, TextTable

TEXT_SUFFIXES = ('.csv', '.txt')
TABLE_SUFFIXES = (*TEXT_SUFFIXES, '.npz')
TIME_NAMES = ('t', 'time', 'stamp')
# Distance from the middle stamp beyond which the first one is no start to count from: differences
# of that size keep a tenth of a microsecond, and no recording lasts for decades.
FARTHEST = 1e9
# Stems of numbered columns and of npz keys, and endings of columns that start with a joint name.
STEMS = {'position': ('q',), 'velocity': ('qd',), 'signal': ('tau', 'u')}
ENDINGS = {
    'position': ('position',),
    'velocity': ('velocity',),
    'signal': ('effort', 'torque', 'current', 'voltage'),
}


def read_table(
    path: Path, arm: ArmModel, *, rate_hz: float | None = None,
) -> tuple[Array, Array, Array, Array | None, tuple[Defect, ...]]:
    """
    Read a CSV file or an npz file with the keys ``t``, ``q``, ``qd`` and ``tau`` or ``u``.

    Columns of a CSV file are those that ``arm.table`` names, else ``t``, ``q_0`` ... ``qd_0``
    ... ``tau_0`` ... (numbered from 0 or 1, with or without underscore), or
    ``<joint>.position``, ``<joint>.velocity``, ``<joint>.effort``.

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
        Defects of the file.

    Raises
    ------
    RecordingError
        The file, a column or a cell is missing or unusable.

    """
    defects: tuple[Defect, ...] = ()
    bad = np.zeros(0, dtype=np.bool_)
    if path.suffix == '.npz':
        data = _read_npz(path, arm)
    else:
        data, bad, defects = _read_text(path, arm)
    q, qd, u = data['position'], data.get('velocity'), data['signal']
    t = _times(path, arm, data.get('time'), len(q), rate_hz)
    if bad.any():
        t, q, u = (chosen(x, ~bad) for x in (t, q, u))
        qd = None if qd is None else chosen(qd, ~bad)
    return t, q, u, qd, defects


def _times(path: Path, arm: ArmModel, time: Array | None, rows: int, rate: float | None) -> Array:
    if time is not None:
        return time - _start(time)
    rate = rate if rate is not None else arm.table.rate_hz
    if rate is None:
        raise RecordingError(
            f'{path} has no time column ({", ".join(TIME_NAMES)}) and arm.yaml no table.rate_hz; '
            f'name the column in table.time or give the rate'
        )
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


def _read_npz(path: Path, arm: ArmModel) -> dict[str, Array]:
    known = {'time': TIME_NAMES, **STEMS}
    names, content = read_npz(path, [key for keys in known.values() for key in keys])
    data = {}
    for quantity, keys in known.items():
        key = next((k for k in keys if k in content), None)
        if key is not None:
            data[quantity] = _npz_array(path, key, content[key], quantity == 'time', arm)
        elif quantity in ('position', 'signal'):
            raise RecordingError(
                f'{path} has no array {" or ".join(keys)}; it holds {", ".join(names) or "none"}'
            )
    lengths = {len(array) for array in data.values()}
    if len(lengths) > 1 or lengths == {0}:
        shapes = ', '.join(f'{name} {len(array)}' for name, array in data.items())
        raise RecordingError(f'{path}: arrays must be of one length above zero, not {shapes}')
    return data


def _npz_array(
    path: Path, key: str, array: NDArray[np.generic], time: bool, arm: ArmModel
) -> Array:
    wanted = '(N,)' if time else f'(N, {arm.n})'
    if array.ndim != (1 if time else 2) or not (time or array.shape[1] == arm.n):
        raise RecordingError(f'{path}: array {key} has shape {array.shape}, not {wanted}')
    if array.dtype.kind not in 'fiu':
        raise RecordingError(f'{path}: array {key} is not numeric')
    if array.dtype == np.float64 and array.flags.c_contiguous:
        return array.view(np.float64)
    return transformed(array, lambda part: np.ascontiguousarray(part, dtype=np.float64))


def _read_text(
    path: Path, arm: ArmModel
) -> tuple[dict[str, Array], NDArray[np.bool_], tuple[Defect, ...]]:
    """Read quantities, with NaN in the rows that cannot be read, and mark these."""
    main = open_text(path, arm.table.header)
    beside = main
    if arm.table.signal_file is not None:
        beside = open_text(path.parent / arm.table.signal_file, arm.table.header)
    columns = {
        'time': _time_column(main, arm),
        'position': _columns(main, arm, 'position', arm.table.position, required=True),
        'velocity': _columns(main, arm, 'velocity', arm.table.velocity, required=False),
    }
    signal = _columns(beside, arm, 'signal', arm.table.signal, required=True)
    wanted = [name for names in columns.values() for name in names]
    apart = beside is not main
    read = main.read(wanted if apart else [*wanted, *signal])
    bad, defects, source = read.unreadable, read.defects, read
    if apart:
        source = beside.read(signal)
        if len(source.unreadable) != len(bad):
            raise RecordingError(
                f'{path}: {len(bad)} rows of positions but {len(source.unreadable)} rows of '
                f'signals in {arm.table.signal_file}')
        bad, defects = bad | source.unreadable, (*defects, *source.defects)
    data = {quantity: read.take(names) for quantity, names in columns.items() if names}
    data['signal'] = source.take(signal)
    if 'time' in data:
        data['time'] = data['time'][:, 0]
    return data, bad, defects


def _time_column(table: TextTable, arm: ArmModel) -> list[str]:
    if arm.table.time is not None:
        table.require([arm.table.time])
        return [arm.table.time]
    return [name for name in table.names if name.lower() in TIME_NAMES][:1]


def _columns(
    table: TextTable, arm: ArmModel, quantity: str, named: tuple[str, ...], *, required: bool
) -> list[str]:
    """Names of the columns of one quantity, in the order of the joints; none if absent."""
    if named:
        table.require(named)
        return list(named)
    for joints in (arm.joint_names, *arm.aliases):
        for ending in ENDINGS[quantity]:
            names = [f'{joint}.{ending}' for joint in joints]
            if set(names) <= set(table.names):
                return names
    for stem in STEMS[quantity]:
        names = _numbered(table, stem, arm)
        if names:
            return names
    if not required:
        return []
    raise RecordingError(
        f'{table.path} has no columns of {quantity} for {arm.name} '
        f'(such as {STEMS[quantity][0]}_0 or {arm.joint_names[0]}.{ENDINGS[quantity][0]}); '
        f'it has {", ".join(table.names)}; name them under table in arm.yaml'
    )


def _numbered(table: TextTable, stem: str, arm: ArmModel) -> list[str]:
    """Columns such as ``q_0`` or ``q1``, sorted by their number."""
    found = sorted(
        (int(m[1]), name) for name in table.names
        if (m := re.fullmatch(rf'{stem}_?(\d+)', name)))
    if not found:
        return []
    for (before, other), (number, name) in pairwise(found):
        if number == before:
            twice = name if name == other else f'{other} and {name}'
            raise RecordingError(
                f'{table.path} has two columns of one number, {twice}; give each column a name of '
                'its own')
    if len(found) != arm.n:
        raise RecordingError(
            f'{table.path} has {len(found)} columns {found[0][1]} ... {found[-1][1]}, but '
            f'{arm.name} has {arm.n} joints; name the right ones under table in arm.yaml'
        )
    first = min(found[0][0], 1)
    for expected, (number, name) in enumerate(found, start=first):
        if number != expected:
            raise RecordingError(
                f'{table.path} has a column {name} where {stem}_{expected} should be: the numbers '
                'must go from 0 or 1 without a gap; name the right ones under table in arm.yaml')
    return [name for _, name in found]
