"""Arrays of npz, npy and MAT files as tables of named columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynid_ros.data.tables.column_words import plain, tokens
from dynid_ros.data.tables.npz_table import npz_headers, read_npz, Values
from dynid_ros.data.tables.text_table import Columns, require
from dynid_ros.errors import reason_of, RecordingError
from dynid_ros.utilities.arrays import Array

#: Columns of an array from which on it is no signal of joints.
WIDEST = 1000
#: Last words of arrays that name the columns of the others.
_NAMES = ('name', 'names', 'joints', 'labels', 'columns')
_V73 = b'MATLAB 7.3'

Shape = tuple[int, ...]


@dataclass(frozen=True)
class ArrayTable:
    """
    Arrays of one file, whose columns are known but not yet read.

    Attributes
    ----------
    path : Path
        File.
    names : tuple of str
        Columns: an array of one, or ``q_0`` or ``q.JOINT`` of an array ``q`` of several.
    places : dict of str to (str, int)
        Array and place of each column.
    samples : dict of str to int
        The dimension of each array that counts the samples.
    load : callable
        Reads arrays by name.

    """

    path: Path
    names: tuple[str, ...]
    places: Mapping[str, tuple[str, int]]
    samples: Mapping[str, int]
    load: Callable[[Sequence[str]], Mapping[str, Values]]

    def read(self, names: Sequence[str], time: Sequence[str] = ()) -> Columns:
        """
        Read the arrays of some columns.

        Raises
        ------
        RecordingError
            The file is damaged, or the lengths of the arrays differ.

        """
        every = [*time, *names]
        require(self.path, self.names, every)
        arrays = self.load(list(dict.fromkeys(self.places[name][0] for name in every)))
        for key, values in arrays.items():
            if values.dtype.kind not in 'fiu':
                raise RecordingError(f'{self.path}: array {key} is not numeric')
        whole = {key: _numbers(values, self.samples[key]) for key, values in arrays.items()}
        if len({len(values) for values in whole.values()} | {0}) != 2:
            shapes = ', '.join(f'{key} {len(values)}' for key, values in whole.items())
            raise RecordingError(
                f'{self.path}: arrays must be of one length above zero, not {shapes}')
        rows = len(next(iter(whole.values())))
        return Columns(whole, self.places, np.zeros(rows, dtype=np.bool_))


def open_arrays(path: Path, header: Sequence[str] = ()) -> ArrayTable:
    """
    Find the columns of an npz, npy or MAT file.

    Parameters
    ----------
    path : Path
        File.
    header : sequence of str
        Column names of a single array.

    Raises
    ------
    RecordingError
        The file is of another kind, or damaged.

    """
    suffix = path.suffix.lower()
    if suffix == '.npz':
        kinds = {name: (shape, dtype) for name, (shape, _, dtype) in npz_headers(path).items()}
        return _table(path, kinds, lambda names: read_npz(path, names))
    arrays = _mat(path) if suffix == '.mat' else _npy(path, header)
    kinds = {name: (array.shape, array.dtype) for name, array in arrays.items()}
    return _table(path, kinds, lambda names: {name: arrays[name] for name in names})


def _table(
    path: Path, kinds: Mapping[str, tuple[Shape, np.dtype[Any]]],
    load: Callable[[Sequence[str]], Mapping[str, Values]],
) -> ArrayTable:
    texts = load([key for key, (_, dtype) in kinds.items()
                  if dtype.kind == 'U' and (tokens(key) or [''])[-1] in _NAMES])
    labels = {values.size: [str(value).strip() for value in values.ravel()]
              for values in texts.values()}
    # Of an array that should hold numbers and does not, the reader says so.
    shapes = {key: shape for key, (shape, dtype) in kinds.items()
              if dtype.kind in 'fiu' or plain(key).quantity}
    length = _length(shapes)
    places, samples = {}, {}
    for key, shape in shapes.items():
        if len(shape) not in (1, 2):
            continue
        samples[key] = _samples(shape, length)
        width = 1 if len(shape) == 1 else shape[1 - samples[key]]
        if width == 1:
            places[key] = (key, 0)
        elif width <= WIDEST:
            names = labels.get(width)
            places |= {f'{key}.{names[k]}' if names else f'{key}_{k}': (key, k)
                       for k in range(width)}
    return ArrayTable(path, tuple(places), places, samples, load)


def _length(shapes: Mapping[str, Shape]) -> int:
    """Find the number of samples: that of the time, else the most common of long dimensions."""
    for key, shape in shapes.items():
        if plain(key).quantity == 'time' and shape and max(shape) == np.prod(shape):
            return max(shape)
    long = [max(shape) for shape in shapes.values() if len(shape) in (1, 2) and max(shape) > 1]
    return Counter(long).most_common(1)[0][0] if long else 0


def _samples(shape: Shape, length: int) -> int:
    """Find the dimension of the samples, of which MATLAB often has the second one."""
    if len(shape) == 1 or shape[0] == length:
        return 0
    return 1 if shape[1] == length else int(shape[1] > shape[0])


def _numbers(values: Values, samples: int) -> Array:
    """Turn an array into numbers (N, k)."""
    columns = values[:, None] if values.ndim == 1 else values.T if samples else values
    return np.ascontiguousarray(columns, dtype=np.float64)


def _npy(path: Path, header: Sequence[str]) -> dict[str, Values]:
    """Read the columns of a single array: named by its fields, the header, or as its file."""
    try:
        # The map refuses a file that is shorter than its header claims.
        array = np.load(path, mmap_mode='r', allow_pickle=False)
    except Exception as error:
        raise RecordingError(
            f'{path} is not a readable npy file: {reason_of(error)}; write numbers only, with '
            'numpy.save(path, array)') from error
    if array.dtype.names:
        return {name: array[name] for name in array.dtype.names}
    if array.ndim == 2 and header:
        if len(header) != array.shape[1]:
            raise RecordingError(f'{path} has {array.shape[1]} columns, but table.header of '
                                 f'arm.yaml names {len(header)}')
        return {name: array[:, k] for k, name in enumerate(header)}
    if array.ndim == 2 and not plain(path.stem).quantity:
        raise RecordingError(
            f'{path} is an array of shape {array.shape} without names of its columns; name them '
            f'in arm.yaml, such as table: {{header: [t, q_1, q_2, ..., tau_1, tau_2, ...]}}, '
            f'{array.shape[1]} in all, or save an npz file with numpy.savez(path, t=t, q=q, '
            'tau=tau)')
    return {path.stem: array}


def _mat(path: Path) -> dict[str, Values]:
    """Read the arrays of a MAT file, those in structs as ``struct.field``."""
    from scipy.io import loadmat

    try:
        with path.open('rb') as file:
            if file.read(len(_V73)) == _V73:
                raise RecordingError(
                    f'{path} is a MAT file of version 7.3 (HDF5), which is not read; save it in '
                    f"MATLAB with save('{path.name}', ..., '-v7')")
        content = loadmat(path, simplify_cells=True)
    except RecordingError:
        raise
    except Exception as error:
        # A damaged file may fail anywhere in the decoder, with any exception.
        raise RecordingError(f'{path} is not a readable MAT file: {reason_of(error)}; save it in '
                             f"MATLAB with save('{path.name}', ..., '-v7')") from error
    found: dict[str, Values] = {}
    _flatten(content, '', found)
    return found


def _flatten(content: Mapping[str, Any], before: str, found: dict[str, Values]) -> None:
    for key, value in content.items():
        if isinstance(value, Mapping):
            _flatten(value, f'{before}{key}.', found)
        elif not key.startswith('__'):
            array = np.asarray(value)
            if array.dtype == object and all(isinstance(each, str) for each in array.ravel()):
                array = array.astype(str)
            found[f'{before}{key}'] = array
