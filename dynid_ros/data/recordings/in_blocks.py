"""Long signals block by block: what is computed of them never fills the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.memmap import large_array

Mask = NDArray[np.bool_]
Index = NDArray[np.int64]

#: Samples of a block: those of seven joints stay in the cache.
BLOCK = 8192


def blocks(samples: int, overlap: int = 0, back: bool = False) -> Iterator[slice]:
    """
    Cut samples into blocks, each with so many samples of the next one.

    They come in the order of time, or `back` from the last to the first.
    """
    starts = range(0, samples, BLOCK)
    for start in reversed(starts) if back else starts:
        yield slice(start, min(start + BLOCK + overlap, samples))


def transformed(x: NDArray[Any], function: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """Apply a function of single samples to a signal (N, ...)."""
    first = function(x[:0])
    result = large_array((len(x), *first.shape[1:]), first.dtype)
    for part in blocks(len(x)):
        result[part] = function(x[part])
    return result


def chosen(x: NDArray[Any], keep: Mask) -> NDArray[Any]:
    """Copy the samples to keep, ``x[keep]``."""
    result = large_array((int(np.count_nonzero(keep)), *x.shape[1:]), x.dtype)
    done = 0
    for part in blocks(len(x)):
        some = x[part][keep[part]]
        result[done:done + len(some)] = some
        done += len(some)
    return result


def finite_span(x: Array) -> tuple[Array, Array]:
    """Smallest and largest finite value of each column (N, n); infinite where there is none."""
    lowest, highest = np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)
    for part in blocks(len(x)):
        # NumPy reduces rows several times faster than columns.
        values = np.ascontiguousarray(x[part].T)
        least, most = values, values
        if not np.isfinite(values).all():
            least, most = (np.where(np.isfinite(values), values, end) for end in (np.inf, -np.inf))
        np.minimum(lowest, least.min(axis=1), out=lowest)
        np.maximum(highest, most.max(axis=1), out=highest)
    return lowest, highest


def all_within(x: Array, limit: float) -> bool:
    """Whether all values of a signal are finite and no larger than a limit."""
    return all(bool((np.abs(x[part]) <= limit).all()) for part in blocks(len(x)))


def where(x: Array, condition: Callable[[Array], Mask]) -> tuple[Index, Index]:
    """
    Find the samples of which a condition holds.

    Parameters
    ----------
    x : (N, n) ndarray
        Signals, column by column.
    condition : callable
        Marks values of a block.

    Returns
    -------
    count : (n,) ndarray of int64
        How many of each column are marked.
    first : (n,) ndarray of int64
        The first one, where there is any.

    """
    number, first = np.zeros((2, x.shape[1]), dtype=np.int64)
    for part in blocks(len(x)):
        marks = condition(x[part])
        if marks.any():
            new = (number == 0) & marks.any(axis=0)
            first[new] = part.start + marks.argmax(axis=0)[new]
            number += marks.sum(axis=0)
    return number, first


def all_finite(x: Array) -> bool:
    """Whether a signal has no NaN and nothing infinite."""
    return all_within(x, np.finfo(float).max)
