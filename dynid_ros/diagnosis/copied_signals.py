"""A drive signal that is no torque, but a copy of velocity or position, or made of velocity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.model.metrics import TINY
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.model.verdict import Finding

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CopyThresholds:
    """
    Bounds of what counts as a copy.

    Attributes
    ----------
    left_over : float
        Share of the torque's spread that a multiple of the other quantity leaves, in the median
        over the joints. Copies made of the shared recordings leave 0.000 to 0.061, and up to 0.097
        in the online estimator, whose filters delay them otherwise; true torques of shared
        recordings and simulated arms leave 0.38 and more.
    made_of_velocity : float
        Share of the torque's spread that friction terms alone leave, in the upper quartile of the
        joints: a torque holds gravity and inertia. Torques that were made of the velocities of
        shared recordings leave up to 0.15, true ones 0.55 and more.
    velocity_joints, position_joints : int
        Joints that have to move: the torque of a single joint may be viscous friction alone, and
        that of one or two that hardly move is linear in their position.

    """

    left_over: float = 0.2
    made_of_velocity: float = 0.2
    velocity_joints: int = 2
    position_joints: int = 3


THRESHOLDS = CopyThresholds()
#: Speed within which friction reverses, by the root mean square one.
REVERSAL = 0.05
WHICH_FIELD = 'check which field or topic of the driver holds it'


def copied_signals(arm: ArmModel, motion: Sequence[Prediction]) -> list[Finding]:
    """
    Find the quantity of which the torque is a copy, if it is one.

    Friction terms would fit a copy of velocity without error, with masses that vanish.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    motion : sequence of Prediction
        Fitted samples.

    """
    tau = np.concatenate([part.tau for part in motion])
    for name, rows, least in (
            ('velocity', [part.qd for part in motion], THRESHOLDS.velocity_joints),
            ('position', [part.q for part in motion], THRESHOLDS.position_joints)):
        left = left_over(np.concatenate(rows), tau)
        left = left[np.isfinite(left)]
        if len(left) >= least and np.median(left) < THRESHOLDS.left_over:
            return [Finding(
                f'effort_copies_{name}',
                f"the {arm.drive.signal} is no torque: it is a multiple of each joint's {name} "
                f'but for {100 * float(np.median(left)):.1f} % in the median over the joints',
                WHICH_FIELD)]
    return []


def made_of_velocity(arm: ArmModel, motion: Sequence[Prediction]) -> list[Finding]:
    """
    Find a torque that friction alone explains, although the arm has links to move.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    motion : sequence of Prediction
        Fitted samples that excite the arm; in few seconds much is a function of velocity.

    """
    qd, tau = (np.concatenate(parts) for parts in zip(
        *((part.qd, part.tau) for part in motion), strict=True))
    left = []
    for v, y in zip(qd.T, tau.T, strict=True):
        seen = np.isfinite(y)
        spread = float(np.std(y[seen])) if seen.any() else 0.0
        if not spread:
            continue
        v = v[seen]
        steep = REVERSAL * float(np.sqrt((v**2).mean()))
        basis = np.stack([np.ones_like(v), v, np.tanh(v / max(steep, TINY)), np.cbrt(v)], axis=1)
        fitted = basis @ np.linalg.lstsq(basis, y[seen], rcond=None)[0]
        left.append(float(np.std(y[seen] - fitted)) / spread)
    if len(left) < THRESHOLDS.position_joints:
        return []
    most = float(np.percentile(left, 75))
    if most > THRESHOLDS.made_of_velocity:
        return []
    return [Finding(
        'effort_of_velocity',
        f"the {arm.drive.signal} is no torque: functions of each joint's velocity alone explain "
        f'it but for {100 * most:.1f} %, without gravity and inertia', WHICH_FIELD)]


def left_over(x: Array, tau: Array) -> Array:
    """
    Return the share of each joint's torque that no multiple of another quantity explains.

    Parameters
    ----------
    x, tau : (N, n) ndarray
        The quantity, and the torque, NaN where a joint stands still.

    Returns
    -------
    (n,) ndarray
        Relative to the spread of the torque; NaN for a joint that never moves, or whose torque or
        quantity never changes.

    """
    seen = np.isfinite(tau)
    count = np.maximum(seen.sum(axis=0), 1)
    centred = [np.where(seen, y - np.where(seen, y, 0.0).sum(axis=0) / count, 0.0)
               for y in (x, tau)]
    xx, tt = ((y**2).sum(axis=0) for y in centred)
    xt = (centred[0] * centred[1]).sum(axis=0)
    with np.errstate(divide='ignore', invalid='ignore'):
        return np.asarray(np.sqrt(np.maximum(1 - xt**2 / (xx * tt), 0.0)))
