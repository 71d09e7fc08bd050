# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Kernels that read recorded signals block by block: speeds, levels, and values near limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel


@kernel
def find_levels(
    u: Array, marks: NDArray[np.bool_], lowest: Array, highest: Array,
    total: NDArray[np.int64], levels: Array, different: NDArray[np.int64],
) -> None:
    """
    Find the outermost values of signals and their first different ones, block by block.

    Parameters
    ----------
    u, marks : (k, n) ndarray
        Signals, and whether each value counts.
    lowest, highest : (m, n) ndarray
        The m smallest different values that count, from the outermost one inwards, and the m
        largest; infinite where there are fewer. Extended in place.
    total : (n,) ndarray
        Number of values that count; raised in place.
    levels, different : (L, n) and (n,) ndarray
        The first L different values, and how many there are; extended in place.

    """
    below, above = lowest[-1], highest[-1]
    for k in range(u.shape[0]):
        for j in range(u.shape[1]):
            if marks[k, j]:
                value = u[k, j]
                total[j] += 1
                if not below[j] <= value <= above[j]:
                    _insert(lowest, j, value, 1.0)
                    _insert(highest, j, value, -1.0)
                if different[j] < levels.shape[0]:
                    known = False
                    for i in range(different[j]):
                        known |= levels[i, j] == value
                    if not known:
                        levels[different[j], j] = value
                        different[j] += 1


@kernel
def _insert(outermost: Array, j: int, value: float, way: float) -> None:
    """Insert a value that is new to a column (m, n), which rises where `way` is 1, else falls."""
    i = outermost.shape[0] - 1
    if way * value >= way * outermost[i, j]:
        return
    for place in range(i):
        if outermost[place, j] == value:
            return
    while i > 0 and way * value < way * outermost[i - 1, j]:
        outermost[i, j] = outermost[i - 1, j]
        i -= 1
    outermost[i, j] = value


@kernel
def count_near(
    u: Array, marks: NDArray[np.bool_], high: Array, highest: Array, low: Array, lowest: Array,
    counts: NDArray[np.int64],
) -> None:
    """
    Count the values of signals near their limits, block by block.

    Parameters
    ----------
    u, marks : (k, n) ndarray
        Signals, and whether each value counts.
    high, highest : (n,) ndarray
        Beginning of the band below the upper limit, and of the values at it.
    low, lowest : (n,) ndarray
        The same of the lower limit.
    counts : (2, 2, n) ndarray of int
        Values in the band and at the limit, of the upper and of the lower one; raised in place.

    """
    for k in range(u.shape[0]):
        for j in range(u.shape[1]):
            if marks[k, j]:
                if u[k, j] >= high[j]:
                    counts[0, 0, j] += 1
                    counts[0, 1, j] += u[k, j] >= highest[j]
                if u[k, j] <= low[j]:
                    counts[1, 0, j] += 1
                    counts[1, 1, j] += u[k, j] <= lowest[j]


@kernel
def fill_speeds(t: Array, q: Array, speeds: Array) -> None:
    """
    Differentiate positions by central differences of uneven times.

    Parameters
    ----------
    t, q : (k,) and (k, n) ndarray
        Times, s, and positions.
    speeds : (k, n) ndarray
        Output: absolute velocities; one-sided at both ends, as from `numpy.gradient`.

    """
    last = t.size - 1
    for k in range(t.size):
        before, after = max(k - 1, 0), min(k + 1, last)
        earlier, later = t[k] - t[before], t[after] - t[k]
        ahead = earlier / (later * (earlier + later)) if 0 < k < last else 1 / (earlier + later)
        behind = later / (earlier * (earlier + later)) if 0 < k < last else ahead
        for j in range(q.shape[1]):
            speeds[k, j] = abs(ahead * (q[after, j] - q[k, j]) + behind * (q[k, j] - q[before, j]))


@kernel
def mark_fast(
    speeds: Array, share: float, top: Array, marks: NDArray[np.bool_], slowest: Array,
) -> None:
    """
    Mark the joints that move in a block.

    Parameters
    ----------
    speeds : (k, n) ndarray
        Absolute velocities.
    share : float
        Speed from which a joint moves, relative to its highest one.
    top : (n,) ndarray
        Highest speed of each joint so far; raised in place.
    marks : (k, n) ndarray of bool
        Output: whether each joint moves.
    slowest : (n,) ndarray
        Lowest marked speed; lowered in place.

    """
    for k in range(speeds.shape[0]):
        for j in range(speeds.shape[1]):
            top[j] = max(top[j], speeds[k, j])
    for k in range(speeds.shape[0]):
        for j in range(speeds.shape[1]):
            marks[k, j] = speeds[k, j] > share * top[j]
            if marks[k, j]:
                slowest[j] = min(slowest[j], speeds[k, j])
