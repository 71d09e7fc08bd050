"""Drive signals that are cut off, that have a few levels only, or that no drive can reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.in_blocks import blocks
from dynid_ros.data.recordings.motion_checks import moves
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditionedMotion
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel


@dataclass(frozen=True)
class ClipThresholds:
    """
    Bounds of a signal that is cut off.

    Measured figures are those of benchmarks/diagnosis.py.

    Attributes
    ----------
    band : float
        Depth below the largest value, by the range of the signal, that is compared with the
        largest value itself.
    crowding : float
        Samples at the largest value, by those in the band below it, from which the signal is cut
        off: a smooth signal has many times more below its peak, a quantised one as many a step.
    share, count : float, int
        Smallest share and number of the samples with motion: a few do no harm.
    speed : float
        Speed of a joint in motion, by its largest one. A joint at rest holds one torque.
    levels : int
        Values of a signal below which it is too coarse to be a torque. The coarsest of the shared
        recordings has 68 (joint 7 of the Panda).
    near : float
        Distance from the limit, by the range of the signal, within which resampling puts samples
        that are cut off.
    beyond : float
        Torque, by the limit of the drive, that none reaches.

    """

    band: float = 0.03
    crowding: float = 1.5
    share: float = 0.01
    count: int = 15
    speed: float = 0.02
    levels: int = 6
    near: float = 0.01
    beyond: float = 10.0


THRESHOLDS = ClipThresholds()
#: Rounding of a value at the limit, by the range of the signal.
TOUCH = 1e-9
#: Percentile of a signal that outliers do not reach, and samples that it is taken of.
USUAL, USUAL_SAMPLES = 95.0, 100_000


@dataclass(frozen=True, eq=False)
class ClipLevels:
    """
    Limits at which drive signals are cut off.

    Attributes
    ----------
    highest, lowest : (n,) ndarray
        Of the drive signal as recorded; infinite where it is not cut off.
    share : (n,) ndarray
        Share of the samples with motion that lie there.
    coarse : (n,) ndarray of bool
        Joints whose signal has a few levels only.
    largest : (n,) ndarray
        Largest signal apart from outliers, without its sign.

    """

    highest: Array
    lowest: Array
    share: Array
    coarse: NDArray[np.bool_]
    largest: Array


def clip_levels(recordings: Sequence[Recording]) -> ClipLevels:
    """
    Find the limits at which drive signals are cut off.

    Parameters
    ----------
    recordings : sequence of Recording
        Recordings of one arm, as read: resampling would round the corners.

    """
    n = len(recordings[0].joint_names)
    limits = [_limit_of_rest(recording) for recording in recordings]
    found = np.zeros(n), np.full(n, np.inf), np.full(n, -np.inf)
    values = np.full((n, THRESHOLDS.levels), np.nan)
    for recording, limit in zip(recordings, limits, strict=True):
        for part in _parts(recording):
            find_ranges(*part, limit, *found, values)
    samples, least, most = found
    coarse = (samples > 0) & np.isnan(values[:, -1])
    spread = np.where(samples > 0, most - least, 0.0)
    depths = spread * np.array([[TOUCH], [THRESHOLDS.band]])
    edges, counts = np.concatenate([most - depths, least + depths]), np.zeros((4, n))
    for recording, limit in zip(recordings, limits, strict=True):
        for part in _parts(recording):
            count_beyond(*part, limit, edges, counts)
    crowds = [_crowd(top, band, samples) * ~coarse * (spread > 0)
              for top, band in (counts[:2], counts[2:])]
    return ClipLevels(
        np.where(crowds[0] > THRESHOLDS.share, most, np.inf),
        np.where(crowds[1] > THRESHOLDS.share, least, -np.inf),
        np.asarray(sum(np.where(crowd > THRESHOLDS.share, crowd, 0.0) for crowd in crowds)),
        coarse, np.max([_usual(recording.u) for recording in recordings], axis=0))


def _usual(u: Array) -> Array:
    """Largest signal of each joint apart from outliers, of samples spread over a recording."""
    if not len(u):
        return np.zeros(u.shape[1])
    chosen = np.abs(u[::-(-len(u) // USUAL_SAMPLES)].T)
    return np.asarray(np.percentile(chosen, USUAL, axis=1, overwrite_input=True))


def _limit_of_rest(recording: Recording) -> Array:
    """Speed of each joint above which it is in motion, (n,)."""
    highest = np.zeros(recording.q.shape[1])
    for begin, stop, t, q, _ in _parts(recording):
        find_top_speed(begin, stop, t, q, highest)
    return np.where(moves(recording), THRESHOLDS.speed * highest, np.inf)


def _parts(recording: Recording) -> Iterator[tuple[int, int, Array, Array, Array]]:
    """Cut into blocks, each with the samples beside it and the numbers of its own ones."""
    t, q, u = recording.t, recording.q, recording.u
    for part in blocks(len(t) if len(t) > 1 else 0):
        first = max(part.start - 1, 0)
        near = slice(first, part.stop + 1)
        yield part.start - first, part.stop - first, *(
            np.require(x[near], requirements=('C', 'W')) for x in (t, q, u))


@kernel
def slope_weights(t: Array, i: int) -> tuple[float, float, float]:
    """Weights of a sample and its neighbours in the derivative by the parabola through them."""
    if i == 0:
        return 0.0, -1 / (t[1] - t[0]), 1 / (t[1] - t[0])
    before = t[i] - t[i - 1]
    if i == t.size - 1:
        return -1 / before, 1 / before, 0.0
    after = t[i + 1] - t[i]
    both = before + after
    return -after / (before * both), (after - before) / (before * after), before / (after * both)


@kernel
def speed_at(weights: tuple[float, float, float], q: Array, i: int, j: int) -> float:
    """Speed of a joint at a sample, given the weights there."""
    last = q.shape[0] - 1
    return float(abs(weights[0] * q[max(i - 1, 0), j] + weights[1] * q[i, j]
                     + weights[2] * q[min(i + 1, last), j]))


@kernel
def find_top_speed(begin: int, stop: int, t: Array, q: Array, highest: Array) -> None:
    """Raise the highest speed (n,) of each joint to that in some samples."""
    for i in range(begin, stop):
        weights = slope_weights(t, i)
        for j in range(q.shape[1]):
            highest[j] = max(highest[j], speed_at(weights, q, i, j))


@kernel
def find_ranges(
    begin: int, stop: int, t: Array, q: Array, u: Array, limit: Array,
    samples: Array, least: Array, most: Array, values: Array,
) -> None:
    """Count samples in motion, and find range and the first few values (n, m) of the signals."""
    for i in range(begin, stop):
        weights = slope_weights(t, i)
        for j in range(q.shape[1]):
            if speed_at(weights, q, i, j) > limit[j]:
                samples[j] += 1
                least[j] = min(least[j], u[i, j])
                most[j] = max(most[j], u[i, j])
                # Most signals have more values than fit, from the first few samples on.
                k = values.shape[1] - 1 if values[j, -1] == values[j, -1] else 0
                while values[j, k] == values[j, k] and values[j, k] != u[i, j] and (
                        k < values.shape[1] - 1):
                    k += 1
                if values[j, k] != values[j, k]:
                    values[j, k] = u[i, j]


@kernel
def count_beyond(
    begin: int, stop: int, t: Array, q: Array, u: Array, limit: Array, edges: Array,
    counts: Array,
) -> None:
    """Count samples in motion from the first two edges (4, n) up, and from the others down."""
    for i in range(begin, stop):
        weights = slope_weights(t, i)
        for j in range(q.shape[1]):
            if speed_at(weights, q, i, j) > limit[j]:
                counts[0, j] += u[i, j] >= edges[0, j]
                counts[1, j] += u[i, j] >= edges[1, j]
                counts[2, j] += u[i, j] <= edges[2, j]
                counts[3, j] += u[i, j] <= edges[3, j]


def _crowd(top: Array, band: Array, samples: Array) -> Array:
    """Share of the samples at the largest value in one way where they are too many, else zero."""
    crowded = top > np.maximum(THRESHOLDS.crowding * (band - top), THRESHOLDS.count)
    return np.where(crowded, top / np.maximum(samples, 1), 0.0)


def clipped_samples(
    arm: ArmModel, motions: Sequence[ConditionedMotion], levels: ClipLevels,
) -> list[NDArray[np.bool_]]:
    """
    Mark the samples of conditioned stretches whose drive signal is cut off.

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
        slack = THRESHOLDS.near * np.ptp(u, axis=0)
        marked.append(np.asarray(
            (u > levels.highest - slack) | (u < levels.lowest + slack) | levels.coarse))
    return marked


def clipped_findings(arm: ArmModel, levels: ClipLevels) -> list[Finding]:
    """
    Report the joints whose drive signal is cut off, has a few levels only, or exceeds the drive.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    levels : ClipLevels
        From its recordings.

    """
    coarse = [
        Finding('effort_meaningless', f"the drive signal of '{arm.joint_names[joint]}' has fewer "
                f'than {THRESHOLDS.levels} levels', 'record a topic that holds its torque',
                (arm.joint_names[joint],))
        for joint in np.flatnonzero(levels.coarse)]
    return coarse + _beyond_limits(arm, levels) + [
        Finding('effort_clipped', f"the drive signal of '{arm.joint_names[joint]}' is cut off at "
                f'its largest value in {100 * levels.share[joint]:.0f} % of the samples with '
                'motion', 'lower the amplitude of the motion, or raise the limit that cuts it off',
                (arm.joint_names[joint],))
        for joint in np.flatnonzero(levels.share)]


def _beyond_limits(arm: ArmModel, levels: ClipLevels) -> list[Finding]:
    """Report joints far beyond the torque of their drives, if the stated limits are real."""
    torque = np.abs(joint_torque(np.diag(levels.largest), arm.drive)).max(axis=0)
    limit = np.where(arm.limits.effort > 0, arm.limits.effort, np.inf)
    if np.median(torque / limit) > 1:
        return []
    return [
        Finding('effort_beyond_limit', f"the drive signal of '{arm.joint_names[joint]}' reaches "
                f'{torque[joint]:.3g}, {torque[joint] / limit[joint]:.0f} times the limit of its '
                f'drive ({limit[joint]:.3g})', 'check its unit and its gain in arm.yaml',
                (arm.joint_names[joint],))
        for joint in np.flatnonzero(torque > THRESHOLDS.beyond * limit)]
