"""Compilation of numeric kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast, TypeVar

import numba

Function = TypeVar('Function', bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """
    Compile a flat function over contiguous float64 arrays, and cache the machine code.

    Division by zero follows IEEE 754 as in NumPy, and no exception state is kept, so that the
    compiler may vectorise.
    """
    compiled = numba.njit(cache=True, error_model='numpy', nogil=True)(function)
    return cast('Function', compiled)
