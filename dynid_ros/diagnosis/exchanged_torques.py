"""Detection of exchanged torque columns of two joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.diagnosis.gravity_regression import gravity_rows
from dynid_ros.model.metrics import TINY
from dynid_ros.regression.weighted_least_squares import QRFactors, reweighted
from dynid_ros.signals.conditioning import ConditionedMotion, ConditioningSettings

Array = NDArray[np.float64]

#: Passes in which the weights of the joints settle.
REWEIGHTINGS = 4
#: Relative residual below which a fit is as good as exact.
FLOOR = 1e-9


@dataclass(frozen=True)
class ExchangeThresholds:
    """
    Bounds of the check for exchanged torques.

    Attributes
    ----------
    residual : float
        Residual of the two joints after the exchange, relative to that before (geometric mean),
        below which they are reported. Measured over all pairs of four real and six simulated
        arms: at least 1.03 where nothing was exchanged; at most 0.78 where signals were, but 0.97
        for one pair of an arm that hardly moved.
    moving_share : float
        Share of the samples with motion in which a joint must move to be compared.
    rows_per_column : int
        Rows needed for each parameter. With fewer, least squares explain any torque.

    """

    residual: float = 0.85
    moving_share: float = 0.5
    rows_per_column: int = 3


THRESHOLDS = ExchangeThresholds()


def exchanged_torques(
    arm: ArmModel, motions: Sequence[ConditionedMotion], settings: ConditioningSettings
) -> str | None:
    """
    Fit all pairs of joints with their drive signals exchanged.

    Each fit has the same torques, samples and number of parameters, so that residuals are
    comparable. Each joint has columns of its own, mainly those of friction, which do not explain
    the torque of another joint.

    Parameters
    ----------
    arm : ArmModel
        The arm; friction terms that depend on the load are left out.
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    settings : ConditioningSettings
        Cut-off and decimation.

    Returns
    -------
    str or None
        One sentence on the pair with the largest improvement, if there is one.

    """
    factors, joints, rows = _factors(arm, motions, settings)
    if len(joints) < 2 or not factors:
        return None
    columns = joint_torque(np.eye(arm.n), arm.drive)
    before = _residuals(factors, rows, np.eye(arm.n)[:, joints])
    best, found = THRESHOLDS.residual, None
    for i, k in combinations(range(len(joints)), 2):
        order = np.arange(arm.n)
        order[joints[[i, k]]] = joints[[k, i]]
        # Signals are exchanged at the motors, which a transmission may couple.
        mixing: Array = np.asarray(np.linalg.solve(columns, columns[order]))
        after = _residuals(factors, rows, mixing[:, joints])
        ratio = float(np.exp(np.log(after[0] / before[0]).sum() / 2))
        if ratio < best:
            first, second = arm.joint_names[joints[i]], arm.joint_names[joints[k]]
            shares = [100 * x[1][j] for x in (before, after) for j in (i, k)]
            best, found = ratio, (
                f'the torques of {first} and {second} seem to be exchanged: the model leaves '
                f'{shares[0]:.0f} and {shares[1]:.0f} % of them unexplained, and '
                f'{shares[2]:.0f} and {shares[3]:.0f} % after swapping them; check '
                'the order of the effort columns')
    return found


def _factors(
    arm: ArmModel, motions: Sequence[ConditionedMotion], settings: ConditioningSettings
) -> tuple[list[Array], NDArray[np.intp], int]:
    """Factor of ``[W_i tau]`` of each joint that can be compared, these joints, rows of each."""
    rows = gravity_rows(arm, motions, settings)
    moving = rows.moving[rows.moving.any(axis=1)]
    joints = np.flatnonzero(moving.sum(axis=0) > THRESHOLDS.moving_share * len(moving))
    # At standstill static friction makes the torque arbitrary, and any column explains it.
    common = rows.moving[:, joints].all(axis=1)
    length = float(np.linalg.norm(arm.gravity))
    W = rows.towards(arm.gravity / length if length else arm.gravity)[common]
    if common.sum() * len(joints) < THRESHOLDS.rows_per_column * W.shape[2]:
        return [], joints, 0
    tau = rows.tau[common]
    return [
        np.asarray(np.linalg.qr(np.concatenate([W[:, i], tau], axis=1), mode='r'))
        for i in joints], joints, int(common.sum())


def _residuals(factors: Sequence[Array], rows: int, mixing: Array) -> tuple[Array, Array]:
    """
    Fit all joints together, each weighted by its residual.

    Parameters
    ----------
    factors : sequence of (m, c + n) ndarray
        From `_factors`.
    rows : int
        Rows behind each factor.
    mixing : (n, len(factors)) ndarray
        Source of the torque of each of these joints.

    Returns
    -------
    (len(factors),) ndarray, (len(factors),) ndarray
        Norm of the residual of each joint, and the same relative to its torque.

    """
    n = len(mixing)
    data = QRFactors(np.array([
        np.column_stack([factor[:, :-n], factor[:, -n:] @ mixing[:, i]])
        for i, factor in enumerate(factors)]), np.full(len(factors), rows))
    norm = np.maximum(np.sqrt(data.torque_squares()), TINY)
    theta, *_ = reweighted(data, norm, REWEIGHTINGS)
    left = np.maximum(np.sqrt(data.residual_squares(theta)), FLOOR * norm)
    return left, left / norm
