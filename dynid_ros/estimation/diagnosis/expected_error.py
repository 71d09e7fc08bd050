# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Torque error on other motions in the same range that the error bars imply."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid_ros.arm.friction import JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters, gravity_load
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.blocks.prediction import motion_range, Prediction
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.utilities.arrays import Array

#: Largest expected torque error on other motions in the same range, from the error bars of the
#: data alone, %. Good recordings reach 4.5; four seconds of motion of six joints or more, and a
#: recording that hardly excites its arm, give 6.7 to 71. A larger error is a warning if the motion
#: determines each joint, held-out samples are predicted, and other motions would be, with this
#: error on top of the residual.
LARGEST_EXPECTED_PERCENT = 5.5
#: Largest error on data not used for fitting, and of a fit whose gains are meaningful, %. Good
#: recordings reach 5.7 %; a drive gain of 1.3 gives 23 %, and exchanged torques of two joints
#: give more.
HELD_OUT_ERROR_PERCENT = 25.0
#: Random states over which the expected error is averaged, and their seed, which changes it by 1
#: to 3.5 %.
EXPECTED_STATES, STATE_SEED = 400, 1997
#: Least mean square torque of a joint, relative to all joints, for a relative error.
WEAKEST = 1e-6


def expected_errors(
    arm: ArmModel, theta: Array, covariance: Array, motion: Prediction, acceleration: Array,
) -> tuple[float, Array, Array]:
    """
    Predict the torque error on other motions in the same range, from the covariance alone.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    theta, covariance : (b,) and (b, b) ndarray
        Estimate.
    motion : Prediction
        Samples that were fitted.
    acceleration : (n,) ndarray
        Largest acceleration of each joint, rad/s².

    Returns
    -------
    error : float
        Over all joints, %.
    by_joint : (n,) ndarray
        Of each joint, %; zero for a joint that never moved.
    spread : (b,) ndarray
        Root of the torque variance due to each parameter, summed over all states, Nm.

    """
    q, qd, qdd = _states(motion, acceleration)
    load = gravity_load(arm, q, theta)
    # The joints are as warm as if all states followed each other.
    warmth = np.broadcast_to(np.sqrt((qd**2).mean(axis=0)), qd.shape)
    history = replace(JointHistory.unknown(qd), warmth=warmth)
    Y = regressor(arm, q, qd, qdd, load=load, history=history)[:, :, base_parameters(arm).columns]
    variance = np.einsum('kib,bc,kic->i', Y, covariance, Y, optimize=True) / len(Y)
    moved = np.isfinite(motion.tau).any(axis=0)
    variance = np.where(moved, np.maximum(variance, 0.0), 0.0)
    # No torque is predicted for a joint without measured torque.
    power = np.maximum(((Y @ theta) ** 2).mean(axis=0) * moved, TINY)
    floor = power.sum() * WEAKEST
    # With few rows, the variance may overflow.
    with np.errstate(over='ignore'):
        expected = float(100 * np.sqrt(variance.sum() / power.sum()))
        by_joint = 100 * np.sqrt(variance / np.maximum(power, floor))
    spread = np.sqrt(np.diag(covariance) * np.einsum('kib,kib->b', Y, Y))
    return expected, by_joint, spread


def _states(motion: Prediction, acceleration: Array) -> tuple[Array, Array, Array]:
    """Random states in the box of positions, velocities and accelerations of the motion."""
    rng = np.random.default_rng(STATE_SEED)
    low, high, speed = motion_range([motion])
    unit = rng.uniform(-1, 1, size=(2, EXPECTED_STATES, len(low)))
    inside = rng.uniform(low, high, size=(EXPECTED_STATES, len(low)))
    return inside, unit[0] * speed, unit[1] * acceleration
