"""Where a motion repeats another one, or itself, after a shift in time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.signals.periodic import mean_squares, PEAK, SAME, SHORTEST_PERIOD
from dynid_ros.utilities.arrays import Array

#: Times (N,), s, and values (N, c) of a stretch that is sampled throughout.
Stretch = tuple[Array, Array]

#: Rate at which shifts are looked for, Hz. The motion of arms lies below 5 Hz.
SEARCH_HZ = 20.0
#: Shifts that are compared sample by sample, the likeliest first.
TRIED = 8
#: Share of the way of a motion that makes it one that repeats.
MOST = 0.5
#: Beside the figures of samples of such a motion.
REPEATS = 'repeats the fitted motion'


def repeats(fitted: Sequence[Stretch], t: Array, q: Array) -> bool:
    """
    Whether a motion follows the positions of others for most of its way.

    Parameters
    ----------
    fitted : sequence of (Array, Array)
        Times (N,) and positions (N, n) of the others.
    t, q : (M,) and (M, n) ndarray
        The motion, s and rad or m.

    Returns
    -------
    bool
        Whether at one constant shift in time it lies within `PEAK` times `SAME` of their spread.

    """
    others, own = on_one_axis(fitted), [(t, q)]
    misfit, way = _misfits(others, own)
    # Where half of the way is compared at least.
    misfit = np.where(way >= way.max() / 2, misfit, np.inf)
    steps = int(np.argmin(misfit)) - (len(misfit) - len(_grid(others)))
    shift = steps / SEARCH_HZ + _grid(others)[0] - t[0]
    return _alike_way(others, own, shift) > MOST


def own_shift(stretches: Sequence[Stretch]) -> float | None:
    """
    Find the shift in time after which most of a motion repeats.

    Parameters
    ----------
    stretches : sequence of (Array, Array)
        Times (N,), from `on_one_axis`, and positions (N, n).

    Returns
    -------
    float or None
        s; None where no shift of `SHORTEST_PERIOD` at least does.

    """
    if sum(len(t) for t, _ in stretches) < 2:
        return None
    misfit, way = _misfits(stretches, stretches)
    middle = len(misfit) - len(_grid(stretches))
    misfit, way = misfit[middle:], way[middle:]
    misfit = np.where(way > 0, misfit, np.inf)
    if not way.any():
        return None
    # Before a motion has gone away from where it was, it cannot come back.
    away = int(np.argmax(misfit > np.median(misfit[np.isfinite(misfit)]) / 2))
    first = max(away, int(SHORTEST_PERIOD * SEARCH_HZ), 1)
    inner = np.arange(first, len(misfit) - 1)
    dips = inner[(misfit[inner] <= misfit[inner - 1]) & (misfit[inner] < misfit[inner + 1])]
    tried = dips[np.argsort(misfit[dips])][:TRIED] / SEARCH_HZ
    found = {shift: _alike_way(stretches, stretches, shift) for shift in tried.tolist()}
    best = max(found, key=lambda shift: found[shift], default=0.0)
    # Of two runs, each repeats the other.
    return best if 2 * found.get(best, 0.0) > MOST else None


def alike(there: Array, here: Array, spread: float) -> NDArray[np.bool_]:
    """Whether positions (N, n) are the same but for `PEAK` times `SAME` of a spread, (N,)."""
    return np.asarray(np.linalg.norm(there - here, axis=1) <= PEAK * SAME * spread)


def spread_of(stretches: Sequence[Stretch]) -> float:
    """Spread of a motion, from its range, since the mean square would shrink with standstill."""
    highest, lowest = (pick([pick(q, axis=0) for _, q in stretches], axis=0)
                       for pick in (np.max, np.min))
    return float(np.linalg.norm(highest - lowest) / np.sqrt(8))


def on_one_axis(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Move stretches of several recordings in time, so that each begins after the one before."""
    moved: list[Stretch] = []
    end = behind = -np.inf
    for t, values in stretches:
        behind = max(behind, 0.0)
        if t[0] + behind <= end:
            behind = end + SHORTEST_PERIOD - t[0]
        moved.append((t + behind, values))
        end = t[-1] + behind
    return moved


def _alike_way(others: Sequence[Stretch], own: Sequence[Stretch], shift: float) -> float:
    """Share of the way of a motion that lies near others after a shift."""
    times = _grid(own)
    here, there = at(own, times), at(others, times + shift)
    ways = _ways(here)
    near = ways[alike(there, here, spread_of(others))].sum()
    return float(near / ways.sum()) if near else 0.0


def _misfits(others: Sequence[Stretch], own: Sequence[Stretch]) -> tuple[Array, Array]:
    """
    Mean squares by which a motion differs from others at all shifts, and the way compared.

    Its way weighs its samples, so that standstill counts for nothing.
    """
    a, b = at(others, _grid(others)), at(own, _grid(own))
    known, way = np.isfinite(a).all(axis=1).astype(float), _ways(b)
    center = np.nanmean(a, axis=0)
    return mean_squares(np.nan_to_num(a - center), known, np.nan_to_num(b - center), way)


def _ways(q: Array) -> Array:
    """Way from each sample (N, n) to the next, (N,), zero where one is not known."""
    steps = np.linalg.norm(np.diff(q, axis=0, append=q[-1:]), axis=1)
    return np.asarray(np.nan_to_num(steps))


def _grid(stretches: Sequence[Stretch]) -> Array:
    return np.arange(stretches[0][0][0], stretches[-1][0][-1], 1 / SEARCH_HZ)


def at(stretches: Sequence[Stretch], times: Array) -> Array:
    """Values (M, c) at increasing times (M,), NaN beside all stretches."""
    values = np.full((len(times), stretches[0][1].shape[1]), np.nan)
    for t, known in stretches:
        inside = slice(*np.searchsorted(times, (t[0], t[-1])))
        values[inside] = np.column_stack(
            [np.interp(times[inside], t, column) for column in known.T])
    return values
