# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Arrays of npz, npy and MAT files as tables of named columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
import io
import math
from pathlib import Path
import struct
from typing import Any, IO
import zipfile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from dynid_ros.data.tables.column_words import plain, tokens
from dynid_ros.data.tables.text_rows import Rows
from dynid_ros.data.tables.text_table import Table
from dynid_ros.errors import reason_of, RecordingError
from dynid_ros.utilities.arrays import Array

#: Columns of an array from which on it is no signal of joints.
WIDEST = 1000
#: Bytes of an array of an npz file beyond which it stays in the file, so that the system may drop
#: it from memory, and bytes read at a time for its checksum.
MAPPED, CHECKED = 2**26, 2**20
#: Place of the lengths of name and extra field in a local header of a zip file.
_LOCAL_LENGTHS = 26
#: Fields of an object of MATLAB as SciPy reads it: its name, its system and its class.
_OBJECT = ('s0', 's1', 's2')
#: Last words of arrays that name the columns of the others.
_NAMES = ('name', 'names', 'joints', 'labels', 'columns')
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}

Values = NDArray[Any]


def open_arrays(path: Path, header: Sequence[str] = ()) -> Table:
    """
    Find the columns of an npz, npy or MAT file.

    A column has the name of its array, or ``q_0`` or ``q.JOINT`` where an array ``q`` has several.

    Parameters
    ----------
    path : Path
        File.
    header : sequence of str
        Column names of a single array.

    Raises
    ------
    RecordingError
        The file is damaged.

    """
    suffix = path.suffix.lower()
    every = (_npz(path) if suffix == '.npz' else _mat(path) if suffix == '.mat'
             else _npy(path, header))
    labels = {values.size: [str(value).strip() for value in values.ravel()]
              for key, values in every.items()
              if values.dtype.kind == 'U' and (tokens(key) or [''])[-1] in _NAMES}
    # Of an array that should hold numbers and does not, the reader says so.
    arrays = {key: values for key, values in every.items() if values.ndim in (1, 2)
              and (values.dtype.kind in 'fiu' or plain(key).quantity)}
    length, places = _length(arrays), {}
    for key, values in arrays.items():
        arrays[key] = columns = _samples_first(values, length)
        width = columns.shape[1]
        if width == 1:
            places[key] = (key, 0)
        elif width <= WIDEST:
            names = labels.get(width)
            places |= {f'{key}.{names[k]}' if names else f'{key}_{k}': (key, k)
                       for k in range(width)}
    return Table(path, tuple(places), partial(_read, path, arrays, places))


def _read(
    path: Path, arrays: Mapping[str, Values], places: Mapping[str, tuple[str, int]],
    families: Sequence[Sequence[str]],
) -> Rows:
    lengths = {}
    for key in dict.fromkeys(places[name][0] for names in families for name in names):
        lengths[key] = len(arrays[key])
        if arrays[key].dtype.kind not in 'fiu':
            raise RecordingError(f'{path}: array {key} is not numeric')
    if len({*lengths.values(), 0}) != 2:
        shapes = ', '.join(f'{key} {length}' for key, length in lengths.items())
        raise RecordingError(f'{path}: arrays must be of one length above zero, not {shapes}')
    samples = max(lengths.values())
    values = [_columns(arrays, [places[name] for name in names], samples) for names in families]
    return values, np.zeros(samples, dtype=np.bool_), ()


def _columns(
    arrays: Mapping[str, Values], places: Sequence[tuple[str, int]], samples: int,
) -> Array:
    """Take columns of arrays; a complete array stays where it is, as a copy would fill memory."""
    for key, values in arrays.items():
        if places == [(key, k) for k in range(values.shape[1])]:
            return np.ascontiguousarray(values, dtype=np.float64)
    chosen = np.empty((samples, len(places)))
    for column, (key, k) in zip(chosen.T, places, strict=True):
        column[:] = arrays[key][:, k]
    return chosen


def _length(arrays: Mapping[str, Values]) -> int:
    """Find the number of samples: of the time, else the most common of long dimensions."""
    for key, values in arrays.items():
        if plain(key).quantity == 'time' and values.size and max(values.shape) == values.size:
            return values.size
    long = [max(values.shape) for values in arrays.values() if max(values.shape) > 1]
    return Counter(long).most_common(1)[0][0] if long else 0


def _samples_first(values: Values, length: int) -> Values:
    """Return an array (N, k), of which MATLAB often has the samples in the second dimension."""
    if values.ndim == 1:
        return values[:, None]
    rows, columns = values.shape
    return values if rows == length or (columns != length and columns <= rows) else values.T


def _npz(path: Path) -> dict[str, Values]:
    """Read the arrays of one or two dimensions."""
    found = {}
    try:
        with zipfile.ZipFile(path) as file:
            for info in file.infolist():
                with file.open(info) as member:
                    shape, _, dtype = _HEADERS[npy.read_magic(member)](member)
                name = info.filename.removesuffix('.npy')
                if dtype.hasobject and plain(name).quantity:
                    raise _pickled(path, name)
                if len(shape) not in (1, 2) or dtype.hasobject:
                    continue
                if math.prod(shape) * dtype.itemsize > info.file_size:
                    raise ValueError(f'{info.filename} claims an array of shape {shape}, but '
                                     f'holds {info.file_size} bytes')
                with file.open(info) as member:
                    found[name] = (_mapped(path, info, member) if _is_long(info) else
                                   npy.read_array(member))
                    # At the end of the member, zipfile compares its checksum.
                    if member.read(1):
                        raise ValueError(f'{info.filename} is longer than its header claims')
    except RecordingError:
        raise
    except Exception as error:
        # A damaged file may fail anywhere in the decoders of zip, npy and Python, with any
        # exception.
        raise RecordingError(
            f'{path} is not a readable npz file: {reason_of(error)}; write it again with '
            'numpy.savez(path, t=t, q=q, tau=tau)') from error
    return found


def _is_long(info: zipfile.ZipInfo) -> bool:
    return info.compress_type == zipfile.ZIP_STORED and info.file_size > MAPPED


def _mapped(path: Path, info: zipfile.ZipInfo, member: IO[bytes]) -> Values:
    """Map the array of a member as it lies in the file, and read it once for its checksum."""
    shape, by_columns, dtype = _HEADERS[npy.read_magic(member)](member)
    begin, size = member.tell(), math.prod(shape) * dtype.itemsize
    with path.open('rb') as file:
        # The local header of a member has a name and extra fields of its own.
        file.seek(info.header_offset + _LOCAL_LENGTHS)
        lengths = struct.unpack('<HH', file.read(4))
    offset = info.header_offset + _LOCAL_LENGTHS + 4 + sum(lengths) + begin
    while size > 0 and (part := member.read(min(size, CHECKED))):
        size -= len(part)
    return np.memmap(path, dtype, 'r', offset, shape, 'F' if by_columns else 'C')


def _pickled(path: Path, name: str) -> RecordingError:
    """Return the error on Python objects, which a file could use to run code when it is read."""
    return RecordingError(
        f'{path}: the array {name} holds Python objects (pickled), such as rows of different '
        'length or a dictionary, and is not read; save numbers alone, with '
        'numpy.savez(path, t=t, q=q, tau=tau) or numpy.save(path, array.astype(float))')


def npz_bytes(**arrays: NDArray[Any]) -> bytes:
    """Make the content of an npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    with zipfile.ZipFile(buffer, 'a') as archive:
        # By which `check_output` knows that it may be replaced.
        archive.comment = b'by dynid_ros'
    return buffer.getvalue()


def _npy(path: Path, header: Sequence[str]) -> dict[str, Values]:
    """Read the columns of a single array: named by its fields, the header, or as its file."""
    try:
        with path.open('rb') as file:
            version = npy.read_magic(file)
            if version in _HEADERS and _HEADERS[version](file)[2].hasobject:
                raise _pickled(path, path.stem)
        # The map refuses a file that is shorter than its header claims.
        array = np.load(path, mmap_mode='r', allow_pickle=False)
    except RecordingError:
        raise
    except Exception as error:
        raise RecordingError(
            f'{path} is not a readable npy file: {reason_of(error)}; write numbers only, with '
            'numpy.save(path, array)') from error
    if array.dtype.names:
        return {name: array[name] for name in array.dtype.names}
    if array.ndim != 2 or (not header and plain(path.stem).quantity):
        return {path.stem: array}
    if len(header) != array.shape[1]:
        raise RecordingError(
            f'{path} is an array of shape {array.shape}, and table.header of arm.yaml names '
            f'{len(header)} columns; name all, such as table: {{header: [t, q_1, q_2, ..., tau_1, '
            'tau_2, ...]}, or save an npz file with numpy.savez(path, t=t, q=q, tau=tau)')
    return {name: array[:, k] for k, name in enumerate(header)}


def _mat(path: Path) -> dict[str, Values]:
    """Read the arrays of a MAT file, those in structs as ``struct.field``."""
    from scipy.io import loadmat

    try:
        content = loadmat(path, simplify_cells=True)
    except Exception as error:
        # One of version 7.3 is refused; a damaged one may fail anywhere, with any exception.
        raise RecordingError(f'{path} is not a readable MAT file: {reason_of(error)}; save it in '
                             f"MATLAB with save('{path.name}', ..., '-v7')") from error
    found: dict[str, Values] = {}
    _flatten(content, '', found)
    opaque = [values for values in found.values() if (values.dtype.names or ())[:3] == _OBJECT]
    if opaque and not any(
            values.dtype.kind in 'fiu' and values.size > 1 for values in found.values()):
        raise _only_matlab(path, opaque[0])
    return found


def _only_matlab(path: Path, opaque: Values) -> RecordingError:
    """Return the error on an object, whose content MATLAB alone reads."""
    name, kind = (bytes(opaque[key][0]).decode(errors='replace') for key in ('s0', 's2'))
    remedy = (f"write it as text there, with writetable({name}, '{path.stem}.csv')"
              if kind == 'table' else
              f"save arrays of numbers, with save('{path.name}', 't', 'q', 'tau', '-v7')")
    return RecordingError(
        f'{path}: {name} is a MATLAB {kind}, which MATLAB alone reads; {remedy}')


def _flatten(content: Mapping[str, Any], before: str, found: dict[str, Values]) -> None:
    for key, value in content.items():
        if isinstance(value, Mapping):
            _flatten(value, f'{before}{key}.', found)
        elif not key.startswith('__'):
            array = np.asarray(value)
            if array.dtype == object and all(isinstance(each, str) for each in array.ravel()):
                array = array.astype(str)
            found[f'{before}{key}'] = array
