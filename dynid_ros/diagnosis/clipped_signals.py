"""Drive signals that are cut off at a limit of the drive, of a sensor or of a message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.model.verdict import Finding
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
    share : float
        Smallest share of the samples with motion: a few do no harm.

    """

    band: float = 0.03
    crowding: float = 1.5
    share: float = 0.01


THRESHOLDS = ClipThresholds()


def clipped_samples(
    arm: ArmModel, motions: Sequence[ConditionedMotion],
) -> list[NDArray[np.bool_]]:
    """
    Find samples whose drive signal is cut off.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    motions : sequence of ConditionedMotion
        Conditioned stretches.

    Returns
    -------
    list of (N, n) ndarray of bool
        One for each stretch; all false for a joint that is cut off in too few samples to matter.

    """
    through = joint_torque(np.eye(arm.n), arm.drive)
    signals = [np.asarray(np.linalg.solve(through.T, motion.tau.T).T) for motion in motions]
    u = np.concatenate(signals)
    moving = np.concatenate([motion.moving for motion in motions])
    level = np.full((2, arm.n), np.inf)
    for joint in range(arm.n):
        own = u[moving[:, joint], joint]
        for side, way in enumerate((1.0, -1.0)):
            if len(own) and _crowded(way * own):
                level[side, joint] = (way * own).max()
    return [_at(signal, level) for signal in signals]


def _crowded(u: Array) -> bool:
    """Whether too many samples are at the largest value."""
    peak, depth = u.max(), THRESHOLDS.band * np.ptp(u)
    top = u >= peak - TOUCH * np.ptp(u)
    below = (u >= peak - depth) & ~top
    return bool(np.ptp(u) > 0 and top.mean() > THRESHOLDS.share
                and top.sum() > THRESHOLDS.crowding * max(int(below.sum()), 1))


#: Rounding of a value at the limit, by the range of the signal.
TOUCH = 1e-9


def _at(u: Array, level: Array) -> NDArray[np.bool_]:
    slack = TOUCH * np.maximum(np.ptp(u, axis=0), np.finfo(float).tiny)
    return np.asarray((u >= level[0] - slack) | (-u >= level[1] - slack))


def clipped_findings(
    arm: ArmModel, motions: Sequence[ConditionedMotion], clipped: Sequence[NDArray[np.bool_]],
) -> list[Finding]:
    """
    Report the joints whose drive signal is cut off.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    clipped : sequence of (N, n) ndarray of bool
        From `clipped_samples`.

    """
    at = np.sum([marks.sum(axis=0) for marks in clipped], axis=0)
    moved = np.sum([motion.moving.sum(axis=0) for motion in motions], axis=0)
    share = 100 * at / np.maximum(moved, 1)
    return [
        Finding('effort_clipped', f"the drive signal of '{arm.joint_names[joint]}' is cut off at "
                f'its largest value in {share[joint]:.0f} % of the samples with motion',
                'lower the amplitude of the motion, or raise the limit that cuts it off',
                (arm.joint_names[joint],))
        for joint in np.flatnonzero(at)]
