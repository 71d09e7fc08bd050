# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Progress callbacks: long work reports its progress without knowing who receives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str, float], None]

_listener: Listener | None = None


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """
    Receive all progress within the block.

    Parameters
    ----------
    listener : callable
        Takes the name of a stage, and the share of the work that is done.

    """
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


def progress(stage: str, done: float) -> None:
    """Report a stage that begins, and the share of the work that is done."""
    if _listener is not None:
        _listener(stage, done)
