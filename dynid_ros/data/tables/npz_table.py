"""Arrays of an npz file, each read only where it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
import io
import math
from pathlib import Path
from typing import Any, IO
import zipfile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from dynid_ros.errors import reason_of, RecordingError

Values = NDArray[np.generic]
Header = tuple[tuple[int, ...], bool, np.dtype[Any]]

ENDING = '.npy'
_HEADERS: dict[tuple[int, int], Callable[[IO[bytes]], Header]] = {
    (1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def npz_headers(path: Path) -> dict[str, Header]:
    """
    Find the arrays of a file written by ``numpy.savez``: shape, order and type of each.

    Raises
    ------
    RecordingError
        The file is no such file, or it is damaged.

    """
    found = {}
    with _opened(path) as (file, members):
        for name, info in members.items():
            with file.open(info) as member:
                found[name] = _HEADERS[npy.read_magic(member)](member)
            shape, _, dtype = found[name]
            if math.prod(shape) * dtype.itemsize > info.file_size:
                raise ValueError(f'{info.filename} claims an array of shape {shape}, but holds '
                                 f'{info.file_size} bytes')
    return found


def read_npz(path: Path, wanted: Sequence[str]) -> dict[str, Values]:
    """
    Read some arrays of a file written by ``numpy.savez``.

    Parameters
    ----------
    path : Path
        File.
    wanted : sequence of str
        Names of arrays; others are not read.

    Raises
    ------
    RecordingError
        The file is no such file, or it is damaged.

    """
    found = {}
    with _opened(path) as (file, members):
        for name in wanted:
            with file.open(members[name]) as member:
                found[name] = npy.read_array(member, allow_pickle=False)
                # At the end of the member, zipfile compares its checksum.
                if member.read(1):
                    raise ValueError(f'{name}{ENDING} is longer than its header claims')
    return found


@contextmanager
def _opened(path: Path) -> Iterator[tuple[zipfile.ZipFile, dict[str, zipfile.ZipInfo]]]:
    try:
        with zipfile.ZipFile(path) as file:
            yield file, {info.filename.removesuffix(ENDING): info for info in file.infolist()}
    except Exception as error:
        # A damaged file may fail anywhere in the decoders of zip, npy and Python, with any
        # exception.
        raise RecordingError(
            f'{path} is not a readable npz file: {reason_of(error)}; write it again with '
            'numpy.savez(path, t=t, q=q, tau=tau)') from error


def npz_bytes(**arrays: NDArray[Any]) -> bytes:
    """Make the content of an npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    with zipfile.ZipFile(buffer, 'a') as archive:
        archive.comment = b'by dynid_ros'
    return buffer.getvalue()
