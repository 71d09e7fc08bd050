"""The first compilation of the kernels: announced once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

NOTICE = 'compiling the numeric kernels, once on this machine'

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


def announce() -> None:
    """Report a compilation, unless one was reported or nobody listens."""
    global _say
    if _say is not None:
        say, _say = _say, None
        say(NOTICE)
