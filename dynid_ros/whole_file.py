"""Atomic writing of files."""

from __future__ import annotations

import os
from pathlib import Path

from dynid_ros.errors import ResultError


def write_whole(path: Path, data: bytes) -> None:
    """
    Write a file beside its final place and rename it, so that no reader sees half of it.

    Parameters
    ----------
    path : Path
        File; its folder is made where it is missing, and an earlier file is replaced.
    data : bytes
        Content.

    Raises
    ------
    ResultError
        The folder cannot be made or written, or a folder is in the way of the file.

    """
    unfinished = path.with_name(f'.{path.name}.{os.getpid()}')
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            unfinished.write_bytes(data)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ResultError(
            f'{path} cannot be written: {reason}; choose another folder') from error
