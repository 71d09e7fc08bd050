"""Arrays of long recordings: in files that the system drops, where they are large."""

from __future__ import annotations

from collections.abc import Sequence
import math
import mmap
import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dynid_ros.errors import InputError

#: Bytes from which an array lies in a file: the positions of 7 joints over two minutes at 1 kHz.
LARGE = 8 * 2**20
#: Where long recordings go if TMPDIR is not set: the folder for temporary files on a disk
#: (https://systemd.io/TEMPORARY_DIRECTORIES). /tmp is memory on many systems.
ON_DISK = '/var/tmp'


def large_array(shape: int | Sequence[int], dtype: DTypeLike = float) -> NDArray[Any]:
    """
    Make an array, as `numpy.empty` does.

    A large one lies in a file without a name in the folder of `TMPDIR`. The system writes what it
    holds to the disk when memory is short, and reads it again when it is needed.

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
    if size < LARGE:
        return np.empty(lengths, kind)
    try:
        with tempfile.TemporaryFile(prefix='dynid-', dir=_folder()) as file:
            if hasattr(os, 'posix_fallocate'):
                # A write to a hole of a file, on a full disk, would end the process.
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
            return _mapped(file, kind, lengths)
    except OSError as error:
        raise _no_room(size, error) from error


class GrowingArray:
    """An array to which rows are added, of the kind and width of the first ones."""

    def __init__(self) -> None:
        # take() closes it.
        self._file = tempfile.SpooledTemporaryFile(  # noqa: SIM115
            LARGE, prefix='dynid-', dir=_folder())
        self._count = 0

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._count

    def add(self, rows: NDArray[Any]) -> None:
        """Add rows at the end."""
        if not self._count:
            self._first = rows[:0]
        self._count += len(rows)
        try:
            self._file.write(np.ascontiguousarray(rows).data)
            # A full disk shows here, while it can be reported.
            self._file.flush()
        except OSError as error:
            raise _no_room(rows.nbytes, error) from error

    def take(self) -> NDArray[Any]:
        """Return the array; nothing can be added after that."""
        kind, shape = self._first.dtype, (self._count, *self._first.shape[1:])
        with self._file as file:
            if math.prod(shape) * kind.itemsize > LARGE:
                return _mapped(file, kind, shape)
            file.seek(0)
            return np.frombuffer(bytearray(file.read()), kind).reshape(shape)


def _mapped(file: Any, kind: np.dtype[Any], shape: Sequence[int]) -> NDArray[Any]:
    return np.frombuffer(mmap.mmap(file.fileno(), 0), kind).reshape(shape)


def _folder() -> str:
    chosen = os.environ.get('TMPDIR')
    return chosen or (ON_DISK if os.access(ON_DISK, os.W_OK) else tempfile.gettempdir())


def _no_room(size: int, error: OSError) -> InputError:
    return InputError(
        f'{_folder()} has no room for the samples of a long recording '
        f'({size / 2**20:.0f} MB more): {error.strerror}; free some there, '
        'or set TMPDIR to a folder on a disk with room for three times the recording')
