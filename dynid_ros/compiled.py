"""Compilation of numeric kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast, TypeVar

import numba
from numba.core.caching import FunctionCache
from numba.core.compiler_lock import global_compiler_lock

from dynid_ros.first_compilation import lock_of

Function = TypeVar('Function', bound=Callable[..., Any])


class _SharedCache(FunctionCache):
    """Machine code on the disk, which one of several processes makes for all of them."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the code for some types; if there is none, this process makes it."""
        found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is not None:
            return found
        lock_of(self.cache_path).take()
        # Another process may have made it meanwhile.
        return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]


def kernel(function: Function) -> Function:
    """
    Compile a flat function over contiguous float64 arrays, and cache the machine code.

    Division by zero follows IEEE 754 as in NumPy, and no exception state is kept, so that the
    compiler may vectorise.
    """
    return _compiled(function)


def sum_kernel(function: Function) -> Function:
    """Compile a kernel whose sums may be taken in any order, so that they are vectorised too."""
    return _compiled(function, fastmath={'reassoc', 'contract'})


def _compiled(function: Function, **options: Any) -> Function:
    compiled: Any = numba.njit(error_model='numpy', nogil=True, **options)(function)
    # Numba has no setting for it but its own cache.
    compiled._cache = cache = _SharedCache(compiled.py_func)  # type: ignore[no-untyped-call]
    compile_or_load = compiled.compile

    def compile_in_turn(signature: Any) -> Any:
        # However it ends: a notebook lives on after Ctrl-C, and no other process must wait for it.
        with global_compiler_lock, lock_of(cache.cache_path).given_back():
            return compile_or_load(signature)

    compiled.compile = compile_in_turn
    return cast('Function', compiled)
