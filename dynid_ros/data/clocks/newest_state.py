# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The even clock of a source whose newest state another loop reads."""

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

#: Candidate rates of a source relative to the rate of the logger, and their step. The state of a
#: faster source is too young to matter; of a slower one, most samples repeat.
RELATIVE_RATES, RATE_STEP = (0.3, 6.0), 0.01
#: Samples before and after a step over which its speed is averaged, so that errors of single
#: stamps do not matter.
AVERAGED = 6
#: Number of samples around the fastest one in which periods are counted.
COUNTED = 100_000
#: Number of the fastest steps that determine rates, and of the best rates that are tried.
FASTEST_STEPS, TRIED_RATES = 4000, 3
#: Least mean cosine for steps of whole periods; it is zero for arbitrary steps.
WHOLE_PERIODS = 0.2
#: Largest distance of a step from whole periods, in periods, and least and largest number of
#: successive such steps at the start of the search.
SURE_PERIODS, FEWEST_STEPS, MOST_STEPS = 0.25, 32, 512
#: Samples of a window with one phase, and of the first window in which a clock must make the
#: motion smoother than the stamps do.
PHASE_SAMPLES, JUDGED = 32_768, 512
#: Most windows of the roughness that are evaluated for one candidate clock.
EVALUATED = 600
#: Candidate changes of the phase at the end of a window, and in its middle, in periods. No change
#: comes first, and wins if all are equal.
SLIPS = PHASES = np.array([0.0, -0.2, -0.1, 0.1, 0.2])
#: Number of refinements of the clock of a window, finally and while it grows, and their ratio.
#: They reach a thousandth of the period, since a state mistaken for the next is off by a complete
#: one.
REFINED, ROUGHLY, FINER = 8, 4, 0.5
#: Distance of good samples from cubics, relative to that with the stamps: far below that of any
#: useful clock. Because of the logarithm, good windows count however bad the others are.
GOOD = 0.02


def newest_state_times(t: Array, rough: Roughness) -> tuple[Array, float] | None:
    """
    Find the times of measurement of the states that a logger reads from an even source.

    The steps of the motion, divided by its velocity, are whole periods of the source. Counting
    them where the arm moves fast gives an initial clock. Then period and phase are refined so that
    positions are smoothest, first in a window that grows to `PHASE_SAMPLES` samples, then window
    by window.

    Parameters
    ----------
    t : (N,) ndarray
        Times at which the logger read, s.
    rough : Roughness
        Of the motion.

    Returns
    -------
    times : (N,) ndarray
        Time of measurement of each sample, s; samples of the same state have nearly equal times.
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
    """Return the duration of each step from the velocity around it, s, and its squared speed."""
    index = np.arange(len(t))
    first, last = (np.clip(index + k, 0, len(t) - 1) for k in (-AVERAGED, AVERAGED))
    speed = (q[last] - q[first]) / (t[last] - t[first])[:, None]
    step = np.diff(q, axis=0)
    scale = np.maximum(step.std(axis=0), np.finfo(float).tiny)
    mean_speed, scaled_step = (speed[1:] + speed[:-1]) / 2 / scale, step / scale
    power = (mean_speed**2).sum(axis=1)
    return (scaled_step * mean_speed).sum(axis=1) / np.maximum(power, np.finfo(float).tiny), power


def _likely_rates(t: Array, duration: Array, power: Array) -> list[float]:
    """Find the rates for which steps of the motion are whole periods, best first, Hz."""
    fast = np.argsort(power)[-min(FASTEST_STEPS, len(power) // 3 + 1):]
    weight = power[fast] / power[fast].sum()
    usual = float(np.median(np.diff(t)))
    rates = np.arange(RELATIVE_RATES[0], RELATIVE_RATES[1], RATE_STEP) / usual
    fit = np.array([float(np.cos(2 * np.pi * rate * duration[fast]) @ weight) for rate in rates])
    peaks = 1 + np.flatnonzero(
        (fit[1:-1] >= fit[:-2]) & (fit[1:-1] > fit[2:]) & (fit[1:-1] > WHOLE_PERIODS))
    return [float(rates[k]) for k in peaks[np.argsort(-fit[peaks])][:TRIED_RATES]]


def _counted(t: Array, periods: Array, power: Array) -> Clock | None:
    """Find the clock by counting periods over the fastest run of steps of whole periods."""
    whole = np.rint(periods)
    runs = runs_of((np.abs(periods - whole) < SURE_PERIODS) & (whole > 0))
    runs = runs[runs[:, 1] - runs[:, 0] >= FEWEST_STEPS]
    if not len(runs):
        return None
    # The middle of a long run.
    middle = runs.mean(axis=1).astype(np.int64)
    half = np.minimum(np.ptp(runs, axis=1), MOST_STEPS) // 2
    total = np.append(0.0, np.cumsum(power))
    best = int(np.argmax(total[middle + half] - total[middle - half]))
    start, stop = int(middle[best] - half[best]), int(middle[best] + half[best])
    count = np.append(0.0, np.cumsum(whole[start:stop]))
    stamps = t[start:stop + 1]
    period = float(np.polyfit(count, stamps, 1)[0])
    offsets = stamps - period * count
    phase = float(offsets.min() + offsets.max() - period) / 2
    return Clock(np.inf, period, phase, (start, stop + 1))


@dataclass(frozen=True)
class Clock:
    """
    An even clock, and the roughness of the motion with it.

    Attributes
    ----------
    roughness : float
        Mean logarithm of the mean square distance of the joints, over the window.
    period, phase : float
        s.
    window : (int, int)
        First sample of its window, and the one after the last.

    """

    roughness: float
    period: float
    phase: float
    window: tuple[int, int]

    def times(self, t: Array) -> Array:
        """Return the time of measurement of the newest state at each time of t (N,), s."""
        return state_times(t, self.period, self.phase)


class _Search:
    """Period and phase of a source in windows of samples."""

    def __init__(self, t: Array, rough: Roughness) -> None:
        self._t, self._rough = t, rough
        squares = cubic_distances(t, rough.q, rough.places)**2
        self._usual = np.maximum(squares.mean(axis=0), np.finfo(float).tiny)

    def grown(self, clock: Clock) -> Clock | None:
        """Refine a clock in a growing window; None if the stamps are as good."""
        total = len(self._t)
        while True:
            start, stop = clock.window
            clock = self._refined(clock, ROUGHLY)
            size = stop - start
            if size >= JUDGED and clock.roughness >= self._stamps(clock.window):
                return None
            if size >= min(PHASE_SAMPLES, total):
                return self._refined(clock, REFINED)
            start = min(max(0, (start + stop) // 2 - size), max(0, total - 2 * size))
            clock = replace(clock, window=(start, min(total, start + 2 * size)))

    def everywhere(self, clock: Clock) -> Array:
        """Follow a clock from its window to both ends of the recording; return all times, s."""
        times = clock.times(self._t)
        for direction in (1, -1):
            local, (start, stop) = clock, clock.window
            while True:
                start, stop = (
                    (stop, min(stop + PHASE_SAMPLES, len(self._t))) if direction > 0 else
                    (max(0, start - PHASE_SAMPLES), start))
                if len(self._places((start, stop))) < FEWEST_STEPS:
                    break
                local = self._refined(replace(local, window=(start, stop)), REFINED)
                times[start:stop] = local.times(self._t[start:stop])
        return increasing(times, clock.period)

    def _places(self, window: tuple[int, int]) -> Index:
        places, (start, stop) = self._rough.places, window
        inside = places[slice(*np.searchsorted(places, (start + SIDE, stop - SIDE)))]
        return some_of(inside, EVALUATED)

    def _refined(self, clock: Clock, times: int) -> Clock:
        """Refine a clock in its window, by ever smaller slips and shifts."""
        start, stop = clock.window
        middle = (self._t[stop - 1] + self._t[start]) / 2
        for k in range(times):
            period, step = clock.period, FINER**k * clock.period
            # A change of the period keeps the phase in the middle of the window.
            anchor = clock.phase + np.round((middle - clock.phase) / period) * period
            reach = max(middle - self._t[start], period)
            clock = self._best(clock.window, (
                (period * (1 + slip * step / reach), anchor + shift * step)
                for slip in SLIPS for shift in PHASES))
        return clock

    def _best(self, window: tuple[int, int], trials: Iterable[tuple[float, float]]) -> Clock:
        """Return the clock with the smoothest motion among periods and phases, s."""
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
    """Return the times of an even clock of the newest states at t (N,), s."""
    return np.asarray(phase + period * np.floor((t - phase) / period + 1e-9))


def increasing(times: Array, period: float) -> Array:
    """Separate samples of one state slightly, so that cubics pass through them."""
    same = np.diff(times, axis=-1, prepend=-np.inf) <= 0
    if not same.any():
        return times
    return np.asarray(times + 1e-3 * period * np.cumsum(same, axis=-1))
