"""Compilation of numeric kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast, TypeVar

import numba
from numba.core.caching import FunctionCache

from dynid_ros.utilities.progress import progress

#: Stage that is reported while machine code is made; some seconds for all kernels.
NOTICE = 'compiling the numeric kernels, once on this machine'

Function = TypeVar('Function', bound=Callable[..., Any])


class _ReportingCache(FunctionCache):
    """Machine code on the disk; that it has to be made is progress."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the code for some types."""
        found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
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
    compiled._cache = _ReportingCache(compiled.py_func)  # type: ignore[no-untyped-call]
    return cast('Function', compiled)
