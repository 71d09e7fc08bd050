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
    lowest, highest = np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)
    for part in blocks(len(x)):
        # Contiguous columns with NaN are reduced three times as fast as rows with a mask.
        columns = np.where(np.isfinite(x[part]), x[part], np.nan).T.copy()
        np.fmin(lowest, np.fmin.reduce(columns, axis=1), out=lowest)
        np.fmax(highest, np.fmax.reduce(columns, axis=1), out=highest)
    return lowest, highest


def marked(x: Array, condition: Callable[[Array], Mask]) -> Mask:
    """Mark the values (N, n) that satisfy a condition, block by block."""
    marks = np.zeros(x.shape, dtype=np.bool_)
    for part in blocks(len(x)):
        marks[part] = condition(x[part])
    return marks
