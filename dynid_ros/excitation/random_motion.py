"""Random exciting motions within the limits of an arm, the best of several."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.nominal import nominal_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.errors import InputError
from dynid_ros.excitation.extremes import extremes
from dynid_ros.excitation.fourier import FourierMotion, rest_projection

Array = NDArray[np.float64]

#: Limits taken where an arm states none: rad or m, rad/s or m/s, rad/s² or m/s².
DEFAULT_POSITION = np.pi
DEFAULT_VELOCITY = 2.0
DEFAULT_ACCELERATION = 5.0

#: Share of the effort limits that the motion itself may need; the rest is for its control.
EFFORT_SHARE = 0.9

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
        The arm; its limits are kept between samples too, and limits that are not known are
        replaced by the defaults of this module.
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
        The limits leave no room, or each of the motions needs too much torque.

    """
    rng = np.random.default_rng(seed)
    room = _room(arm)
    known = arm.with_friction(_without_load(arm))
    best, least, shares = None, np.inf, np.zeros((tries, arm.n))
    for k in range(tries):
        motion = _fitting_motion(rng, room, period, harmonics, periods)
        shares[k] = _load_share(known, motion)
        condition = condition_number(known, motion)
        if condition < least and (shares[k] <= EFFORT_SHARE).all():
            best, least = motion, condition
    if best is None:
        joint = int(shares.min(axis=0).argmax())
        raise InputError(
            f"none of {tries} random motions of '{arm.name}' stays within {EFFORT_SHARE:.0%} of "
            f"the effort limits (joint '{arm.joint_names[joint]}' needs "
            f'{shares[:, joint].min():.0%} at least); lower its acceleration limits')
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
    W = _regressor_along(arm, motion)[:, :, base_parameters(arm).columns]
    return float(np.linalg.cond(W.reshape(-1, W.shape[-1])))


def _fitting_motion(
    rng: np.random.Generator, room: tuple[Array, Array, Array, Array], period: float,
    harmonics: int, periods: int,
) -> FourierMotion:
    """Random motion, as large as the room allows and anywhere in it."""
    lower, upper, velocity, acceleration = room
    n = len(lower)
    shape = rng.normal(size=(n, rest_projection(harmonics).shape[1]))
    bounds = extremes(FourierMotion.at_rest(period, np.zeros(n), shape))
    scale = np.min([
        (upper - lower) / (bounds.upper - bounds.lower), velocity / bounds.velocity,
        acceleration / bounds.acceleration], axis=0)
    lowest, highest = lower - scale * bounds.lower, upper - scale * bounds.upper
    offset = lowest + rng.random(n) * (highest - lowest)
    return FourierMotion.at_rest(period, offset, scale[:, None] * shape, periods)


def _without_load(arm: ArmModel) -> tuple[str, ...]:
    """Friction terms that follow from the motion alone."""
    return tuple(term.name for term in friction_terms(arm.friction) if not term.needs_load)


def _check_room(arm: ArmModel, lower: Array, upper: Array) -> None:
    """Refuse limits that no motion can keep."""
    limits = arm.limits
    for joint, name in enumerate(arm.joint_names):
        if lower[joint] >= upper[joint]:
            raise InputError(
                f"joint '{name}' of '{arm.name}' has no room to move between "
                f'{limits.lower[joint]:g} and {limits.upper[joint]:g}; widen its position limits')
        for quantity in ('velocity', 'acceleration'):
            value = getattr(limits, quantity)[joint]
            if not value > 0:
                raise InputError(
                    f"joint '{name}' of '{arm.name}' has a {quantity} limit of {value:g}, but "
                    'a motion needs one above zero')


def _room(arm: ArmModel) -> tuple[Array, Array, Array, Array]:
    """Lower, upper, velocity and acceleration limits, all finite."""
    limits = arm.limits
    lower = np.where(np.isfinite(limits.lower), limits.lower, -DEFAULT_POSITION)
    upper = np.where(np.isfinite(limits.upper), limits.upper, DEFAULT_POSITION)
    _check_room(arm, lower, upper)
    velocity = np.where(np.isfinite(limits.velocity), limits.velocity, DEFAULT_VELOCITY)
    acceleration = np.where(
        np.isfinite(limits.acceleration), limits.acceleration, DEFAULT_ACCELERATION)
    return lower, upper, velocity, acceleration


def _load_share(arm: ArmModel, motion: FourierMotion) -> Array:
    """Largest torque of each joint by its effort limit, (n,); zero where not known."""
    if arm.inertial is None:
        return np.zeros(arm.n)
    torque = _regressor_along(arm, motion) @ nominal_parameters(arm)
    return np.asarray(np.abs(torque).max(axis=0) / arm.limits.effort)


def _regressor_along(arm: ArmModel, motion: FourierMotion) -> Array:
    """Regressor (points, n, p) along one period at full amplitude."""
    t = motion.ramp + np.arange(CONDITION_POINTS) * (motion.period / CONDITION_POINTS)
    return regressor(arm, *motion.evaluate(t))
