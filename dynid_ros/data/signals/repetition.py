# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Detect whether a motion repeats another one, or itself, after a time shift."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.signals.periodic import mean_squares, PEAK, SAME_SPREAD, SHORTEST_PERIOD
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import finite_span

#: Times (N,), s, and values (N, c) of a stretch without gaps.
Stretch = tuple[Array, Array]

#: Sample rate for the search of shifts, Hz. The motion of arms lies below 5 Hz.
SEARCH_HZ = 20.0
#: Number of the likeliest shifts that are compared sample by sample.
TRIED_SHIFTS = 8
#: Share of the path of a motion that must repeat.
REPEATED_PATH = 0.5
#: Mark of samples of a repeated motion.
REPEATS = 'repeats the fitted motion'


def repeats(fitted: Sequence[Stretch], t: Array, q: Array) -> bool:
    """
    Whether a motion follows the positions of other motions for most of its path.

    Parameters
    ----------
    fitted : sequence of (Array, Array)
        Times (N,) and positions (N, n) of the others.
    t, q : (M,) and (M, n) ndarray
        The motion, s and rad or m.

    Returns
    -------
    bool
        True if, at one constant time shift, it lies within `PEAK` times `SAME_SPREAD` of their
        spread.

    """
    stretches = on_one_axis(fitted)
    others, own = _sampled(stretches), _sampled([(t, q)])
    misfit, way = _misfits(others, own)
    # Only shifts that compare at least half of the path.
    misfit = np.where(way >= way.max() / 2, misfit, np.inf)
    steps = int(np.argmin(misfit)) - (len(misfit) - len(others))
    return _repeated_path(others, own, steps, spread_of(stretches)) > REPEATED_PATH


def repetition_shift(stretches: Sequence[Stretch]) -> float | None:
    """
    Find the time shift after which most of a motion repeats.

    Parameters
    ----------
    stretches : sequence of (Array, Array)
        Times (N,), from `on_one_axis`, and positions (N, n).

    Returns
    -------
    float or None
        Shift, s; None if the motion does not repeat after `SHORTEST_PERIOD` or more.

    """
    if sum(len(t) for t, _ in stretches) < 2:
        return None
    samples = _sampled(stretches)
    misfit, way = _misfits(samples, samples)
    middle = len(misfit) - len(samples)
    misfit, way = misfit[middle:], way[middle:]
    misfit = np.where(way > 0, misfit, np.inf)
    if not way.any():
        return None
    # A motion must leave its position before it can return.
    departure = int(np.argmax(misfit > np.median(misfit[np.isfinite(misfit)]) / 2))
    first = max(departure, int(SHORTEST_PERIOD * SEARCH_HZ), 1)
    inner = np.arange(first, len(misfit) - 1)
    dips = inner[(misfit[inner] <= misfit[inner - 1]) & (misfit[inner] < misfit[inner + 1])]
    tried, spread = dips[np.argsort(misfit[dips])][:TRIED_SHIFTS].tolist(), spread_of(stretches)
    shares = {steps: _repeated_path(samples, samples, steps, spread) for steps in tried}
    best = max(shares, key=lambda steps: shares[steps], default=0)
    # Twice, because of two runs each repeats the other.
    return best / SEARCH_HZ if 2 * shares.get(best, 0.0) > REPEATED_PATH else None


def alike(there: Array, here: Array, spread: float) -> NDArray[np.bool_]:
    """Whether positions (N, n) agree within `PEAK` times `SAME_SPREAD` of a spread, (N,)."""
    return np.asarray(np.linalg.norm(there - here, axis=1) <= PEAK * SAME_SPREAD * spread)


def spread_of(stretches: Sequence[Stretch]) -> float:
    """Spread of a motion from its range, because standstill would reduce the mean square."""
    spans = np.array([finite_span(q) for _, q in stretches])
    return float(np.linalg.norm(spans[:, 1].max(axis=0) - spans[:, 0].min(axis=0)) / np.sqrt(8))


def on_one_axis(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Shift stretches of several recordings in time so that none overlap."""
    moved: list[Stretch] = []
    end = behind = -np.inf
    for t, values in stretches:
        behind = max(behind, 0.0)
        if t[0] + behind <= end:
            behind = end + SHORTEST_PERIOD - t[0]
        moved.append((t + behind, values))
        end = t[-1] + behind
    return moved


def _repeated_path(others: Array, own: Array, steps: int, spread: float) -> float:
    """Share of the path of a motion that agrees with others that many steps later."""
    ways, near = _path_lengths(own), np.zeros(len(own), dtype=np.bool_)
    first = max(0, -steps)
    both = slice(first, max(first, min(len(own), len(others) - steps)))
    near[both] = alike(others[both.start + steps:both.stop + steps], own[both], spread)
    way = float(ways[near].sum())
    return way / float(ways.sum()) if way else 0.0


def _misfits(a: Array, b: Array) -> tuple[Array, Array]:
    """
    Mean square difference of a motion b from others, a, at all shifts, and the compared path.

    Samples are weighted by path length, so that standstill does not count.
    """
    known, way = np.isfinite(a).all(axis=1).astype(float), _path_lengths(b)
    center = np.nanmean(a, axis=0)
    return mean_squares(np.nan_to_num(a - center), known, np.nan_to_num(b - center), way)


def _path_lengths(q: Array) -> Array:
    """Path length from each sample (N, n) to the next, (N,); zero where unknown."""
    steps = np.linalg.norm(np.diff(q, axis=0, append=q[-1:]), axis=1)
    return np.asarray(np.nan_to_num(steps))


def _sampled(stretches: Sequence[Stretch]) -> Array:
    """Values at `SEARCH_HZ`, (M, c), from the first time to the last."""
    return at(stretches, np.arange(stretches[0][0][0], stretches[-1][0][-1], 1 / SEARCH_HZ))


def at(stretches: Sequence[Stretch], times: Array) -> Array:
    """Values (M, c) at increasing times (M,); NaN outside all stretches."""
    values = np.full((len(times), stretches[0][1].shape[1]), np.nan)
    for t, known in stretches:
        inside = slice(*np.searchsorted(times, (t[0], t[-1])))
        # All columns at once, which NumPy interpolates one by one.
        before = np.searchsorted(t, times[inside], side='right') - 1
        after, elapsed = times[inside] - t[before], t[before + 1] - t[before]
        slope = (known[before + 1] - known[before]) / elapsed[:, None]
        # At a sample, an unknown value behind it does not count.
        values[inside] = np.where(
            after[:, None] > 0, slope * after[:, None] + known[before], known[before])
    return values
