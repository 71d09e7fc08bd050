"""Medians and percentiles of long signals, in passes that need little memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.recordings.in_blocks import Computed

Array = NDArray[np.float64]
Keys = NDArray[np.uint64]

#: Values that are sorted in memory.
SORTED = 4_000_000
#: Bits of the number of intervals into which each pass divides the one with the value looked for.
BITS = 16
_SIGN = np.uint64(1 << 63)


def median(x: Computed, least: float = -np.inf) -> float:
    """Return the median of the values (N,) above a bound, as `numpy.median` does."""
    if len(x) <= SORTED:
        whole = _whole(x)
        return float(np.median(whole[whole > least]))
    smaller = sum(int(np.count_nonzero(values <= least)) for values in x.parts())
    count = len(x) - smaller
    below, above = _neighbours(x, smaller + (count - 1) // 2)
    return float(below[0]) if count % 2 else float(below[0] + above[0]) / 2


def percentile(x: Computed, percent: float) -> float:
    """Return a percentile of finite values (N,), as `numpy.percentile` does."""
    if len(x) <= SORTED:
        return float(np.percentile(_whole(x), percent, overwrite_input=True))
    return float(_between(x, percent)[0])


def _whole(x: Computed) -> Array:
    whole = np.empty(len(x))
    done = 0
    for values in x.parts():
        whole[done:done + len(values)] = values
        done += len(values)
    return whole


def _between(x: Computed, percent: float) -> Array:
    place = (len(x) - 1) * percent / 100
    below, above = _neighbours(x, int(place))
    return below + (above - below) * (place - int(place))


def _neighbours(x: Computed, rank: int) -> tuple[Array, Array]:
    """Value of each column at a place of the sorted signal (n,), and the next one there."""
    low, high = (_keys(np.atleast_1d(values)) for values in x.extremes())
    left = np.full(len(low), rank, dtype=np.int64)
    while (high > low).any():
        counts = np.zeros((len(low), 1 << BITS), dtype=np.int64)
        shifts = [max(int(span).bit_length() - BITS, 0) for span in high - low]
        for values in x.parts():
            for j, column in enumerate(values.reshape(len(values), -1).T):
                # Those below the interval wrap around and lie above it.
                keys = _keys(column) - low[j]
                inside = keys[keys <= high[j] - low[j]] >> np.uint64(shifts[j])
                counts[j] += np.bincount(inside.astype(np.int64), minlength=1 << BITS)
        for j, shift in enumerate(shifts):
            found = int(np.searchsorted(np.cumsum(counts[j]), left[j], side='right'))
            left[j] -= counts[j, :found].sum()
            low[j] += np.uint64(found << shift)
            high[j] = min(int(low[j]) + (1 << shift) - 1, int(high[j]))
    below = _values(low)
    upto, above = np.zeros(len(low), dtype=np.int64), np.full(len(low), np.inf)
    for values in x.parts():
        columns = values.reshape(len(values), -1)
        larger = columns > below
        upto += len(columns) - np.count_nonzero(larger, axis=0)
        above = np.minimum(above, np.min(columns, axis=0, where=larger, initial=np.inf))
    return below, np.where((upto > rank + 1) | ~np.isfinite(above), below, above)


def _keys(values: Array) -> Keys:
    """Map numbers to integers of the same order (the bits of IEEE 754, negative ones reversed)."""
    # Zero has two signs.
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _values(keys: Keys) -> Array:
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)
