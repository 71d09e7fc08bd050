"""Recordings in tables: CSV and npz files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
import re
import zipfile

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import RecordingError
from dynid_ros.storage.text_table import open_text, TextTable

Array = NDArray[np.float64]

TEXT_SUFFIXES = ('.csv', '.txt')
TABLE_SUFFIXES = (*TEXT_SUFFIXES, '.npz')
TIME_NAMES = ('t', 'time', 'stamp')
# Stems of numbered columns and of npz keys, and endings of columns that start with a joint name.
STEMS = {'position': ('q',), 'velocity': ('qd',), 'signal': ('tau', 'u')}
ENDINGS = {
    'position': ('position',),
    'velocity': ('velocity',),
    'signal': ('effort', 'torque', 'current', 'voltage'),
}


@dataclass(frozen=True)
class TableData:
    """
    Content of a table.

    Attributes
    ----------
    t : (N,) ndarray
        Time from the first row, s.
    q, u : (N, n) ndarray
        Positions and drive signals as recorded.
    qd : (N, n) ndarray or None
        Velocities as recorded, where there are any.

    """

    t: Array
    q: Array
    u: Array
    qd: Array | None


def read_table(path: Path, arm: ArmModel, *, rate_hz: float | None = None) -> TableData:
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

    Raises
    ------
    RecordingError
        The file, a column or a cell is missing or unusable.

    """
    data = _read_npz(path, arm) if path.suffix == '.npz' else _read_text(path, arm)
    q, qd, u = data['position'], data.get('velocity'), data['signal']
    if len(u) != len(q):
        raise RecordingError(
            f'{path}: {len(q)} rows of positions but {len(u)} rows of signals'
            + (f' in {arm.table.signal_file}' if arm.table.signal_file else '')
        )
    return TableData(_times(path, arm, data.get('time'), len(q), rate_hz), q, u, qd)


def _times(path: Path, arm: ArmModel, time: Array | None, rows: int, rate: float | None) -> Array:
    if time is not None:
        start: float = time[0]
        return time - start
    rate = rate if rate is not None else arm.table.rate_hz
    if rate is None:
        raise RecordingError(
            f'{path} has no time column ({", ".join(TIME_NAMES)}) and arm.yaml no table.rate_hz; '
            f'name the column in table.time or give the rate'
        )
    return np.arange(rows, dtype=np.float64) / rate


def _read_npz(path: Path, arm: ArmModel) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as file:
            content = {key: np.asarray(file[key]) for key in file.files}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise RecordingError(f'{path} is not a readable npz file: {error}') from error
    data = {}
    for quantity, keys in {'time': TIME_NAMES, **STEMS}.items():
        key = next((k for k in keys if k in content), None)
        if key is not None:
            data[quantity] = _npz_array(path, key, content[key], quantity == 'time', arm)
        elif quantity in ('position', 'signal'):
            raise RecordingError(
                f'{path} has no array {" or ".join(keys)}; it holds {", ".join(content) or "none"}'
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
    return array.astype(np.float64)


def _read_text(path: Path, arm: ArmModel) -> dict[str, Array]:
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
    values = main.read(wanted if apart else [*wanted, *signal])
    data = {quantity: _take(values, names) for quantity, names in columns.items() if names}
    data['signal'] = _take(beside.read(signal) if apart else values, signal)
    if 'time' in data:
        data['time'] = data['time'][:, 0]
    return data


def _take(values: Mapping[str, Array], names: Sequence[str]) -> Array:
    return np.column_stack([values[name] for name in names])


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
    found = [m for name in table.names if (m := re.fullmatch(rf'{stem}_?(\d+)', name))]
    if found and len(found) != arm.n:
        raise RecordingError(
            f'{table.path} has {len(found)} columns {found[0][0]} ... {found[-1][0]}, but '
            f'{arm.name} has {arm.n} joints; name the right ones under table in arm.yaml'
        )
    return [match[0] for match in sorted(found, key=lambda m: int(m[1]))]
