# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Resampling of a stream to a uniform rate, stretch by stretch, and averages of it."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from dynid_ros.data.recordings.lost_values import longest_gap
from dynid_ros.data.streaming.sample_validation import Counters
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed

_POINTS = 4


# Bounds for the rate of a stream. Measured figures come from benchmarks/thresholds.py: real
# arms (UR10, Panda, TX40), simulated arms, and planted defects.

#: Deviation of the rate of a block from the rate of the stream, relative to it, which counts as
#: another rate. The median of a block of late stamps strays by less. Good recordings reach 0.0003.
RATE_DEVIATION = 0.2
#: Number of such blocks in a row that change the rate; filters are then redesigned.
OTHER_BLOCKS = 3
#: Interquartile range of the steps, relative to their median, above which stamps are uneven.
UNEVEN = 0.5
#: Smallest step of samples for a cubic, relative to the usual one: a cubic overshoots between
#: stamps of a burst, a line does not.
BURST_SHARE = 0.25
#: Steps from which the rate of a block is measured.
RATE_STEPS = 8


class Resampler(Checkpointed):
    """
    Interpolate by cubics through the four nearest samples; break at gaps.

    Uniform samples are unchanged except for rounding.

    Parameters
    ----------
    width : int
        Columns of a sample, the stamp first.
    counters : Counters
        Counters to update.

    Attributes
    ----------
    rate_hz : float
        Rate; zero until it is measured.
    tail : (m, width) ndarray
        Last samples of the stretch.
    start, steps : float and int
        Where the grid of the stretch starts, s, and its next point.
    strange : int
        Blocks in a row that had another rate.

    """

    saved = ('rate_hz', 'tail', 'start', 'steps', 'strange')

    def __init__(self, width: int, counters: Counters) -> None:
        self._counters = counters
        self.rate_hz = 0.0
        self.tail = np.zeros((0, width))
        self.start = 0.0
        self.steps = 0
        self.strange = 0

    def watch_rate(self, t: Array) -> bool:
        """
        Measure the rate of the stamps of a block.

        Parameters
        ----------
        t : (k,) ndarray
            Stamps of good samples, s.

        Returns
        -------
        bool
            Whether the rate has just been measured, for the first time or again; this starts a
            new stretch.

        """
        steps = np.diff(t)
        steps = steps[steps > 0]
        if len(steps) < RATE_STEPS:
            return False
        low, usual, high = np.quantile(steps, (0.25, 0.5, 0.75))
        # Late stamps have a median below their mean; a lost sample only moves the mean.
        rate = float(1.0 / (np.mean(steps) if high - low > UNEVEN * usual else usual))
        if self.rate_hz and abs(rate / self.rate_hz - 1.0) <= RATE_DEVIATION:
            self.strange = 0
            return False
        self.strange += 1
        if self.rate_hz and self.strange < OTHER_BLOCKS:
            return False
        if self.rate_hz:
            self._counters.add('rate_changed', 1)
        self.rate_hz, self.strange = rate, 0
        self.tail = self.tail[:0]
        return True

    def feed(self, samples: Array) -> list[Array]:
        """
        Resample the next samples.

        Parameters
        ----------
        samples : (k, width) ndarray
            Samples that continue the stretch.

        Returns
        -------
        list of (m, width) ndarray
            Uniform samples; each array after the first starts a new stretch.

        """
        whole = np.concatenate([self.tail, samples])
        steps = np.diff(whole[:, 0])
        broken = (steps > longest_gap(self.rate_hz)) | (steps <= 0)
        new = slice(max(len(self.tail) - 1, 0), None)
        lost = np.round(steps[new][~broken[new]] * self.rate_hz) - 1
        self._counters.add('missing', int(lost[lost > 0].sum()))
        self._counters.add('gaps', int(broken.sum()))
        pieces = np.split(whole, np.flatnonzero(broken) + 1)
        going = len(self.tail) > 0
        return [self._uniform(piece, going and k == 0) for k, piece in enumerate(pieces)]

    def begin(self) -> None:
        """Start a new stretch with the next sample."""
        self.tail = self.tail[:0]

    def _uniform(self, points: Array, going: bool) -> Array:
        if len(points) and not going:
            self.start, self.steps = float(points[0, 0]), 0
        self.tail = points[1 - _POINTS:]
        if len(points) < _POINTS:
            return points[:0]
        # The last interval waits for the next sample.
        last = int((points[-2, 0] - self.start) * self.rate_hz + 1e-6)
        steps = np.arange(self.steps, max(self.steps, last + 1))
        self.steps += len(steps)
        times = self.start + steps / self.rate_hz
        return _interpolated(points, times, BURST_SHARE / self.rate_hz)


def _interpolated(points: Array, t: Array, shortest: float) -> Array:
    """
    Interpolate by Lagrange's cubic through the four samples around each time.

    Between samples of a burst, it is the line through the two next to it.

    Parameters
    ----------
    points : (k, c) ndarray
        Samples with increasing stamps in column 0, at least four.
    t : (m,) ndarray
        Times.
    shortest : float
        Step of the stamps below which samples come in a burst, s.

    Returns
    -------
    (m, c) ndarray
        Times in column 0.

    """
    first = np.searchsorted(points[2:-2, 0], t, side='right')
    near = first[:, None] + np.arange(_POINTS)
    stamps = points[near, 0]
    weight = np.ones_like(stamps)
    for a, b in permutations(range(_POINTS), 2):
        weight[:, a] *= (t - stamps[:, b]) / (stamps[:, a] - stamps[:, b])
    burst = np.diff(stamps, axis=1).min(axis=1) < shortest
    values = np.einsum('ma,mac->mc', weight, points[near, 1:])
    for column, known in zip(values.T, points.T[1:], strict=True):
        column[burst] = np.interp(t[burst], points[:, 0], known)
    return np.column_stack([t, values])
