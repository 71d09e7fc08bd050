# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Metrics of predicted torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.utilities.arrays import Array, joined

#: Descriptions of held-out samples: of a motion that was not fitted, or a repetition of the
#: fitted.
ANOTHER_MOTION, FITTED_AGAIN = 'another motion', 'the fitted motion again'
# Keeps a joint without torque from a division by zero.
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class JointMetrics:
    """
    Prediction error of the torque of one joint.

    Attributes
    ----------
    name : str
        Joint.
    rmse : float
        Root mean square of measured minus predicted torque, Nm.
    relative_error_percent : float
        ``100 ‖tau - tau_hat‖ / ‖tau‖``.
    r2 : float
        Share of the variance that the model explains.

    """

    name: str
    rmse: float
    relative_error_percent: float
    r2: float


@dataclass(frozen=True)
class Metrics:
    """
    Prediction error of torque on one set of samples.

    Attributes
    ----------
    source : str
        Name of the samples, such as ``last 33 % of ur10.db3``.
    held_out : bool
        False for the samples that were used for fitting.
    samples : int
        Samples of each joint, after decimation.
    relative_error_percent : float
        Over all joints.
    joints : tuple of JointMetrics
        Joint by joint.

    """

    source: str
    held_out: bool
    samples: int
    relative_error_percent: float
    joints: tuple[JointMetrics, ...]


@dataclass(frozen=True)
class BandwidthError:
    """
    Prediction error of the held-out torque at one bandwidth.

    Attributes
    ----------
    cutoff_hz : float or None
        Cut-off of the low-pass that measured and predicted torque pass, Hz; None for the measured
        torque as recorded.
    error_percent : float
        Relative error over all joints.
    plain_error_percent : float or None
        The same with plain friction, where the model has other terms.
    unrepeated_percent : float or None
        Part that differs between repetitions of a motion, if any; see `unrepeated_percent`.

    """

    cutoff_hz: float | None
    error_percent: float
    plain_error_percent: float | None
    unrepeated_percent: float | None = None


def metrics(joints: Sequence[str], parts: Sequence[Prediction]) -> Metrics:
    """
    Compare measured and predicted torque.

    Parameters
    ----------
    joints : sequence of str
        Names of the joints.
    parts : sequence of Prediction
        The samples: all of them held out, or none.

    Returns
    -------
    Metrics
        RMSE, ``100 ‖tau - tau_hat‖ / ‖tau‖`` and R², per joint and overall; NaN for a joint that
        never moves, and all but RMSE for one without any torque.

    """
    prediction = joined(parts)
    tau, error = prediction.tau, prediction.tau - prediction.tau_hat
    by_joint = tuple(
        _of_joint(name, tau[:, i], error[:, i]) for i, name in enumerate(joints))
    sources = ', '.join(dict.fromkeys(part.source for part in parts))
    return Metrics(sources, prediction.held_out, len(tau), percent_of(error, tau), by_joint)


def unrepeated_percent(
    metrics: Metrics, unrepeated: Sequence[float] | Array,
) -> tuple[float, Array]:
    """
    Express the torque that an arm does not repeat relative to the torque of samples.

    Parameters
    ----------
    metrics : Metrics
        Figures of the samples.
    unrepeated : (n,) array_like
        Root mean square of that torque, Nm.

    Returns
    -------
    all_joints : float
        Defined like ``relative_error_percent``, over all joints that move.
    by_joint : (n,) ndarray
        The same of each joint.

    """
    rmse, percent = np.array(
        [(joint.rmse, joint.relative_error_percent) for joint in metrics.joints]).T
    own, error = (float(np.linalg.norm(np.nan_to_num(x))) for x in (unrepeated, rmse))
    return (own / max(error, TINY) * metrics.relative_error_percent,
            np.asarray(unrepeated / np.maximum(rmse, TINY) * percent))


def _of_joint(name: str, tau: Array, error: Array) -> JointMetrics:
    """Metrics of one joint over the samples in which it moves; NaN if it never does."""
    moves = np.isfinite(tau)
    if not moves.any():
        return JointMetrics(name, np.nan, np.nan, np.nan)
    tau, error = tau[moves], error[moves]
    squares = float((error**2).sum())
    if not tau.any():
        # The error of a passive joint is relative to nothing.
        return JointMetrics(name, float(np.sqrt(squares / len(tau))), np.nan, np.nan)
    total = max(float(((tau - tau.mean()) ** 2).sum()), TINY)
    with np.errstate(over='ignore'):
        r2 = float(1 - np.divide(squares, total))
    return JointMetrics(name, float(np.sqrt(squares / len(tau))), percent_of(error, tau), r2)


def percent_of(error: Array, tau: Array) -> float:
    """Size of an error relative to the torque, over all numbers that are finite, %."""
    if not np.isfinite(tau).any():
        return np.nan
    # The error of a joint without any torque has no bound.
    with np.errstate(over='ignore'):
        return 100 * float(np.sqrt(np.nansum(error**2) / max(np.nansum(tau**2), TINY)))
