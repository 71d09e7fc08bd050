# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Drive signals that are clipped, too coarse, or beyond the limit of the drive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import blocks

# Bounds for clipped signals. Measured figures come from benchmarks/diagnosis.py.
#: Depth of the band below the largest value, relative to the range of the signal. Resampling moves
#: clipped samples into it.
BAND_SHARE = 0.03
#: Ratio of samples at the largest value to samples in the band below it, from which the signal is
#: clipped: a smooth signal has many times more below its peak, a quantised one as many a step.
CROWDING = 1.5
#: Least share and number of clipped samples, of those with motion: a few do no harm.
CLIPPED_SHARE = 0.01
CLIPPED_SAMPLES = 15
#: Speed of a joint in motion, relative to its largest one. A joint at rest holds one torque.
MOVING_SHARE = 0.02
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
    n = len(recordings[0].joint_names)
    moving = [_in_motion(recording) for recording in recordings]
    # One joint at a time to save memory.
    levels = [_levels(np.concatenate([
        recording.u[marks[j], j] for recording, marks in zip(recordings, moving, strict=True)]))
        for j in range(n)]
    return ClipLevels(*map(np.array, zip(*levels, strict=True)))


def _in_motion(recording: Recording) -> NDArray[np.bool_]:
    """Mark the samples in which each joint moves, (n, N)."""
    moving, samples = moves(recording.span), len(recording.t)
    top, marks = np.zeros(len(moving)), np.zeros((len(moving), samples), dtype=np.bool_)
    if not moving.any():
        return marks
    slowest = []
    for part in blocks(samples):
        speeds = _speeds(recording, part)
        np.maximum(top, speeds.max(axis=1), out=top)
        marks[:, part] = fast = speeds > MOVING_SHARE * top[:, None]
        slowest.append(speeds.min(axis=1, where=fast, initial=np.inf))
    # All speeds would take as much memory as the recording, and hardly a block was marked before
    # its joints had been as fast as ever.
    for part, slow in zip(blocks(samples), slowest, strict=True):
        if not (slow > MOVING_SHARE * top).all():
            marks[:, part] = _speeds(recording, part) > MOVING_SHARE * top[:, None]
    marks[~moving] = False
    return marks


def _speeds(recording: Recording, part: slice) -> Array:
    """Return the speed of each joint in a block of k samples, (n, k)."""
    # One more sample on each side gives the central differences of the complete signal.
    near = slice(max(part.start - 1, 0), part.stop + 1)
    first = part.start - near.start
    joints = np.ascontiguousarray(recording.q[near].T)
    speeds = np.abs(np.gradient(joints, recording.t[near], axis=1))
    return np.asarray(speeds[:, first:first + part.stop - part.start])


def _levels(u: Array) -> tuple[float, float, float, bool, float]:
    """Return limits of a signal, share of clipped samples, whether it is coarse, and its size."""
    few = FEWEST_LEVELS
    if not len(u):
        return np.inf, -np.inf, 0.0, False, 0.0
    # Most signals exceed the bound within the first samples.
    if len(np.unique(u[:1000])) < few and len(np.unique(u)) < few:
        return np.inf, -np.inf, 0.0, True, 0.0
    lowest, highest = float(u.min()), float(u.max())
    band = BAND_SHARE * (highest - lowest)
    shares = (_clipped_share(u == highest, lambda: u >= highest - band),
              _clipped_share(u == lowest, lambda: u <= lowest + band))
    return (highest if shares[0] else np.inf, lowest if shares[1] else -np.inf, sum(shares), False,
            float(np.median(np.abs(u))))


def _clipped_share(
    at_top: NDArray[np.bool_], in_band: Callable[[], NDArray[np.bool_]],
) -> float:
    """Return the share of samples at a limit if the signal is clipped there, else 0."""
    top = np.count_nonzero(at_top)
    share = top / len(at_top)
    # Few signals are that often at their limit.
    clipped = share > CLIPPED_SHARE and top > max(
        CROWDING * (np.count_nonzero(in_band()) - top), CLIPPED_SAMPLES)
    return share if clipped else 0.0


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
