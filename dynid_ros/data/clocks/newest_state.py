"""The even clock of a source whose newest state another loop reads whenever it comes by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from dynid_ros.data.clocks.roughness import (
    cubic_distances,
    Index,
    neighbours,
    Roughness,
    SIDE,
    some_of,
    window_distances,
)
from dynid_ros.utilities.arrays import Array, runs_of

#: Rates of a source that are tried, relative to the rate of the logger, and their step. The state
#: of a faster one is too young to matter, and of a slower one most samples repeat.
RATES, RATE_STEP = (0.3, 6.0), 0.01
#: Samples before and after a step over which its speed is averaged: the error of single stamps
#: does not matter over as many.
AVERAGED = 6
#: Samples around the fastest one whose steps count periods.
COUNTED = 100_000
#: Steps that are looked at, the fastest ones, and how many of the best rates are followed.
LOOKED_AT, FOLLOWED = 4000, 3
#: Least mean cosine by which steps are whole periods; it is zero for steps of any length.
WHOLE_PERIODS = 0.2
#: Distance of a step from whole periods, in periods, below which it counts as these, and the steps
#: in a row that count periods at the start of the search.
SURE, FEWEST, MOST = 0.25, 32, 512
#: Samples of a window whose phase is followed at a time, and of one in which a clock must make the
#: motion smoother than the stamps, or is given up.
WINDOW, JUDGED = 32_768, 512
#: Windows of the roughness that are evaluated for one trial of a clock at most.
EVALUATED = 600
#: Slips of the phase at the end of a window, and phases in its middle, in periods. The clock as it
#: is comes first, which wins where nothing differs.
SLIPS = PHASES = np.array([0.0, -0.2, -0.1, 0.1, 0.2])
#: Times that the best clock of a window is refined, and by how much each time: to a thousandth of
#: the period at last, since a state that is taken for the next one is off by a complete one.
REFINED, ROUGHLY, FINER = 8, 4, 0.5
#: Distance of good samples from cubics, relative to that by the stamps: far below any clock that
#: is worth a change. Logarithms count windows that become good, however far off the others are.
GOOD = 0.02


def newest_state_times(t: Array, rough: Roughness) -> tuple[Array, float] | None:
    """
    Find when the states were measured that a logger reads from an even source.

    The steps of the motion, in time by its velocity, are whole periods of the source. Counting
    them where the arm moves fast gives a first clock. Period and phase are then those by which
    positions are smoothest, in a window that grows to `WINDOW` samples, and window by window.

    Parameters
    ----------
    t : (N,) ndarray
        When the logger read, s.
    rough : Roughness
        Of the motion.

    Returns
    -------
    times : (N,) ndarray
        When the state of each sample was measured, s; samples that share a state lie next to
        each other.
    period : float
        Of the source, s. None instead of both if no clock makes the motion smoother.

    """
    search = _Search(t, rough)
    fastest = int(rough.places[np.argmax((rough.speed**2).sum(axis=1))])
    first = max(0, min(fastest - COUNTED // 2, len(t) - COUNTED))
    part = slice(first, first + COUNTED)
    duration, power = _steps(t[part], rough.q[part])
    for rate in _likely_rates(t[part], duration, power):
        start = _counted(t[part], duration * rate, power)
        if start is None:
            continue
        window = start.window[0] + first, start.window[1] + first
        clock = search.grown(replace(start, window=window))
        if clock is not None:
            return search.everywhere(clock), clock.period
    return None


def _steps(t: Array, q: Array) -> tuple[Array, Array]:
    """Return the time of each step by the velocity around it, s, and its squared speed."""
    index = np.arange(len(t))
    first, last = (np.clip(index + k, 0, len(t) - 1) for k in (-AVERAGED, AVERAGED))
    speed = (q[last] - q[first]) / (t[last] - t[first])[:, None]
    step = np.diff(q, axis=0)
    scale = np.maximum(step.std(axis=0), np.finfo(float).tiny)
    own, way = (speed[1:] + speed[:-1]) / 2 / scale, step / scale
    power = (own**2).sum(axis=1)
    return (way * own).sum(axis=1) / np.maximum(power, np.finfo(float).tiny), power


def _likely_rates(t: Array, duration: Array, power: Array) -> list[float]:
    """Find the rates of which steps of the motion are whole periods, the best ones first, Hz."""
    fast = np.argsort(power)[-min(LOOKED_AT, len(power) // 3 + 1):]
    weight = power[fast] / power[fast].sum()
    usual = float(np.median(np.diff(t)))
    rates = np.arange(RATES[0], RATES[1], RATE_STEP) / usual
    fit = np.array([float(np.cos(2 * np.pi * rate * duration[fast]) @ weight) for rate in rates])
    peaks = 1 + np.flatnonzero(
        (fit[1:-1] >= fit[:-2]) & (fit[1:-1] > fit[2:]) & (fit[1:-1] > WHOLE_PERIODS))
    return [float(rates[k]) for k in peaks[np.argsort(-fit[peaks])][:FOLLOWED]]


def _counted(t: Array, periods: Array, power: Array) -> Clock | None:
    """Find the clock of the fastest steps in a row that are whole periods, by counting these."""
    whole = np.rint(periods)
    runs = runs_of((np.abs(periods - whole) < SURE) & (whole > 0))
    runs = runs[runs[:, 1] - runs[:, 0] >= FEWEST]
    if not len(runs):
        return None
    # Of a long run, the middle.
    middle, half = runs.mean(axis=1).astype(np.int64), np.minimum(np.ptp(runs, axis=1), MOST) // 2
    total = np.append(0.0, np.cumsum(power))
    best = int(np.argmax(total[middle + half] - total[middle - half]))
    start, stop = int(middle[best] - half[best]), int(middle[best] + half[best])
    count = np.append(0.0, np.cumsum(whole[start:stop]))
    stamps = t[start:stop + 1]
    period = float(np.polyfit(count, stamps, 1)[0])
    left = stamps - period * count
    return Clock(np.inf, period, float(left.min() + left.max() - period) / 2, (start, stop + 1))


@dataclass(frozen=True)
class Clock:
    """
    An even clock, and how rough the motion is by it.

    Attributes
    ----------
    roughness : float
        Mean logarithm of the mean square distance of the joints, over the window.
    period, phase : float
        s.
    window : (int, int)
        First sample that it was found in, and the one after the last.

    """

    roughness: float
    period: float
    phase: float
    window: tuple[int, int]

    def times(self, t: Array) -> Array:
        """Return when the state was measured that is the newest at each time of t (N,), s."""
        return state_times(t, self.period, self.phase)


class _Search:
    """Period and phase of a source in windows of samples."""

    def __init__(self, t: Array, rough: Roughness) -> None:
        self._t, self._rough = t, rough
        squares = cubic_distances(t, rough.q, rough.places)**2
        self._usual = np.maximum(squares.mean(axis=0), np.finfo(float).tiny)

    def grown(self, clock: Clock) -> Clock | None:
        """Refine a clock in a window that grows; None if the stamps are as good."""
        total = len(self._t)
        while True:
            start, stop = clock.window
            clock = self._refined(clock, ROUGHLY)
            size = stop - start
            if size >= JUDGED and clock.roughness >= self._stamps(clock.window):
                return None
            if size >= min(WINDOW, total):
                return self._refined(clock, REFINED)
            start = min(max(0, (start + stop) // 2 - size), max(0, total - 2 * size))
            clock = replace(clock, window=(start, min(total, start + 2 * size)))

    def everywhere(self, clock: Clock) -> Array:
        """Follow a clock from its window to both ends of the recording; return all times, s."""
        times = clock.times(self._t)
        for direction in (1, -1):
            own, (start, stop) = clock, clock.window
            while True:
                start, stop = ((stop, min(stop + WINDOW, len(self._t))) if direction > 0 else
                               (max(0, start - WINDOW), start))
                if len(self._places((start, stop))) < FEWEST:
                    break
                own = self._refined(replace(own, window=(start, stop)), REFINED)
                times[start:stop] = own.times(self._t[start:stop])
        return increasing(times, clock.period)

    def _places(self, window: tuple[int, int]) -> Index:
        places, (start, stop) = self._rough.places, window
        own = places[slice(*np.searchsorted(places, (start + SIDE, stop - SIDE)))]
        return some_of(own, EVALUATED)

    def _refined(self, clock: Clock, times: int) -> Clock:
        """Refine a clock in its window, by ever smaller slips and shifts."""
        start, stop = clock.window
        middle = (self._t[stop - 1] + self._t[start]) / 2
        for k in range(times):
            period, step = clock.period, FINER**k * clock.period
            # The period turns about the middle of the window, where the phase stays.
            anchor = clock.phase + np.round((middle - clock.phase) / period) * period
            reach = max(middle - self._t[start], period)
            clock = self._best(clock.window, (
                (period * (1 + slip * step / reach), anchor + shift * step)
                for slip in SLIPS for shift in PHASES))
        return clock

    def _best(self, window: tuple[int, int], trials: Iterable[tuple[float, float]]) -> Clock:
        """Return the clock of the smoothest motion of periods and phases, s."""
        near = neighbours(self._places(window))
        t, q = self._t[near], self._rough.q[near]
        clocks = (Clock(self._roughness(increasing(state_times(t, *trial), trial[0]), q),
                        *trial, window) for trial in trials)
        return min(clocks, key=attrgetter('roughness'))

    def _stamps(self, window: tuple[int, int]) -> float:
        near = neighbours(self._places(window))
        return self._roughness(self._t[near], self._rough.q[near])

    def _roughness(self, t: Array, q: Array) -> float:
        shares = (window_distances(t, q)**2 / self._usual).mean(axis=1)
        return float(np.log(shares + GOOD**2).mean())


def state_times(t: Array, period: float, phase: float) -> Array:
    """Return when the state was measured, by an even clock, that is the newest at t (N,), s."""
    return np.asarray(phase + period * np.floor((t - phase) / period + 1e-9))


def increasing(times: Array, period: float) -> Array:
    """Move samples of one state apart by next to nothing, so that cubics pass through them."""
    same = np.diff(times, axis=-1, prepend=-np.inf) <= 0
    if not same.any():
        return times
    return np.asarray(times + 1e-3 * period * np.cumsum(same, axis=-1))
