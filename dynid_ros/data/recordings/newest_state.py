"""The even clock of a source whose newest state another loop reads whenever it comes by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from dynid_ros.data.recordings.in_blocks import Index
from dynid_ros.data.recordings.roughness import overall_roughness, Roughness, SIDE
from dynid_ros.utilities.arrays import Array

#: Rates of a source that are tried, relative to the rate of the logger, and their step. The state
#: of a faster one is too young to matter, and of a slower one most samples repeat.
RATES, RATE_STEP = (0.3, 6.0), 0.01
#: Samples before and after a step over which its speed is averaged: the error of single stamps
#: does not matter over as many.
AVERAGED = 6
#: Steps that are looked at, the fastest ones, and how many of the best rates are followed.
LOOKED_AT, FOLLOWED = 4000, 3
#: Least mean cosine by which steps are whole periods; it is zero for steps of any length.
WHOLE_PERIODS = 0.2
#: Samples of the first window of the search, and of one whose phase is followed at a time.
FIRST, WINDOW = 64, 32_768
#: Samples of a window in which a clock must be smoother than the stamps, or it is given up.
JUDGED = 512
#: Windows of the roughness that are evaluated for one trial of a clock at most.
EVALUATED = 600
#: Relative deviations of the period, and phases, that the first window is searched for.
FIRST_PERIODS, FIRST_PHASES = np.linspace(0.95, 1.05, 41), np.arange(0.0, 1.0, 0.125)
#: Slips of the phase at the end of a window that is twice as long, and phases in its middle.
SLIPS, PHASES = np.linspace(-0.2, 0.2, 5), np.linspace(-0.12, 0.12, 5)
#: Times that the best clock of a window is refined, and by how much each time: to a thousandth of
#: the period at last, since a state that is taken for the next one is off by a complete one.
REFINED, ROUGHLY, FINER = 8, 4, 0.5


def newest_state_times(t: Array, rough: Roughness) -> tuple[Array, float] | None:
    """
    Find when the states were measured that a logger reads from an even source.

    The steps of the motion, in time by its velocity, are whole periods of the source. Its period
    and phase are those by which positions are smoothest, in a window around the fastest motion
    that grows until it holds `WINDOW` samples, and then window by window.

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
    found = [search.grown(1 / rate) for rate in _likely_rates(t, rough.q)]
    best = min(filter(None, found), key=attrgetter('roughness'), default=None)
    return None if best is None else (search.everywhere(best), best.period)


def _likely_rates(t: Array, q: Array) -> list[float]:
    """Find the rates of which steps of the motion are whole periods, the best ones first, Hz."""
    index = np.arange(len(t))
    first, last = (np.clip(index + k, 0, len(t) - 1) for k in (-AVERAGED, AVERAGED))
    speed = (q[last] - q[first]) / (t[last] - t[first])[:, None]
    step, scale = np.diff(q, axis=0), np.maximum(np.diff(q, axis=0).std(axis=0), 1e-300)
    own, way = (speed[1:] + speed[:-1]) / 2 / scale, step / scale
    power = (own**2).sum(axis=1)
    fast = np.argsort(power)[-min(LOOKED_AT, len(power) // 3 + 1):]
    weight = power[fast] / power[fast].sum()
    duration = (way[fast] * own[fast]).sum(axis=1) / np.maximum(power[fast], 1e-300)
    usual = float(np.median(np.diff(t)))
    rates = np.arange(RATES[0], RATES[1], RATE_STEP) / usual
    fit = np.array([float(np.cos(2 * np.pi * rate * duration) @ weight) for rate in rates])
    peaks = 1 + np.flatnonzero(
        (fit[1:-1] >= fit[:-2]) & (fit[1:-1] > fit[2:]) & (fit[1:-1] > WHOLE_PERIODS))
    return [float(rates[k]) for k in peaks[np.argsort(-fit[peaks])][:FOLLOWED]]


@dataclass(frozen=True)
class Clock:
    """
    An even clock, and how rough the motion is by it.

    Attributes
    ----------
    roughness : float
        Mean logarithm of the mean square distance over the joints, in the window.
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
        """When the newest state was measured at times (N,), s."""
        return state_times(t, self.period, self.phase)


class _Search:
    """Period and phase of a source in windows of samples."""

    def __init__(self, t: Array, rough: Roughness) -> None:
        self._t, self._rough = t, rough
        speed = (rough.speed / np.maximum(rough.speed.std(axis=0), 1e-300))**2
        mean = np.convolve(speed.sum(axis=1), np.ones(FIRST), 'same')
        self._middle = int(rough.places[int(np.argmax(mean))])

    def grown(self, period: float) -> Clock | None:
        """Find a clock in a window that grows from the fastest motion on; None without one."""
        size, total = FIRST, len(self._t)
        window, anchor = self._window(size), float(self._t[self._middle])
        best = self._best(window, (
            (period * each, anchor - phase * period * each)
            for each in FIRST_PERIODS for phase in FIRST_PHASES))
        while size < JUDGED or best.roughness < self._stamps(best.window):
            if size >= min(WINDOW, total):
                return self._refined(best, REFINED)
            size *= 2
            best = self._refined(replace(best, window=self._window(size)), ROUGHLY)
        return None

    def everywhere(self, clock: Clock) -> Array:
        """Follow a clock from its window to both ends of the recording; return all times, s."""
        times = clock.times(self._t)
        for direction in (1, -1):
            own, (start, stop) = clock, clock.window
            while True:
                start, stop = ((stop, min(stop + WINDOW, len(self._t))) if direction > 0 else
                               (max(0, start - WINDOW), start))
                if len(self._places((start, stop))) < FIRST // 2:
                    break
                own = self._refined(replace(own, window=(start, stop)), REFINED)
                times[start:stop] = own.times(self._t[start:stop])
        return increasing(times, clock.period)

    def _window(self, size: int) -> tuple[int, int]:
        start = min(max(0, self._middle - size // 2), max(0, len(self._t) - size))
        return start, min(len(self._t), start + size)

    def _places(self, window: tuple[int, int]) -> Index:
        places, (start, stop) = self._rough.places, window
        own = places[slice(*np.searchsorted(places, (start + SIDE, stop - SIDE)))]
        return np.asarray(own[::-(-len(own) // EVALUATED) or 1])

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
        places = self._places(window)
        part = slice(int(places[0]) - SIDE, int(places[-1]) + SIDE + 1)
        t, q, own = self._t[part], self._rough.q[part], places - part.start
        return min((Clock(overall_roughness(increasing(state_times(t, *trial), trial[0]), q, own),
                          *trial, window) for trial in trials), key=attrgetter('roughness'))

    def _stamps(self, window: tuple[int, int]) -> float:
        return overall_roughness(self._t, self._rough.q, self._places(window))


def state_times(t: Array, period: float, phase: float) -> Array:
    """When the newest state was measured at times (N,), by an even clock, s."""
    return np.asarray(phase + period * np.floor((t - phase) / period + 1e-9))


def increasing(times: Array, period: float) -> Array:
    """Move samples of one state apart by next to nothing, so that cubics pass through them."""
    same = np.diff(times, prepend=-np.inf) <= 0
    return np.asarray(times + 1e-3 * period * np.cumsum(same)) if same.any() else times
