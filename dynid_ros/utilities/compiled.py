# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Compilation of numeric kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast, TypeVar

import numba
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys

from dynid_ros.utilities.progress import progress

#: Stage reported during compilation; some seconds for all kernels.
NOTICE = 'compiling the numeric kernels, once on this machine'

Function = TypeVar('Function', bound=Callable[..., Any])


@cache
def _content(room: Path) -> bytes:
    """Return the hash of all sources of a room."""
    return sha256(b''.join(path.read_bytes() for path in sorted(room.glob('*.py')))).digest()


class _ReportingCache(FunctionCache):
    """Machine code on the disk; compilation is reported as progress."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        # The code contains kernels and constants of other files, which Numba does not check.
        self._cache_file._source_stamp = _content(Path(function.__code__.co_filename).parent)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """
        Load the code for some types.

        Numba would register all that it can compile first, for half a second. Machine code needs
        only the functions that allocate; a compilation registers the rest itself.
        """
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None:
            progress(NOTICE, 0.0)
        return found


def kernel(function: Function) -> Function:
    """
    Compile a flat function over contiguous float64 arrays, and cache the machine code.

    Division by zero follows IEEE 754 as in NumPy, and no exception state is kept, so that the
    compiler may vectorise.
    """
    compiled: Any = numba.njit(error_model='numpy', nogil=True)(function)
    # Numba has no setting for it but its own cache.
    compiled._cache = _ReportingCache(compiled.py_func)
    return cast('Function', compiled)
