"""Reductions of long signals block by block: what they compare never fills the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Samples of a block: those of seven joints stay in the cache.
BLOCK = 8192
#: Samples that are compared at once.
GROUP = 32


class Samples(Protocol):
    """Values (N, n), held or computed where they are read."""

    shape: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of samples."""

    def __getitem__(self, part: slice, /) -> Array:
        """Return the values of some samples."""


def blocks(samples: int, overlap: int = 0) -> Iterator[slice]:
    """Cut samples into consecutive blocks, each with so many samples of the next one."""
    for start in range(0, samples, BLOCK):
        yield slice(start, min(start + BLOCK + overlap, samples))


def finite_span(x: Samples) -> tuple[Array, Array]:
    """Smallest and largest finite value of each column (N, n); infinite where there is none."""
    lowest, highest = np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)
    for part in blocks(len(x)):
        values = x[part]
        least, most = _extremes(np.min, values), _extremes(np.max, values)
        if not np.isfinite([least, most]).all():
            finite = np.isfinite(values)
            least = _extremes(np.min, np.where(finite, values, np.inf))
            most = _extremes(np.max, np.where(finite, values, -np.inf))
        np.minimum(lowest, least, out=lowest)
        np.maximum(highest, most, out=highest)
    return lowest, highest


def _extremes(reduce: Callable[..., Array], values: Array) -> Array:
    # NumPy compares a row with the next one, several times faster if a row is not one sample.
    groups = len(values) // GROUP
    joined = reduce(values[:groups * GROUP].reshape(groups, -1), axis=0) if groups else values[:0]
    rest = values[groups * GROUP:]
    return reduce(np.concatenate([joined.reshape(-1, values.shape[1]), rest]), axis=0)


def all_within(x: Samples, limit: float) -> bool:
    """Whether all values of a signal are finite and no larger than a limit."""
    return all(bool((np.abs(x[part]) <= limit).all()) for part in blocks(len(x)))


def all_finite(x: Samples) -> bool:
    """Whether a signal has no NaN and nothing infinite."""
    return all_within(x, np.finfo(float).max)


def largest_step(x: Samples) -> float:
    """Largest finite step of any column from one sample to the next."""
    largest = 0.0
    for part in blocks(len(x), overlap=1):
        with np.errstate(invalid='ignore'):
            step = np.abs(np.diff(x[part], axis=0))
        largest = max(largest, float(np.max(step, initial=0.0, where=np.isfinite(step))))
    return largest
