"""Compiled kernels that filter and decimate rows while they are in the cache."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.dynamics.regressor_kernels import fill_lanes, LANES, to_lanes
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel, sum_kernel

Places = NDArray[np.int64]

#: Samples that are added at a time: a kept row is loaded and stored once for all of them.
GROUP = 4
#: Kept rows that samples side by side are added to at a time.
ROWS = 3
#: Zeros on both sides of the coefficients, for the samples of a group that lie beyond their reach.
PADDING = LANES - 1


@kernel
def add_filtered(x: Array, taps: Array, step: int, first: int, out: Array, column: int) -> None:
    """
    Add the share of some samples to all kept rows whose low-pass reaches over them.

    Parameters
    ----------
    x : (N, m) ndarray
        Samples.
    taps : (T + 2 PADDING,) ndarray
        Coefficients of the low-pass, with PADDING zeros on both sides.
    step : int
        Decimation: row k of the output reaches over the samples from ``k step`` on.
    first : int
        Number of the first sample, counted as the rows count them.
    out : (K, M) ndarray
        Kept rows, added to.
    column : int
        First of their m columns.

    """
    reach, width = taps.size - 2 * PADDING + GROUP - 1, x.shape[1]
    for s in range(0, x.shape[0], GROUP):
        at = first + s
        begin = max(0, (at - reach + GROUP + step - 1) // step)
        end = min(out.shape[0], (at + GROUP - 1) // step + 1)
        if s + GROUP <= x.shape[0]:
            # With rows of their own the compiler sees that it can vectorise.
            x0, x1, x2, x3 = x[s], x[s + 1], x[s + 2], x[s + 3]
            for k in range(begin, end):
                row = out[k, column:column + width]
                tap = at - k * step + PADDING
                a, b, c, d = taps[tap], taps[tap + 1], taps[tap + 2], taps[tap + 3]
                for e in range(width):
                    row[e] += (a * x0[e] + b * x1[e]) + (c * x2[e] + d * x3[e])
        else:
            for k in range(begin, end):
                for r in range(s, x.shape[0]):
                    tap = taps[first + r - k * step + PADDING]
                    for e in range(width):
                        out[k, column + e] += tap * x[r, e]


@kernel
def add_filtered_inertial(
    parent: NDArray[np.int64], prismatic: NDArray[np.bool_], turns: Array, translation: Array,
    slide: Array, axis: Array, gravity: Array,
    q: Array, qd: Array, qdd: Array, places: Places,
    taps: Array, step: int, first: int, out: Array,
) -> None:
    """
    Evaluate entries of the inertial regressor, and add them to the kept rows.

    Parameters
    ----------
    parent, prismatic, turns, translation, slide, axis, gravity, q, qd, qdd
        As for `fill_inertial`.
    places : (m, 3) ndarray of int
        Joint, link and parameter of each entry that is kept.
    taps, step, first, out
        As for `add_filtered`; the entries are the first m columns.

    """
    n = parent.size
    state = np.empty((3, n, LANES))
    work = np.empty((14 + 9 * (n + 1) + 6 * n * n, LANES))
    every = np.empty((n, n, 10 * LANES))
    for s in range(0, q.shape[0], LANES):
        lanes = min(LANES, q.shape[0] - s)
        to_lanes(q, s, lanes, state[0])
        to_lanes(qd, s, lanes, state[1])
        to_lanes(qdd, s, lanes, state[2])
        fill_lanes(parent, prismatic, turns, translation, slide, axis, gravity,
                   state[0], state[1], state[2], lanes, work, every)
        add_lanes(every, places, lanes, taps, step, first + s, out)


@sum_kernel
def add_lanes(
    every: Array, places: Places, lanes: int, taps: Array, step: int, at: int, out: Array,
) -> None:
    """
    Add entries of samples side by side to all kept rows whose low-pass reaches over them.

    Parameters
    ----------
    every : (n, n, 10 LANES) ndarray
        Entries, as `fill_lanes` makes them.
    places, taps, step, out
        As for `add_filtered_inertial`.
    lanes : int
        Samples.
    at : int
        Number of the first sample, counted as the rows count them.

    """
    reach = taps.size - 2 * PADDING
    begin = max(0, (at - reach + step) // step)
    end = min(out.shape[0], (at + lanes - 1) // step + 1)
    for e in range(places.shape[0]):
        entry = every[places[e, 0], places[e, 1], places[e, 2] * LANES:]
        k = begin
        while k <= end - ROWS:
            tap = at - k * step + PADDING
            here, next_one, last = taps[tap:], taps[tap - step:], taps[tap - 2 * step:]
            a, b, c = 0.0, 0.0, 0.0
            for r in range(lanes):
                a += here[r] * entry[r]
                b += next_one[r] * entry[r]
                c += last[r] * entry[r]
            out[k, e] += a
            out[k + 1, e] += b
            out[k + 2, e] += c
            k += ROWS
        while k < end:
            here = taps[at - k * step + PADDING:]
            a = 0.0
            for r in range(lanes):
                a += here[r] * entry[r]
            out[k, e] += a
            k += 1
