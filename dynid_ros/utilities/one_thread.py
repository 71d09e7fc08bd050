# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Run the linear algebra of a call on one thread, in a process of another program.

`dynid_ros.utilities.threads` gives the reason. Its environment variables come too late if the
caller imported NumPy first, and would remain set.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

_lock = Lock()
_calls = 0
_limit: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """
    Keep the BLAS of NumPy and SciPy on one thread within a block, or within a decorated function.

    The setting belongs to the process: if blocks overlap in several threads, the last one to end
    restores the setting from before the first. Without threadpoolctl nothing is set.
    """
    global _calls, _limit
    with _lock:
        if not _calls and (pools := _pools()) is not None:
            _limit = pools.limit(limits=1)
            _hand_over(pools)
        _calls += 1
    try:
        yield
    finally:
        with _lock:
            _calls -= 1
            if not _calls and _limit is not None:
                _limit.restore_original_limits()
                _limit = None
                _hand_over(_pools())


@cache
def _pools() -> Any:
    """Find the thread pools of each loaded BLAS; decorated functions have imported SciPy's."""
    try:
        from threadpoolctl import ThreadpoolController
    except ModuleNotFoundError:  # rosdep cannot install it.
        return None
    return ThreadpoolController().select(user_api='blas')


def _hand_over(pools: Any) -> None:
    """Allow another thread to change the setting: threadpoolctl refuses it until a block ends."""
    with pools.limit():
        pass
