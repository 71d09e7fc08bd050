# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Predicted torque and its variance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dynid_ros.arm.friction import JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.conditioning import ConditionedMotion
from dynid_ros.dynamics.base import base_parameters, gravity_load
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.utilities.arrays import Array

#: Samples whose rows are in memory at a time.
PREDICTED_TOGETHER = 1024


@dataclass(frozen=True, eq=False)
class Prediction:
    """
    Measured and predicted torque of one set of samples, for plots.

    Attributes
    ----------
    source : str
        Name of the samples.
    held_out : bool
        False for the samples that were used for fitting.
    t : (N,) ndarray
        Time since the start of its recording, s.
    q, qd : (N, n) ndarray
        Conditioned positions and velocities.
    tau, tau_hat : (N, n) ndarray
        Measured and predicted torque after the same low-pass filter, Nm; NaN where a joint
        stands still: static friction can hold any torque up to its limit.

    """

    source: str
    held_out: bool
    t: Array
    q: Array
    qd: Array
    tau: Array
    tau_hat: Array


def motion_range(
    parts: Sequence[Prediction] | Sequence[ConditionedMotion],
) -> tuple[Array, Array, Array]:
    """
    Find the range of positions and speeds over stretches.

    Returns
    -------
    low, high : (n,) ndarray
        Lowest and highest position, rad or m.
    speed : (n,) ndarray
        Largest speed, rad/s or m/s.

    """
    return (
        np.min([part.q.min(axis=0) for part in parts], axis=0),
        np.max([part.q.max(axis=0) for part in parts], axis=0),
        np.max([np.abs(part.qd).max(axis=0) for part in parts], axis=0))


def torque_variance(Y: Array, covariance: Array, sigma: Array) -> Array:
    """
    Variance of predicted torque, residual included.

    Parameters
    ----------
    Y : (N, n, b) ndarray
        Regressor of the base parameters.
    covariance : (b, b) ndarray
        Of the base parameters.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.

    Returns
    -------
    (N, n) ndarray
        ``diag(Y Cov(theta) Yᵀ) + sigma²``, Nm².

    """
    parameters = np.einsum('kib,bc,kic->ki', Y, covariance, Y, optimize=True)
    return np.asarray(np.clip(parameters, 0, None) + sigma**2)


def torque_rows(
    arm: ArmModel, theta: Array, q: Array, qd: Array, qdd: Array,
    history: JointHistory | None = None,
) -> Iterator[tuple[slice, Array]]:
    """
    Yield regressor rows of unfiltered states, block by block.

    Parameters
    ----------
    arm : ArmModel
        The arm; its friction terms are columns, too.
    theta : (b,) ndarray
        Base parameters, from which the load on each joint follows where a friction term needs it.
    q, qd, qdd : (N, n) ndarray
        rad, rad/s, rad/s² (m for prismatic joints).
    history : JointHistory, optional
        History of the joints; by default they are cold and slide.

    Yields
    ------
    part : slice
        Samples of the block.
    Y : (k, n, b) ndarray
        Their regressor; ``Y @ theta`` is the torque at the joints, Nm.

    """
    columns = base_parameters(arm).columns
    for start in range(0, len(q), PREDICTED_TOGETHER):
        part = slice(start, start + PREDICTED_TOGETHER)
        load = friction_load(arm, theta, q[part])
        before = history and history.part(part)
        Y = regressor(arm, q[part], qd[part], qdd[part], load=load, history=before)
        yield part, Y[:, :, columns]


def friction_load(arm: ArmModel, theta: Array | None, q: Array) -> Array | None:
    """Gravity torque that loads the joints, (N, n), or None if no friction term needs it."""
    return gravity_load(arm, q, theta) if arm.needs_load else None
