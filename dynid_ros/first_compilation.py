"""The first compilation of the kernels: announced once, and in one process at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
import os
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows, where processes compile beside each other.
    fcntl = None  # type: ignore[assignment]

NOTICE = 'compiling the numeric kernels, once on this machine'
LOCK = 'dynid_ros.lock'

_say: Callable[[str], None] | None = None


@contextmanager
def announced(say: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """
    Report the first compilation within the block, if there is any.

    Parameters
    ----------
    say : callable
        Takes a notice, once.

    Yields
    ------
    callable
        Returns whether there was one.

    """
    global _say
    before, _say = _say, say
    try:
        yield lambda: _say is None
    finally:
        _say = before


class FolderLock:
    """
    A lock on a folder of compiled kernels, which one process holds at a time.

    One thread at a time takes it, as often as kernels call each other. Where files cannot be
    locked, it does nothing.

    Parameters
    ----------
    folder : Path
        The folder.

    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._file: IO[bytes] | None = None

    def take(self) -> None:
        """Announce a compilation, and wait until no other process compiles."""
        global _say
        if _say is not None:
            say, _say = _say, None
            say(NOTICE)
        if self._file is not None or fcntl is None:
            return
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open('ab')
            fcntl.flock(self._file, fcntl.LOCK_EX)

    @contextmanager
    def given_back(self) -> Iterator[None]:
        """Release the lock after the block, unless it was held before."""
        held = self._file is not None
        try:
            yield
        finally:
            if not held and self._file is not None:
                self._file.close()
                self._file = None


_locks: dict[str, FolderLock] = {}


def lock_of(folder: str | os.PathLike[str]) -> FolderLock:
    """Return the lock of a folder, the same one within a process."""
    return _locks.setdefault(str(folder), FolderLock(Path(folder)))
