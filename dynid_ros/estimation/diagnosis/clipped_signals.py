# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Drive signals that are clipped, too coarse, or beyond the limit of the drive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.motion_checks import moves
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditionedMotion
from dynid_ros.estimation.diagnosis.copied_signals import OTHER_UNIT
from dynid_ros.estimation.diagnosis.expected_error import HELD_OUT_ERROR_PERCENT
from dynid_ros.estimation.diagnosis.signal_kernels import (
    count_near,
    fill_speeds,
    find_levels,
    mark_fast,
)
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import blocks

# Bounds for clipped signals. Measured figures come from benchmarks/diagnosis.py.
#: Depth of the band below the largest value, relative to the range of the signal. Resampling moves
#: clipped samples into it.
BAND_SHARE = 0.03
#: Least number of steps of a quantised signal in that band. At its peak, a smooth signal is within
#: a depth for a time that grows with the square root of the depth, so that a level which spans a
#: complete step has 1 / (sqrt(1 + k) - 1) times the samples of the next k levels: 2.4 for one
#: level, and 1.4 for two, less than `CROWDING`.
BAND_STEPS = 2
#: Ratio of samples at the largest value to samples in the band below it, from which the signal is
#: clipped: a smooth signal has many times more below its peak, a quantised one as many a step.
CROWDING = 1.5
#: Least share and number of clipped samples, of those with motion: a few do no harm.
CLIPPED_SHARE = 0.01
CLIPPED_SAMPLES = 15
#: Speed of a joint in motion, relative to its largest one. A joint at rest holds one torque.
MOVING_SHARE = 0.02
#: Most samples that the usual size of a signal is computed from.
USUAL_SAMPLES = 100_000
#: Number of levels below which a signal is too coarse to be a torque: rounding of a uniform signal
#: to one level less is as large an error, by the spread of the signal, as a model may have.
FEWEST_LEVELS = 1 + int(100 / HELD_OUT_ERROR_PERCENT)


@dataclass(frozen=True, eq=False)
class ClipLevels:
    """
    Limits at which drive signals are clipped.

    Attributes
    ----------
    highest, lowest : (n,) ndarray
        Of the drive signal as recorded; infinite where it is not clipped.
    share : (n,) ndarray
        Share of the samples with motion at these limits.
    coarse : (n,) ndarray of bool
        Joints whose signal has too few levels.
    usual : (n,) ndarray
        Median absolute signal of each joint while it moves.

    """

    highest: Array
    lowest: Array
    share: Array
    coarse: NDArray[np.bool_]
    usual: Array


def clip_levels(recordings: Sequence[Recording]) -> ClipLevels:
    """
    Find the limits at which drive signals are clipped.

    Parameters
    ----------
    recordings : sequence of Recording
        Recordings of one arm, as read: resampling would round the clipped peaks.

    """
    marked = [(recording.u, _in_motion(recording)) for recording in recordings]
    n = len(recordings[0].joint_names)
    smallest, largest = np.full((1 + BAND_STEPS, n), np.inf), np.full((1 + BAND_STEPS, n), -np.inf)
    levels = np.zeros((FEWEST_LEVELS, n))
    total, different = np.zeros((2, n), dtype=np.int64)
    for u, marks in _in_blocks(marked):
        find_levels(u, marks, smallest, largest, total, levels, different)
    moved, counts = total > 0, np.zeros((2, 2, n), dtype=np.int64)
    coarse = moved & (different < FEWEST_LEVELS)
    smallest[:, ~moved], largest[:, ~moved] = 0.0, 0.0
    lowest, highest = smallest[0], largest[0]
    band = BAND_SHARE * (highest - lowest)
    # The values next to the limit are steps of the signal away from it, or much nearer.
    high, low = np.minimum(highest - band, largest[-1]), np.maximum(lowest + band, smallest[-1])
    for u, marks in _in_blocks(marked):
        count_near(u, marks, high, highest, low, lowest, counts)
    shares = np.array([_clipped_share(at_limit, in_band, total) for in_band, at_limit in counts])
    shares[:, coarse | ~moved] = 0.0
    return ClipLevels(
        np.where(shares[0] > 0, highest, np.inf), np.where(shares[1] > 0, lowest, -np.inf),
        shares.sum(axis=0), coarse, np.where(coarse, 0.0, _usual_signals(marked)))


def _in_blocks(
    marked: Sequence[tuple[Array, NDArray[np.bool_]]],
) -> Iterator[tuple[Array, NDArray[np.bool_]]]:
    """Yield signals and marks block by block; copies, for which the kernels are compiled."""
    for u, marks in marked:
        for part in blocks(len(u)):
            yield np.array(u[part], order='C'), marks[part]


def _usual_signals(marked: Sequence[tuple[Array, NDArray[np.bool_]]]) -> Array:
    """Return the median absolute signal of each joint in motion, (n,), zero without any."""
    step = max(1, -(-sum(len(u) for u, _ in marked) // USUAL_SAMPLES))
    u, marks = (np.concatenate([each[::step] for each in kind])
                for kind in zip(*marked, strict=True))
    return np.array([np.median(own[used]) if used.any() else 0.0
                     for own, used in zip(np.abs(u).T, marks.T, strict=True)])


def _in_motion(recording: Recording) -> NDArray[np.bool_]:
    """Mark the samples in which each joint moves, (N, n)."""
    moving, samples = moves(recording.span), len(recording.t)
    top, marks = np.zeros(len(moving)), np.zeros((samples, len(moving)), dtype=np.bool_)
    if not moving.any():
        return marks
    slowest = [_mark(recording, part, top, marks) for part in blocks(samples)]
    # All speeds would take as much memory as the recording, and hardly a block was marked before
    # its joints had been as fast as ever.
    for part, slow in zip(blocks(samples), slowest, strict=True):
        if not (slow > MOVING_SHARE * top).all():
            _mark(recording, part, top, marks)
    marks[:, ~moving] = False
    return marks


def _mark(recording: Recording, part: slice, top: Array, marks: NDArray[np.bool_]) -> Array:
    """Raise the top speeds (n,), mark a block, and return the slowest marked speeds, (n,)."""
    # One more sample on each side gives the central differences of the complete signal.
    near = slice(max(part.start - 1, 0), part.stop + 1)
    first = part.start - near.start
    q, slowest = np.array(recording.q[near], order='C'), np.full(len(top), np.inf)
    speeds = np.empty_like(q)
    fill_speeds(recording.t[near].copy(), q, speeds)
    mark_fast(
        speeds[first:first + part.stop - part.start], MOVING_SHARE, top, marks[part], slowest)
    return slowest


def _clipped_share(
    at_limit: NDArray[np.int64], in_band: NDArray[np.int64], total: NDArray[np.int64],
) -> Array:
    """Return the share of samples of each joint at its limit if it is clipped there, else 0."""
    share = at_limit / np.maximum(total, 1)
    clipped = (share > CLIPPED_SHARE) & (
        at_limit > np.maximum(CROWDING * (in_band - at_limit), CLIPPED_SAMPLES))
    return np.where(clipped, share, 0.0)


def clipped_samples(
    arm: ArmModel, motions: Sequence[ConditionedMotion], levels: ClipLevels,
) -> list[NDArray[np.bool_]]:
    """
    Mark the samples of conditioned stretches whose drive signal is clipped.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    levels : ClipLevels
        From the same recordings.

    Returns
    -------
    list of (N, n) ndarray of bool
        One for each stretch.

    """
    if not (levels.share.any() or levels.coarse.any()):
        return [np.zeros(motion.tau.shape, dtype=np.bool_) for motion in motions]
    through = joint_torque(np.eye(arm.n), arm.drive)
    marked = []
    for motion in motions:
        u = np.linalg.solve(through.T, motion.tau.T).T
        slack = BAND_SHARE * np.ptp(u, axis=0)
        marked.append(np.asarray(
            (u > levels.highest - slack) | (u < levels.lowest + slack) | levels.coarse))
    return marked


def clipped_findings(arm: ArmModel, levels: ClipLevels) -> list[Finding]:
    """
    Report joints whose drive signal is clipped, too coarse, or beyond the limit of the drive.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    levels : ClipLevels
        From its recordings.

    """
    torque = np.abs(joint_torque(np.diag(levels.usual), arm.drive)).max(axis=0)
    limit = np.where(arm.limits.effort > 0, arm.limits.effort, np.inf)
    # If most joints exceed their limits, the limits are not those of the drives.
    beyond = (torque > OTHER_UNIT * limit) & (np.median(torque / limit) <= 1)

    def findings(
        code: str, marks: Array | NDArray[np.bool_], remedy: str, states: Callable[[int], str],
    ) -> list[Finding]:
        return [Finding(code, f"the drive signal of '{arm.joint_names[j]}' {states(j)}", remedy,
                        (arm.joint_names[j],)) for j in np.flatnonzero(marks).tolist()]

    return [
        *findings('effort_meaningless', levels.coarse & arm.drive.driven,
                  'record a topic that holds its torque',
                  lambda _: f'has fewer than {FEWEST_LEVELS} levels'),
        *findings('effort_beyond_limit', beyond, 'check its unit and its gain in arm.yaml',
                  lambda j: f'is {torque[j]:.3g} in the median, {torque[j] / limit[j]:.0f} times '
                  f'the limit of its drive ({limit[j]:.3g})'),
        *findings('effort_clipped', levels.share,
                  'lower the amplitude of the motion, or raise the limit that cuts it off',
                  lambda j: f'is cut off at its largest value in {100 * levels.share[j]:.0f} % of '
                  'the samples with motion')]
