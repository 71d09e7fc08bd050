"""Arrays of long recordings: in memory up to a budget, above it in files that the system drops."""

from __future__ import annotations

from collections.abc import Sequence
import math
import mmap
import os
import tempfile
from threading import Lock
from typing import Any, IO
import weakref

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dynid_ros.errors import InputError

#: Bytes of all such arrays that stay in memory: three quarters of an hour of 7 joints at 100 Hz.
BUDGET = 128 * 2**20
#: Smaller arrays always stay in memory.
SMALLEST = 2**18
#: Arrays below this size share a file: each file takes one of the descriptors of the process.
FILE = 64 * 2**20
#: Size up to which an array grows in memory.
GROWN = 16 * 2**20
#: Room that growing arrays have beyond what they hold, as a share of it.
SPARE = 0.1
#: Where long recordings go if TMPDIR is not set: the folder for temporary files on a disk
#: (https://systemd.io/TEMPORARY_DIRECTORIES). /tmp is memory on many systems.
ON_DISK = '/var/tmp'

_in_memory: dict[object, int] = {}
_mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


def large_array(shape: int | Sequence[int], dtype: DTypeLike = float) -> NDArray[Any]:
    """
    Make an array, as `numpy.empty` does.

    Above the budget, it lies in a file without a name in the folder of `TMPDIR`. The system writes
    what it holds to the disk when memory is short, and reads it again when it is needed.

    Parameters
    ----------
    shape : int or sequence of int
        Shape.
    dtype : data type
        Kind of its numbers.

    Raises
    ------
    InputError
        The folder has no room for it.

    """
    kind = np.dtype(dtype)
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    size = math.prod(lengths) * kind.itemsize
    if size < SMALLEST or bytes_in_memory() + size <= BUDGET:
        return _counted(np.empty(lengths, kind))
    return np.frombuffer(_room(size), kind, math.prod(lengths)).reshape(lengths)


def stored(array: NDArray[Any]) -> NDArray[Any]:
    """Copy an array that is to be kept for long, or return it if it may stay in memory."""
    if array.nbytes < SMALLEST or bytes_in_memory() + array.nbytes <= BUDGET:
        return _counted(array)
    whole = large_array(array.shape, array.dtype)
    whole[...] = array
    return whole


def release_pages() -> None:
    """
    Take the arrays in files out of the memory of this process, but not out of the system's cache.

    The next access brings a page back. Whoever passes over a long recording calls this now and
    then; without it, the system would have to guess what is no longer needed.
    """
    for mapped in list(_mapped):
        mapped.madvise(mmap.MADV_DONTNEED)


class GrowingArray:
    """
    An array to which rows are added, of the kind and width of the first ones.

    It grows in place: parts beside their join would take the memory twice.
    """

    def __init__(self) -> None:
        self._held: NDArray[Any] | None = None
        self._count = 0
        self._file: IO[bytes] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._count

    def add(self, rows: NDArray[Any]) -> None:
        """Add rows at the end."""
        if self._held is None:
            self._held = np.empty((0, *rows.shape[1:]), rows.dtype)
        start, self._count = self._count, self._count + len(rows)
        if self._file is not None:
            _write(self._file, rows)
            return
        if self._count > len(self._held):
            self._resize(self._count + int(SPARE * self._count))
        self._held[start:self._count] = rows
        if self._held.nbytes > GROWN:
            self._file = _temporary()
            _write(self._file, self._held[:self._count])
            self._resize(0)

    def take(self) -> NDArray[Any]:
        """Return the array; nothing can be added after that."""
        assert self._held is not None
        if self._file is None:
            self._resize(self._count)
            return stored(self._held)
        shape, kind = (self._count, *self._held.shape[1:]), self._held.dtype
        with self._file as file:
            mapped = _map(file, math.prod(shape) * kind.itemsize)
        return np.frombuffer(mapped, kind).reshape(shape)

    def _resize(self, room: int) -> None:
        assert self._held is not None
        # Nothing else refers to it, and the system moves large arrays without a copy.
        self._held.resize((room, *self._held.shape[1:]), refcheck=False)


def bytes_in_memory() -> int:
    """Return how much memory large arrays take that are not in files."""
    return sum(list(_in_memory.values()))


def _counted(array: NDArray[Any]) -> NDArray[Any]:
    """Count an array in memory for as long as anything refers to it."""
    if array.nbytes >= SMALLEST:
        key = object()
        _in_memory[key] = array.nbytes
        weakref.finalize(array, _in_memory.pop, key, None).atexit = False
    return array


class _SharedFile:
    """The file that arrays share at the moment, and how much of it they have taken."""

    def __init__(self) -> None:
        self._mapped: mmap.mmap | None = None
        self._taken = 0
        self._lock = Lock()

    def room(self, size: int) -> memoryview:
        with self._lock:
            if self._mapped is None or self._taken + size > FILE:
                self._mapped, self._taken = _new(FILE), 0
            start = self._taken
            # The next array begins at a page of its own.
            self._taken += -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
            return memoryview(self._mapped)[start:start + size]


_shared = _SharedFile()


def _room(size: int) -> mmap.mmap | memoryview:
    return _shared.room(size) if size < FILE // 2 else _new(size)


def _new(size: int) -> mmap.mmap:
    with _temporary() as file:
        try:
            if hasattr(os, 'posix_fallocate'):
                # A write to a hole of a file, on a full disk, would end the process.
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
        except OSError as error:
            raise _no_room(size, error) from error
        return _map(file, size)


def _map(file: IO[bytes], size: int) -> mmap.mmap:
    mapped = mmap.mmap(file.fileno(), size)
    _mapped.add(mapped)
    return mapped


def _temporary() -> IO[bytes]:
    try:
        return tempfile.TemporaryFile(prefix='dynid-', dir=_folder())
    except OSError as error:
        raise _no_room(0, error) from error


def _write(file: IO[bytes], rows: NDArray[Any]) -> None:
    try:
        file.write(np.ascontiguousarray(rows).data)
        # A full disk shows here, while it can be reported.
        file.flush()
    except OSError as error:
        raise _no_room(rows.nbytes, error) from error


def _folder() -> str:
    chosen = os.environ.get('TMPDIR')
    return chosen or (ON_DISK if os.access(ON_DISK, os.W_OK) else tempfile.gettempdir())


def _no_room(size: int, error: OSError) -> InputError:
    return InputError(
        f'{_folder()} has no room for the samples of a long recording'
        f'{f" ({size / 2**20:.0f} MB more)" if size else ""}: {error.strerror}; free some there, '
        'or set TMPDIR to a folder on a disk with room for twice the recording')
