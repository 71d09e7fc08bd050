# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Groups of samples with nearly independent model errors.

Model errors depend on the motion: where a motion repeats, so does the error. So groups divide the
motion, not the time: all samples at one phase of a periodic motion share a group, however many
periods there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.signals.repetition import on_one_axis, repetition_shift
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.estimation.blocks.filtered_columns import Places
from dynid_ros.utilities.arrays import Array

#: Groups of a recording, or of fewer recordings than this. Between 8 and 16, the t-statistic of
#: their estimates holds for any correlation within them (Ibragimov and Müller 2010, t-Statistic
#: based correlation and heterogeneity robust inference, Journal of Business & Economic
#: Statistics 28).
GROUPS = 10


class Motion(Protocol):
    """Samples of a stretch."""

    @property
    def t(self) -> Array:
        """Time (N,), s."""

    @property
    def q(self) -> Array:
        """Positions (N, n)."""

    @property
    def moving(self) -> NDArray[np.bool_]:
        """Whether each joint moves, (N, n)."""


def motion_groups(motions: Sequence[Motion], reach: int) -> list[Places]:
    """
    Divide the samples of some stretches into groups.

    If the motion repeats, groups are its phases. Otherwise they are complete recordings if there
    are at least `GROUPS`, else parts of each recording with equally many samples of motion.

    Parameters
    ----------
    motions : sequence of Motion
        Stretches of one recording or of several; time begins anew with each recording.
    reach : int
        Samples at either end of a stretch that yield no row.

    Returns
    -------
    list of (N,) ndarray of int
        Number of the group of each sample, stretch by stretch.

    """
    shift = repetition_shift(on_one_axis([(motion.t, motion.q) for motion in motions]))
    return groups_of(motions, reach, shift)


def groups_of(motions: Sequence[Motion], reach: int, shift: float | None) -> list[Places]:
    """Divide samples as `motion_groups` does, given the period, None if nothing repeats."""
    if shift is not None:
        axis = [t for t, _ in on_one_axis([(motion.t, motion.q) for motion in motions])]
        return [_group_number(((t - axis[0][0]) % shift) / shift, GROUPS) for t in axis]
    recordings = np.cumsum([0, *(
        after.t[0] <= before.t[-1] for before, after in pairwise(motions))])
    count = int(recordings[-1]) + 1
    parts = -(-GROUPS // count) if count < GROUPS else 1
    return [recording * parts + number for recording in range(count)
            for number in time_parts(
                [motions[k] for k in np.flatnonzero(recordings == recording).tolist()], parts,
                reach)]


def groups_of_samples(samples: TrialSamples) -> Places:
    """Return the number of the group of each sample, (k,)."""
    if not len(samples.t):
        return np.zeros(0, dtype=np.intp)
    starts = [0, *(1 + np.flatnonzero(np.diff(samples.t) <= 0)).tolist(), len(samples.t)]
    recordings = [samples.at(slice(*ends)) for ends in pairwise(starts)]
    return np.concatenate(groups_of(recordings, 0, samples.shift))


def time_parts(
    motions: Sequence[Motion], count: int, reach: int,
) -> list[Places]:
    """Divide stretches in time into parts with equally many samples in which a joint moves."""
    moves = np.concatenate([motion.moving.any(axis=1) & _inner(len(motion.t), reach)
                            for motion in motions])
    share = np.cumsum(moves) / max(int(moves.sum()), 1)
    ends = np.cumsum([len(motion.t) for motion in motions])[:-1]
    return np.split(_group_number(share, count), ends)


def _inner(size: int, reach: int) -> NDArray[np.bool_]:
    place = np.arange(size)
    return (place >= reach) & (place < size - reach)


def group_count(numbers: Sequence[Places]) -> int:
    """Return the number of groups, given those of all samples."""
    return 1 + max(int(each.max()) for each in numbers)


def _group_number(share: Array, count: int) -> Places:
    return np.minimum(share * count, count - 1).astype(np.intp)
