# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Random exciting motions within the limits of an arm, the best of several."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import InputError
from dynid_ros.motion.feasibility.motion_bounds import motion_bounds
from dynid_ros.motion.feasibility.planning_limits import planning_limits, PlanningLimits
from dynid_ros.motion.trajectory.fourier import FourierMotion, rest_projection
from dynid_ros.utilities.arrays import Array

#: Points of a period at which the condition number is taken.
CONDITION_POINTS = 200


def random_motion(
    arm: ArmModel, seed: int, period: float = 10.0, harmonics: int = 5, periods: int = 3,
    tries: int = 200,
) -> FourierMotion:
    """
    Random Fourier motion within the limits, the best conditioned of several.

    Parameters
    ----------
    arm : ArmModel
        The arm; its motion limits are kept between samples too, and unknown limits are
        replaced by the defaults of `planning_limits`.
    seed : int
        The same seed gives the same motion.
    period : float
        Period of the fundamental, s.
    harmonics : int
        Number of harmonics.
    periods : int
        How often the period is repeated.
    tries : int
        Number of random motions to choose from.

    Returns
    -------
    FourierMotion
        At rest at start and end, without ramps.

    Raises
    ------
    InputError
        The limits leave no range, or each motion needs too much torque.

    """
    rng = np.random.default_rng(seed)
    allowed = planning_limits(arm)
    known = arm.memoryless
    best, least, shares = None, np.inf, np.zeros((tries, arm.n))
    for k in range(tries):
        motion = _fitting_motion(rng, allowed, period, harmonics, periods)
        Y = regressor(known, *motion.one_period(CONDITION_POINTS))
        if known.inertial is not None:
            torque = Y @ nominal_parameters(known)
            shares[k] = np.abs(torque).max(axis=0) / known.motion_limits.effort
        if (shares[k] <= 1).all() and (condition := _condition(known, Y)) < least:
            best, least = motion, condition
    if best is None:
        joint = int(shares.min(axis=0).argmax())
        raise InputError(
            f"none of {tries} random motions of '{arm.name}' stays within the "
            f"effort limits (joint '{arm.joint_names[joint]}' needs "
            f'at least {shares[:, joint].min():.0%} of its limit); give a motion of "dynid '
            'design", or correct limits.effort or limits.acceleration in arm.yaml')
    return best


def condition_number(arm: ArmModel, motion: FourierMotion) -> float:
    """
    Condition number of the base regressor along one period of a motion.

    Parameters
    ----------
    arm : ArmModel
        The arm with the columns that will be identified.
    motion : FourierMotion
        The motion.

    Returns
    -------
    float
        Largest by smallest singular value, columns not scaled.

    """
    return _condition(arm, regressor(arm, *motion.one_period(CONDITION_POINTS)))


def _condition(arm: ArmModel, Y: Array) -> float:
    W = Y[:, :, base_parameters(arm).columns]
    return float(np.linalg.cond(W.reshape(-1, W.shape[-1])))


def _fitting_motion(
    rng: np.random.Generator, allowed: PlanningLimits, period: float, harmonics: int, periods: int,
) -> FourierMotion:
    """Random motion, as large as the limits allow at a random position."""
    lower, upper = allowed.lower, allowed.upper
    n = len(lower)
    shape = rng.normal(size=(n, rest_projection(harmonics).shape[1]))
    bounds = motion_bounds(FourierMotion.at_rest(period, np.zeros(n), shape))
    scale = np.min([
        (upper - lower) / (bounds.upper - bounds.lower), allowed.velocity / bounds.velocity,
        allowed.acceleration / bounds.acceleration], axis=0)
    lowest, highest = lower - scale * bounds.lower, upper - scale * bounds.upper
    offset = lowest + rng.random(n) * (highest - lowest)
    return FourierMotion.at_rest(period, offset, scale[:, None] * shape, periods)
