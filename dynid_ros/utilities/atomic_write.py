# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Files of bounded size, read at once, and written so that incomplete files have other names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, ExitStack
import errno
import os
from pathlib import Path
import re
from tempfile import TemporaryDirectory, TemporaryFile

from dynid_ros.errors import ResultError

#: Bytes of the largest description or result. The largest URDF of example-robot-data 6.0 has 0.2
#: MB, and a result of 400 parameters 4 MB; a device may be endless.
LARGEST_FILE = 32 * 2**20
#: Mark of a file that dynid wrote, within `MARK_REACH` bytes of its start or end.
OWN_MARK, MARK_REACH = re.compile(rb'\b(by:?|format:) dynid_ros\b'), 4096


def read_whole(path: Path) -> bytes:
    """
    Read a file of at most `LARGEST_FILE` bytes.

    Raises
    ------
    OSError
        The file cannot be read, is larger, or no file can have its name.

    """
    try:
        with path.open('rb') as file:
            data = file.read(LARGEST_FILE + 1)
    except ValueError as error:
        raise OSError(errno.EINVAL, 'no file can have this name', str(path)) from error
    if len(data) > LARGEST_FILE:
        raise OSError(errno.EFBIG, f'it has more than {LARGEST_FILE // 2**20} MB', str(path))
    return data


def check_output(*paths: Path, holding: Collection[str] = ()) -> None:
    """
    Refuse existing outputs before the work begins, except those of dynid.

    Parameters
    ----------
    *paths : Path
        Files (those in one folder belong together), or folders to replace.
    holding : collection of str
        Names that such a folder may hold, one of them with the mark of dynid.

    Raises
    ------
    ResultError
        One of them exists and dynid did not write it, or a file stands where a folder must be.

    """
    for path in paths:
        for folder in path.parents:
            if folder.exists():
                if not folder.is_dir():
                    raise ResultError(
                        f'{path} cannot be written: {folder} is a file; choose another folder')
                break
        # Reports of earlier versions have no mark, but the result beside them has.
        own = _own_folder(path, holding) if holding else any(
            _marked(each) for each in paths if each.parent == path.parent)
        if path.exists() and not own:
            raise ResultError(f'{path} exists already, and is no output that dynid may replace; '
                              'remove it or choose another name')


def _own_folder(path: Path, holding: Collection[str]) -> bool:
    names = list(path.iterdir()) if path.is_dir() else [path]
    return not names or (all(name.name in holding for name in names)
                         and any(map(_marked, names)))


def _marked(path: Path) -> bool:
    """Whether dynid wrote a file."""
    if not path.is_file():
        return False
    with path.open('rb') as file:
        start = file.read(MARK_REACH)
        file.seek(max(path.stat().st_size - MARK_REACH, 0))
        return OWN_MARK.search(start + b'\n' + file.read()) is not None


def write_whole(path: Path, data: bytes) -> None:
    """
    Write a file; see `write_together`.

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
    write_together({path: data})


def write_together(contents: Mapping[Path, bytes]) -> None:
    """
    Write files beside their final places and rename them once all are written.

    No reader sees half of a file, and a full disk replaces none of them.

    Parameters
    ----------
    contents : mapping of Path to bytes
        Content of each file, in the order of renaming.

    Raises
    ------
    ResultError
        A folder cannot be made or written, or a folder is in the way of a file.

    """
    with _named(next(iter(contents))) as current, ExitStack() as stack:
        unfinished = {}
        for path, data in contents.items():
            current[0] = path
            unfinished[path] = stack.enter_context(_aside(path))
            unfinished[path].write_bytes(data)
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        for path in contents:
            current[0] = path
            unfinished[path].replace(path)


def try_folder(path: Path) -> None:
    """
    Make sure that files can be written in a folder, which is made only once there is one.

    Parameters
    ----------
    path : Path
        The folder.

    Raises
    ------
    ResultError
        It cannot be made or written.

    """
    with _named(path):
        there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
        with TemporaryFile(dir=there):
            pass


@contextmanager
def _aside(path: Path) -> Iterator[Path]:
    """Yield a temporary path for a file or folder, and remove it at the end if it still exists."""
    parent = path.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix='.', dir=parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder) / path.name


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """
    Fill a folder beside its final place, and rename it once it is complete.

    Parameters
    ----------
    path : Path
        Folder, which replaces an earlier one; see `check_output`.

    Yields
    ------
    Path
        Folder of the same name elsewhere, to be made and filled; an error removes it.

    Raises
    ------
    ResultError
        The folder cannot be made or written.

    """
    with _named(path), _aside(path) as aside:
        yield aside
        if path.exists():
            path.rename(aside.with_name('.earlier'))
        aside.rename(path)


@contextmanager
def _named(path: Path) -> Iterator[list[Path]]:
    """Name the file, the first of the list, in an error of the system."""
    current = [path]
    try:
        yield current
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ResultError(
            f'{current[0]} cannot be written: {reason}; choose another folder') from error
