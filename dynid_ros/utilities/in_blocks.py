# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Process long signals in blocks, to save memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array

Mask = NDArray[np.bool_]
Index = NDArray[np.int64]

#: Samples of a block, which fit the cache for seven joints.
SAMPLES_PER_BLOCK = 8192
#: Rows that are reduced side by side.
ROWS_AT_ONCE = 32


def blocks(samples: int) -> Iterator[slice]:
    """Cut samples into blocks, in the order of time."""
    for start in range(0, samples, SAMPLES_PER_BLOCK):
        yield slice(start, min(start + SAMPLES_PER_BLOCK, samples))


def steps(samples: int) -> Iterator[tuple[slice, slice]]:
    """Cut the steps between samples into blocks: the samples before and after each."""
    for part in blocks(samples - 1):
        yield part, slice(part.start + 1, part.stop + 1)


def finite_span(x: Array) -> tuple[Array, Array]:
    """Find the smallest and largest finite value of each column (N, n); infinite without any."""
    return span_and_finite(x)[0]


def span_and_finite(x: Array) -> tuple[tuple[Array, Array], bool]:
    """Return the `finite_span` of columns, and whether all of their values are finite."""
    lowest, highest = np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)
    finite = True
    for part in blocks(len(x)):
        least, most = _reduced(np.minimum, x[part]), _reduced(np.maximum, x[part])
        if not (np.isfinite(least).all() and np.isfinite(most).all()):
            finite = False
            known = np.where(np.isfinite(x[part]), x[part], np.nan)
            least, most = np.fmin.reduce(known, axis=0), np.fmax.reduce(known, axis=0)
        np.fmin(lowest, least, out=lowest)
        np.fmax(highest, most, out=highest)
    return (lowest, highest), finite


def increases(t: Array) -> bool:
    """Whether each value (N,) is larger than the one before."""
    return all((t[after] > t[before]).all() for before, after in steps(len(t)))


def steps_where(t: Array, condition: Callable[[Array], Mask]) -> Index:
    """Find the values (N,) whose step to the next one satisfies a condition, (k,)."""
    # Block by block: arrays of all stamps would take longer to allocate than to compute.
    found = [before.start + np.flatnonzero(condition(t[after] - t[before]))
             for before, after in steps(len(t))]
    return np.concatenate([np.zeros(0, dtype=np.int64), *found])


def largest_change(x: Array) -> Array:
    """Largest absolute change of each column (N, n) within a sample; NaN if one is unknown."""
    largest = np.zeros(x.shape[1])
    # The difference of two infinite values is unknown, too.
    with np.errstate(invalid='ignore'):
        for before, after in steps(len(x)):
            change = x[after] - x[before]
            np.maximum(largest, _reduced(np.maximum, np.abs(change, out=change)), out=largest)
    return largest


def _reduced(pick: np.ufunc, x: Array) -> Array:
    """Reduce the rows of a block (k, n) to the smallest or largest value of each column."""
    whole = len(x) // ROWS_AT_ONCE * ROWS_AT_ONCE
    if whole:
        # Rows of seven values take ten times as long as long ones.
        wide = pick.reduce(x[:whole].reshape(-1, ROWS_AT_ONCE * x.shape[1]), axis=0)
        x = np.concatenate([wide.reshape(-1, x.shape[1]), x[whole:]])
    return np.asarray(pick.reduce(x, axis=0))


def marked(x: Array, condition: Callable[[Array], Mask]) -> Mask:
    """Mark the values (N, n) that satisfy a condition, block by block."""
    marks = np.zeros(x.shape, dtype=np.bool_)
    for part in blocks(len(x)):
        marks[part] = condition(x[part])
    return marks
