"""Resampling of a stream to a uniform rate, stretch by stretch, and averages of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid_ros.data.signals.segments import longest_gap
from dynid_ros.data.streaming.sample_validation import Counters
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed
from dynid_ros.utilities.compiled import kernel

_POINTS = 4


@dataclass(frozen=True)
class RateThresholds:
    """
    Bounds for the rate of a stream.

    Measured figures are those of benchmarks/thresholds.py: real arms (UR10, Panda, TX40),
    simulated arms, and planted defects.

    Attributes
    ----------
    other_rate : float
        Deviation of the rate of a block from that of the stream, relative to it, which counts as
        another rate. The median of a block of late stamps strays by less. Good recordings reach
        0.0003.
    blocks : int
        Such blocks in a row that make another rate; filters are designed anew then.
    samples : int
        Steps from which the rate of a block is measured.

    """

    other_rate: float = 0.2
    blocks: int = 3
    samples: int = 8


THRESHOLDS = RateThresholds()


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
        Look at the stamps of a block.

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
        if len(steps) < THRESHOLDS.samples:
            return False
        rate = float(1.0 / np.median(steps))
        if self.rate_hz and abs(rate / self.rate_hz - 1.0) <= THRESHOLDS.other_rate:
            self.strange = 0
            return False
        self.strange += 1
        if self.rate_hz and self.strange < THRESHOLDS.blocks:
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
        # The last interval waits for the sample behind it.
        last = int((points[-2, 0] - self.start) * self.rate_hz + 1e-6)
        out = np.empty((max(0, last + 1 - self.steps), points.shape[1]))
        interpolate(points, self.start, self.rate_hz, self.steps, out)
        self.steps += len(out)
        return out


@kernel
def interpolate(points: Array, start: float, rate: float, first: int, out: Array) -> None:
    """
    Interpolate by Lagrange's cubic through the four samples around each point of a grid.

    Parameters
    ----------
    points : (k, c) ndarray
        Samples with increasing stamps in column 0, at least four.
    start, rate, first : float, float and int
        The grid is ``start + (first + j) / rate``.
    out : (m, c) ndarray
        Output, stamps in column 0.

    """
    i = 0
    weight = np.empty(4)
    for j in range(out.shape[0]):
        t = start + (first + j) / rate
        while i + 4 < points.shape[0] and points[i + 2, 0] <= t:
            i += 1
        for a in range(4):
            weight[a] = 1.0
            for b in range(4):
                if a != b:
                    weight[a] *= (t - points[i + b, 0]) / (points[i + a, 0] - points[i + b, 0])
        out[j, 0] = t
        for c in range(1, out.shape[1]):
            out[j, c] = (
                weight[0] * points[i, c] + weight[1] * points[i + 1, c]
                + weight[2] * points[i + 2, c] + weight[3] * points[i + 3, c])
