# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Validation of the samples of a stream: the first step of the online pipeline."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.data.recordings import absurd_values
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.recordings.stamp_checks import GAP_SECONDS
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed

#: Counted defects, and what the stream does about them.
RULES = {
    'not_finite': 'samples with a NaN or infinite value are left out',
    'repeated': 'of samples with the same stamp the first is kept',
    'reordered': 'samples within a block are sorted by their stamps',
    'republished': 'samples that repeat the one before are left out, unless the arm rests',
    'late': 'samples before one already used are left out',
    'clock_reset': 'a whole block before the last stamp starts a new stretch',
    'spikes': 'spikes of up to two samples are left out',
    'jumps': 'an impossible step of position starts a new stretch',
    'missing': 'up to five samples in a row are interpolated',
    'gaps': 'a longer pause starts a new stretch: filters start afresh, the estimate stays',
    'rate_changed': 'filters are redesigned after three blocks at another rate',
    'standing': 'rows of joints at rest are not used',
}

#: Samples on either side that a spike is compared with.
_SIDE = absurd_values.SPIKE_SAMPLES


# Bounds of samples that stand out from their neighbours. Measured figures come from
# benchmarks/thresholds.py: real arms (UR10, Panda, TX40), simulated arms, and planted defects. A
# spike exceeds `usual` and the one of `position` and `signal` that applies.

#: Distance of a spike from the median of its neighbours, as a multiple of the usual one. Noise of
#: good torques reaches 44 alone, and the two other bounds; a spike of 0.1 rad starts at 710.
SPIKE_USUAL = 20.0
#: Smallest spike of a position, rad or m. Good recordings reach 0.002.
SPIKE_POSITION = 0.01
#: Smallest spike of a drive signal, relative to its root mean square. It has no margin: torque
#: noise of a joint that bears no load reaches 4.5.
SPIKE_SIGNAL = 0.5
#: Weight of a block of samples in the running averages of the usual distance.
BLOCK_SHARE = 0.1


class Counters(Checkpointed):
    """
    Number of applications of each rule.

    Attributes
    ----------
    counts : (len(RULES),) ndarray of int
        In the order of `RULES`.

    """

    saved = ('counts',)

    def __init__(self) -> None:
        self.counts = np.zeros(len(RULES), dtype=np.int64)

    def add(self, rule: str, count: int) -> None:
        """Count some more."""
        self.counts[list(RULES).index(rule)] += count

    def defects(self) -> tuple[Defect, ...]:
        """Return one defect for each rule that was applied."""
        return tuple(
            Defect(f'stream_{rule}', 'info', f'{count} times: {RULES[rule]}.', None, count)
            for rule, count in self.as_dict().items() if count and rule != 'standing')

    def as_dict(self) -> dict[str, int]:
        """Return the counts by rule."""
        return dict(zip(RULES, self.counts.tolist(), strict=True))


class SampleValidation(Checkpointed):
    """
    Sort and check samples of n joints.

    Samples are validated in blocks of fixed size, so that the sizes of the incoming portions do
    not matter.

    Parameters
    ----------
    velocity : (n,) ndarray
        Limit of the speed of each joint; infinite where unknown.
    counters : Counters
        Counters to update.

    Attributes
    ----------
    context : (m, 1 + 2 n) ndarray
        Last samples; the last two wait for their successors.
    previous : (0 or 1, 1 + 2 n) ndarray
        Last good sample.
    usual : (2 n,) ndarray
        Usual deviation of samples from their neighbours.
    power : (n,) ndarray
        Mean square of the drive signal.
    last : float
        Stamp of the last sample.
    newest : (0 or 1, 1 + 2 n) ndarray
        Last sample that did not repeat the one before.
    fresh : bool
        Whether the next sample starts a new stretch.

    """

    saved = ('context', 'previous', 'usual', 'power', 'last', 'newest', 'fresh')

    def __init__(self, velocity: Array, counters: Counters) -> None:
        n = len(velocity)
        self._velocity = velocity
        self._counters = counters
        self.context = np.zeros((0, 1 + 2 * n))
        self.previous = self.newest = self.context
        self.usual = np.zeros(2 * n)
        self.power = np.zeros(n)
        self.last = -np.inf
        self.fresh = True

    @staticmethod
    def rows(t: ArrayLike, q: ArrayLike, u: ArrayLike) -> Array:
        """
        Bring samples into one array.

        Parameters
        ----------
        t : float or (k,) array_like
            Stamps, s.
        q, u : (n,) or (k, n) array_like
            Positions and drive signal.

        Returns
        -------
        (k, 1 + 2 n) ndarray
            Stamps, positions and signals.

        """
        return np.column_stack([np.atleast_1d(t), np.atleast_2d(q), np.atleast_2d(u)])

    def accept(self, samples: Array) -> list[Array]:
        """
        Validate a block of samples.

        Parameters
        ----------
        samples : (k, 1 + 2 n) ndarray
            From `rows`.

        Returns
        -------
        list of (m, 1 + 2 n) ndarray
            Good samples; the first array continues the stretch before, each further one starts a
            new stretch. The last two samples wait for their successors.

        """
        samples = self._measured(self._in_time(self._finite(samples)))
        waiting = self.context[_SIDE:]
        if self.fresh:
            self.context, self.previous, self.fresh = samples, samples[:0], False
            return [waiting, *self._good()]
        self.context = np.concatenate([self.context, samples])
        return self._good()

    def _finite(self, samples: Array) -> Array:
        largest = np.repeat([absurd_values.ABSURD_POSITION, absurd_values.ABSURD_SIGNAL],
                            len(self._velocity))
        good = (np.abs(samples[:, 1:]) <= largest).all(axis=1) & np.isfinite(samples[:, 0])
        self._counters.add('not_finite', int((~good).sum()))
        return samples[good]

    def _in_time(self, samples: Array) -> Array:
        """Sort by stamps, and drop late or repeated samples."""
        t = samples[:, 0]
        self._counters.add('reordered', int((t < np.maximum.accumulate(t)).sum()))
        samples = samples[np.argsort(t, kind='stable')]
        t = samples[:, 0]
        if len(t) > 1 and t[-1] < self.last:
            self._counters.add('clock_reset', 1)
            self.last, self.fresh = -np.inf, True
        late = t < self.last
        again = np.diff(t, prepend=self.last) == 0
        self._counters.add('late', int(late.sum()))
        self._counters.add('repeated', int((again & ~late).sum()))
        samples = samples[~late & ~again]
        if len(samples):
            self.last = float(samples[-1, 0])
        return samples

    def _measured(self, samples: Array) -> Array:
        """Leave out samples that repeat the one before, except at rest, which lasts longer."""
        if len(samples) < 2:
            return samples
        before = self.newest[:0] if self.fresh else self.newest
        whole = np.concatenate([before, samples])
        same = (np.diff(whole[:, 1:], axis=0) == 0).all(axis=1)
        own = np.concatenate([[True], ~same])
        began = whole[np.maximum.accumulate(np.where(own, np.arange(len(whole)), 0)), 0]
        self.newest = whole[np.flatnonzero(own)[-1:]]
        longest = max(GAP_SECONDS / 2, 1.5 * float(np.median(np.diff(samples[:, 0]))))
        again = ~own & (whole[:, 0] - began < longest)
        self._counters.add('republished', int(again.sum()))
        return np.asarray(whole[len(before):][~again[len(before):]])

    def _good(self) -> list[Array]:
        """Validate all samples with two neighbours on both sides, and split at jumps."""
        x = self.context[:, 1:]
        count = len(x) - 2 * _SIDE
        if count <= 0:
            return [self.context[:0]]
        around = np.lib.stride_tricks.sliding_window_view(x, 2 * _SIDE + 1, axis=0)
        out = np.abs(x[_SIDE:-_SIDE] - np.median(around, axis=2))
        n = x.shape[1] // 2
        gain = BLOCK_SHARE if self.usual.any() else 1.0
        self.usual = self.usual + gain * (out.mean(axis=0) - self.usual)
        self.power = self.power + gain * ((x[:, n:] ** 2).mean(axis=0) - self.power)
        floor = np.concatenate([
            np.full(n, SPIKE_POSITION), SPIKE_SIGNAL * np.sqrt(self.power)])
        spike = (out > np.maximum(SPIKE_USUAL * self.usual, floor)).any(axis=1)
        self._counters.add('spikes', int(spike.sum()))
        judged = self.context[_SIDE:-_SIDE][~spike]
        self.context = self.context[-2 * _SIDE:]
        return self._split(judged)

    def _split(self, samples: Array) -> list[Array]:
        n, before = len(self._velocity), len(self.previous)
        whole = np.concatenate([self.previous, samples])
        self.previous = whole[-1:]
        step = np.abs(np.diff(whole[:, 1:1 + n], axis=0))
        limit = absurd_values.largest_steps(np.diff(whole[:, 0]), self._velocity)
        jumps = np.flatnonzero((step > limit).any(axis=1)) + 1
        self._counters.add('jumps', len(jumps))
        return np.split(samples, jumps - before)
