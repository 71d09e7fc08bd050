# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows with plain friction below any cut-off, in blocks of time for cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.recordings.warmth import warmth_of
from dynid_ros.data.signals.conditioning import (
    ConditionedMotion,
    ConditioningSettings,
    damped,
    of_positions,
)
from dynid_ros.data.signals.filters import REACH_PERIODS
from dynid_ros.data.signals.narrow_band import narrowed
from dynid_ros.data.signals.segments import Segment, uniform_segments
from dynid_ros.data.signals.standstill import in_motion, spoiled_beside
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.blocks.groups import time_parts
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.folds import Folds
from dynid_ros.estimation.estimate.weights import Solution, solve
from dynid_ros.utilities.arrays import Array

#: Blocks of time, and the fewest for a meaningful standard error.
TRIAL_BLOCKS, FEWEST_BLOCKS = 10, 5
#: Longest total time that is used, s: of longer recordings, one stretch for each block, spread
#: over them. More time would not make a choice among so few cut-offs more certain.
LONGEST_TRIAL_SECONDS = 120.0
#: Shortest of these stretches, s: a low-pass at 2 Hz keeps half of it.
SHORTEST_TRIAL_SECONDS = 3.0
#: Highest frequency of the motion of an arm, Hz.
FASTEST_HZ = 20.0


@dataclass(frozen=True, eq=False)
class TrialBlocks:
    """
    Rows below a cut-off.

    Attributes
    ----------
    arm : ArmModel
        The arm with plain friction.
    rows : KeptRows
        All rows.
    blocks : list of QRFactors
        Rows in each block of time.

    """

    arm: ArmModel
    rows: KeptRows
    blocks: list[QRFactors]

    @cached_property
    def solution(self) -> Solution | None:
        """Fit to all rows with the prior of the arm; None without rows."""
        data = self.rows.compressed(self.arm)
        return solve(data, arm_prior(self.arm)) if data.rows.any() else None

    @cached_property
    def folds(self) -> Folds:
        """Rows outside each block, which predict it."""
        return Folds(self.blocks)

    def fits(self, solution: Solution) -> Array:
        """Fit the rows outside each block, (blocks, b), with the weights of a solution."""
        prior = solution.prior[:, :-1].T @ solution.prior
        return self.folds.fits(prior, solution.sigma)

    def errors(self, theta: Array, solution: Solution) -> Array:
        """Squared residuals (blocks, n) of own parameters (blocks, b), weighted by a solution."""
        return self.folds.residual_squares(theta) / solution.sigma**2

    def least_squares(self, sigma: Array) -> Array:
        """Squared residual of each block (blocks,), weighted, that no parameters fall below."""
        # The last entry of a triangle is what no column explains of the torque.
        triangles = [np.asarray(np.linalg.qr(each.weighted(sigma), mode='r'))
                     for each in self.blocks]
        return np.array([each[-1, -1]**2 for each in triangles])


class TrialMotions:
    """
    Stretches of recordings, from which rows below any cut-off are made.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recordings : sequence of Recording
        Recordings that are fitted.
    rate_hz : float
        Rate to resample them to.
    delay : float
        Time by which the drive signals lag behind the motion, s.

    Attributes
    ----------
    motions : list of ConditionedMotion
        The stretches, not filtered yet.
    rate_hz : float
        Of the parameters.

    """

    def __init__(
        self, arm: ArmModel, recordings: Sequence[Recording], rate_hz: float, delay: float = 0.0,
    ) -> None:
        self._arm, self.rate_hz = arm.with_friction(PLAIN_TERMS), rate_hz
        self._spread = sum(recording.seconds for recording in recordings) > LONGEST_TRIAL_SECONDS
        segments = _spread_over(recordings, rate_hz, delay) if self._spread else [
            segment for recording in recordings
            for segment in uniform_segments(recording, rate_hz, delay)]
        self.motions = [_raw(segment, arm, rate_hz) for segment in segments]

    def count(self, cutoff_hz: float) -> int:
        """Count the blocks as long as the reach of the low-pass, `TRIAL_BLOCKS` at most."""
        if self._spread:
            return len(self.motions)
        reach = REACH_PERIODS / cutoff_hz
        length = sum(max(0.0, len(motion.t) / self.rate_hz - 2 * reach)
                     for motion in self.motions)
        return min(TRIAL_BLOCKS, int(length / reach))

    def below(
        self, cutoff_hz: float, count: int, position_hz: tuple[float, ...] = (),
    ) -> TrialBlocks:
        """
        Make the rows below a cut-off.

        Parameters
        ----------
        cutoff_hz : float
            Hz.
        count : int
            Number of blocks.
        position_hz : tuple of float
            As for `ConditioningSettings`.

        """
        top = ConditioningSettings(
            cutoff_hz, True, 'butterworth', self.rate_hz, 1, position_hz=position_hz)
        settings, motions, _ = narrowed(
            top, cutoff_hz, self.motions, [np.zeros((len(motion.t), 0), dtype=np.bool_)
                                           for motion in self.motions])
        beside = spoiled_beside(settings.decimator())
        motions = [replace(motion, moving=in_motion(
            motion.q, motion.qd, settings.rate_hz, beside)) for motion in motions]
        if self._spread:
            numbers = [np.full(len(motion.t), k) for k, motion in enumerate(motions)]
        else:
            numbers = time_parts(motions, count, settings.decimator().reach)
        rows = KeptRows(self._arm, motions, settings, PLAIN_TERMS, numbers)
        return TrialBlocks(self._arm, rows, rows.parts(self._arm))

    def share_below(self, cutoffs_hz: Array) -> Array:
        """
        Share of the energy of the velocities below some cut-offs, mean over joints that move.

        Parameters
        ----------
        cutoffs_hz : (k,) ndarray
            Hz.

        Returns
        -------
        (k,) ndarray
            Of the energy below `FASTEST_HZ`, without white noise of the positions.

        """
        inside, total = np.zeros((len(cutoffs_hz), self._arm.n)), np.zeros(self._arm.n)
        for motion in self.motions:
            q = (motion.q - motion.q.mean(axis=0)) * np.hanning(len(motion.q))[:, None]
            f = np.fft.rfftfreq(len(q), 1 / self.rate_hz)
            power = np.abs(np.fft.rfft(q, axis=0))**2
            beyond = f > min(FASTEST_HZ, self.rate_hz / 4)
            # The median of a periodogram lies at ln 2 of its mean.
            noise = np.median(power[beyond], axis=0) / np.log(2)
            # Negative values are kept, lest the mean of noise be positive.
            energy = f[:, None]**2 * (power - noise) * ~beyond[:, None]
            inside += [energy[f <= cutoff].sum(axis=0) for cutoff in cutoffs_hz]
            total += energy.sum(axis=0)
        moves = total > 0
        return np.asarray((inside[:, moves] / total[moves]).mean(axis=1)) if moves.any() else (
            np.ones(len(cutoffs_hz)))


def _spread_over(
    recordings: Sequence[Recording], rate_hz: float, delay: float,
) -> list[Segment]:
    """Return a stretch for each block, spread over all recordings; fewer if there are gaps."""
    ends = np.cumsum([0.0, *(recording.seconds for recording in recordings)])
    length, result = LONGEST_TRIAL_SECONDS / TRIAL_BLOCKS, list[Segment]()
    for start in np.linspace(0.0, ends[-1] - length, TRIAL_BLOCKS).tolist():
        number = int(np.searchsorted(ends, start, side='right')) - 1
        recording = recordings[number]
        t = recording.t - recording.t[0]
        first = max(0.0, min(start - float(ends[number]), float(t[-1]) - length))
        places = slice(*np.searchsorted(t, (first, first + length)).tolist())
        with suppress(RecordingError):
            stretches = uniform_segments(
                recording.part(places.start, places.stop), rate_hz, delay)
            longest = max(stretches, key=lambda segment: len(segment.t))
            if len(longest.t) >= SHORTEST_TRIAL_SECONDS * rate_hz:
                result.append(longest)
    return result


def _raw(segment: Segment, arm: ArmModel, rate_hz: float) -> ConditionedMotion:
    warmth = segment.warmth or warmth_of(segment.t, segment.q)
    tau = joint_torque(segment.u, arm.drive)
    return damped(of_positions(segment.t, segment.q, tau, rate_hz, warmth), arm.drive)
