# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Data sets of LeRobot as they lie on a disk: one episode or all, as a table of named columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
import json
from pathlib import Path
import re
from typing import Any

import numpy as np

from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.tables.text_rows import Rows
from dynid_ros.data.tables.text_table import Table
from dynid_ros.errors import listed, reason_of, RecordingError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.atomic_write import read_whole

#: File by which a folder is a data set, and what its parquet files are below.
INFO, DATA, PARQUET = Path('meta') / 'info.json', 'data', '.parquet'
#: Columns of a data set with values of each joint, and the word for them in names of columns.
LEROBOT_COLUMNS = {'observation.state': 'position', 'action': 'command',
                   'observation.velocity': 'velocity', 'observation.effort': 'effort'}
FRAME, EPISODE = 'frame_index', 'episode_index'
#: Time between two episodes, s: a gap, at which recordings are cut.
EPISODE_GAP_SECONDS = 1.0
#: Rates that a data set can have, Hz.
POSSIBLE_RATES_HZ = (1.0, 10_000.0)
#: Episode of a data set, as version 2 names its files.
_EPISODE = re.compile(rf'episode_(\d{{1,9}})(?:{re.escape(PARQUET)})?')
#: Words behind the name of a joint in names of features.
_SUFFIXES = ('.pos', '.position', '.vel', '.velocity')


def data_set_of(path: Path) -> Path | None:
    """
    Find the data set that a path is of.

    Parameters
    ----------
    path : Path
        Folder of a data set, one of its parquet files, or ``FOLDER/episode_000003``.

    Returns
    -------
    Path or None
        The folder; None if there is no data set.

    """
    if _EPISODE.fullmatch(path.name) and (path.parent / INFO).is_file():
        return path.parent
    if path.suffix.lower() == PARQUET:
        return next((each for each in path.parents if (each / INFO).is_file()), None)
    return path if (path / INFO).is_file() else None


def open_data_set(path: Path) -> Table:
    """
    Find the columns of a data set, such as ``shoulder_pan.position`` and ``shoulder_pan.command``.

    The time runs through all episodes, with a gap between them.

    Parameters
    ----------
    path : Path
        As for `data_set_of`.

    Raises
    ------
    RecordingError
        Its ``info.json`` is damaged or of another form, or an episode is not there.

    """
    root = data_set_of(path)
    assert root is not None
    rate, features = _described(root / INFO)
    places = {f'{name}.{LEROBOT_COLUMNS[key]}': (key, k)
              for key, names in features.items() for k, name in enumerate(names)}
    return Table(path, ('t', *places), partial(_read, path, root, rate, features, places))


def _described(file: Path) -> tuple[float, dict[str, tuple[str, ...]]]:
    """Rate of a data set, Hz, and the names of the joints of each of its features."""
    try:
        info = json.loads(read_whole(file))
        rate, features = float(info['fps']), info['features']
        version = str(info.get('codebase_version', 'unknown'))
        found = {key: _names(features[key]) for key in LEROBOT_COLUMNS if key in features}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RecordingError(
            f'{file} describes no data set of LeRobot 2 or 3 (fps, features with shape and '
            f'names): {reason_of(error)}; convert an older one with LeRobot') from error
    if not POSSIBLE_RATES_HZ[0] <= rate <= POSSIBLE_RATES_HZ[1]:
        raise RecordingError(f'{file} states a rate of {rate:g} Hz; correct fps')
    for key in ('observation.state', 'action'):
        if key not in found:
            raise RecordingError(f'{file} (version {version}) has no feature {key}, but '
                                 f'{listed([*features])}; record joint positions')
    return rate, found


def _names(feature: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the joints of a feature, which versions hold in a list or below a word."""
    (width,), names = feature['shape'], feature.get('names')
    if isinstance(names, dict):
        lists = [each for each in names.values() if isinstance(each, list)]
        names = lists[0] if len(lists) == 1 else None
    if not isinstance(names, list) or len(names) != width:
        return tuple(f'joint_{k}' for k in range(width))
    return tuple(map(_joint, names))


def _joint(name: object) -> str:
    text = str(name)
    return next((text.removesuffix(each) for each in _SUFFIXES if text.endswith(each)), text)


def _read(
    path: Path, root: Path, rate: float, features: Mapping[str, Sequence[str]],
    places: Mapping[str, tuple[str, int]], families: Sequence[Sequence[str]],
) -> Rows:
    used = [*dict.fromkeys(places[name][0] for own in families for name in own if name in places)]
    parts = [part for file in _files(path, root)
             if (part := _rows(file, _episode(path), {key: len(features[key]) for key in used}))]
    if not parts:
        raise RecordingError(f'{path} holds no such episode, or no samples; its data set is '
                             f'{root}')
    columns = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    order = np.lexsort((columns[FRAME][:, 0], columns[EPISODE][:, 0]))
    columns = {key: values[order] for key, values in columns.items()}
    columns['t'] = _times(columns[FRAME][:, 0], columns[EPISODE][:, 0], rate)[:, None]
    values = [np.column_stack([
        columns['t'][:, 0] if name == 't' else columns[places[name][0]][:, places[name][1]]
        for name in own]) if own else np.zeros((len(order), 0)) for own in families]
    return values, np.zeros(len(order), dtype=np.bool_), _pauses(columns[EPISODE])


def _pauses(episode: Array) -> list[Defect]:
    count = len(np.unique(episode))
    return [] if count == 1 else [Defect(
        'episodes', 'info', f'{count} episodes follow each other, with pauses of '
        f'{EPISODE_GAP_SECONDS:g} s that count as gaps of the stamps.', count=count)]


def _episode(path: Path) -> int | None:
    found = _EPISODE.fullmatch(path.name)
    return int(found[1]) if found else None


def _files(path: Path, root: Path) -> list[Path]:
    """Parquet files of the data set at a path."""
    if path.is_file():
        return [path]
    files = sorted((root / DATA).rglob(f'*{PARQUET}'))
    own = [file for file in files if _episode(file) == _episode(path) is not None]
    return own or files


def _rows(file: Path, episode: int | None, widths: Mapping[str, int]) -> dict[str, Array]:
    """Values (N, k) of some columns of a file, those of one episode if it is given."""
    from pyarrow import parquet, types

    chosen = None if episode is None else [(EPISODE, '==', episode)]
    try:
        table = parquet.read_table(
            file, columns=[FRAME, EPISODE, *widths], filters=chosen, partitioning=None)
        found = {}
        for key, width in {FRAME: 1, EPISODE: 1, **widths}.items():
            column = table.column(key).combine_chunks()
            # A joint alone may be a number instead of a list of one.
            values = column.flatten() if types.is_nested(column.type) else column
            found[key] = values.to_numpy(zero_copy_only=False).astype(float).reshape(
                len(column), width)
    except Exception as error:
        # A damaged file may fail anywhere in the decoder, with any exception.
        raise RecordingError(
            f'{file} is no readable part of the data set: {reason_of(error)}; fetch it '
            'again') from error
    return found if len(table) else {}


def _times(frame: Array, episode: Array, rate: float) -> Array:
    """Time of each sample (N,), s: frames of an episode are even, and a pause comes after it."""
    t = frame / rate
    begins = np.flatnonzero(np.diff(episode)) + 1
    for begin in begins.tolist():
        t[begin:] += t[begin - 1] + EPISODE_GAP_SECONDS - t[begin]
    return t
