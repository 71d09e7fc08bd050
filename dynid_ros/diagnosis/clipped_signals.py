"""Drive signals that are cut off, that have a few levels only, or that no drive can reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.model.verdict import Finding
from dynid_ros.recordings.in_blocks import blocks
from dynid_ros.recordings.motion_checks import moves
from dynid_ros.recordings.recording import Recording
from dynid_ros.signals.conditioning import ConditionedMotion

Array = NDArray[np.float64]


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
#: Percentile of a signal that outliers do not reach.
USUAL = 95.0


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
    moving = [_in_motion(recording) for recording in recordings]
    n = len(recordings[0].joint_names)
    highest, lowest, share = np.full(n, np.inf), np.full(n, -np.inf), np.zeros(n)
    coarse = np.zeros(n, dtype=np.bool_)
    # Joint by joint: the signals of all of them would fill memory again.
    for joint in range(n):
        u = np.concatenate([recording.u[own[joint], joint]
                            for recording, own in zip(recordings, moving, strict=True)])
        if len(u) and _is_coarse(u):
            coarse[joint] = True
            continue
        for limits, way in ((highest, 1.0), (lowest, -1.0)):
            limit, crowd = _crowd(u, way)
            if crowd > THRESHOLDS.share:
                limits[joint] = limit
                share[joint] += crowd
    usual = [[np.percentile(np.abs(u), USUAL, overwrite_input=True) for u in recording.u.T]
             for recording in recordings if len(recording.t)]
    return ClipLevels(
        highest, lowest, share, coarse, np.max(usual, axis=0, initial=0.0))


def _in_motion(recording: Recording) -> NDArray[np.bool_]:
    """Mark the samples of each joint in motion, (n, N)."""
    t, q = recording.t, recording.q
    found = np.zeros(q.shape[::-1], dtype=np.bool_)
    if len(t) < 2:
        return found

    def speeds() -> Iterator[tuple[slice, Array]]:
        for part in blocks(len(t)):
            first = max(part.start - 1, 0)
            near = slice(first, part.stop + 1)
            speed = np.abs(np.gradient(q[near], t[near], axis=0))[part.start - first:]
            yield part, speed[:part.stop - part.start]

    limit = THRESHOLDS.speed * np.max([speed.max(axis=0) for _, speed in speeds()], axis=0)
    limit[~moves(recording)] = np.inf
    for part, speed in speeds():
        found[:, part] = (speed > limit).T
    return found


def _is_coarse(u: Array) -> bool:
    """Whether a signal has a few values only."""
    seen = u[:0]
    for part in blocks(len(u)):
        seen = np.unique(np.concatenate([seen, u[part]]))
        if len(seen) >= THRESHOLDS.levels:
            return False
    return True


def _crowd(u: Array, way: float) -> tuple[float, float]:
    """Find the largest value in one way, and the share of samples there if they are too many."""
    spread = float(np.ptp(u)) if len(u) else 0.0
    if not spread:
        return 0.0, 0.0
    limit = float(u.max() if way > 0 else u.min())
    edges = [limit - way * depth * spread for depth in (TOUCH, THRESHOLDS.band)]
    top, band = (int(np.count_nonzero(u >= x if way > 0 else u <= x)) for x in edges)
    crowded = top > max(THRESHOLDS.crowding * (band - top), THRESHOLDS.count)
    return limit, top / len(u) if crowded else 0.0


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
