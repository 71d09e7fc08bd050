"""Implicit integration of joint friction, which is stiff near standstill."""

from __future__ import annotations

import numpy as np

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel

# The slowest of the 1200 random arms of its test takes 51.
_ITERATIONS = 100
_HALVINGS = 30
_CONVERGED = 1e-9
# How far a step may climb again behind the minimum along it, by the slope at its start.
_CLIMB = 0.1


@kernel
def apply_friction(
    mass: Array, qd: Array, bias: Array, given: Array, speeds: Array, rising: Array,
    falling: Array, timestep: float, change: Array, applied: Array,
) -> float:
    """
    Find the torques of a step, with the friction that its end velocity implies.

    Parameters
    ----------
    mass : (n, n) ndarray
        Mass matrix.
    qd, bias, given : (n,) ndarray
        Velocity, bias torques, and torques at the joints, but friction that depends on the speed.
    speeds : (S,) ndarray
        Zero, and ascending speeds of one ratio, at which the curves of friction are given.
    rising, falling : (n, S) ndarray
        Friction at the velocity of the end of the step, which never falls with the speed, and
        friction at the velocity of its start.
    timestep : float
        Positive.
    change : (n,) ndarray
        Change of velocity in the step before, a first guess; that in this step on return.
    applied : (n,) ndarray
        Torques of the step, written.

    Returns
    -------
    float
        Speed of the fastest joint at the end of the step, NaN for a state that is none.

    """
    torque = given - _on_curves(speeds, falling, qd)[0]
    after = end_velocity(mass, qd, torque - bias, qd + change, speeds, rising, timestep)
    change[:] = after - qd
    applied[:] = torque - _on_curves(speeds, rising, after)[0]
    return float(np.abs(after).max())


@kernel
def end_velocity(
    mass: Array, qd: Array, force: Array, guess: Array, speeds: Array, rising: Array,
    timestep: float,
) -> Array:
    """
    Velocity at the end of a step of implicit Euler, with friction taken at that velocity.

    Solves ``mass (x - qd) = timestep (force - friction(x))`` for x, with friction that never falls
    with the speed. The residual is the gradient of a convex function; Newton's step is halved
    while it is far behind the minimum along its line. So friction never reverses a motion, at any
    step size.

    Parameters
    ----------
    mass : (n, n) ndarray
        Mass matrix.
    qd, force, guess : (n,) ndarray
        Velocity at the start, all other joint torques, first guess of the result.
    speeds, rising : (S,) and (n, S) ndarray
        Curves of friction, see `apply_friction`.
    timestep : float
        Positive.

    Returns
    -------
    (n,) ndarray
        Velocity at the end, rad/s.

    """
    x = guess
    residual, slopes = _residual(x, mass, qd, force, speeds, rising, timestep)
    for _ in range(_ITERATIONS):
        change = np.linalg.solve(mass + timestep * np.diag(slopes), residual)
        if (np.abs(change) <= _CONVERGED * (speeds[1] + np.abs(x))).all():
            return x - change
        descent, share = (residual * change).sum(), 1.0
        for _ in range(_HALVINGS):
            moved = x - share * change
            residual, slopes = _residual(moved, mass, qd, force, speeds, rising, timestep)
            if -(residual * change).sum() <= _CLIMB * descent:
                break
            share *= 0.5
        x = moved
    return x


@kernel
def _residual(
    x: Array, mass: Array, qd: Array, force: Array, speeds: Array, rising: Array, timestep: float,
) -> tuple[Array, Array]:
    """Residual of the equation of `end_velocity` and the slopes of friction, (n,)."""
    friction, slopes = _on_curves(speeds, rising, x)
    return timestep * (friction - force) + (mass * (x - qd)).sum(axis=1), slopes


@kernel
def _on_curves(speeds: Array, curves: Array, x: Array) -> tuple[Array, Array]:
    """Friction and its slopes (n,) at velocities (n,), on straight lines between the points."""
    friction, slopes = np.empty_like(x), np.empty_like(x)
    for i in range(x.size):
        speed, curve, k = abs(x[i]), curves[i], 0
        if speed > speeds[1]:
            ratios = np.log(speed / speeds[1]) / np.log(speeds[2] / speeds[1])
            k = 1 + int(min(ratios, speeds.size - 3.0))
        slopes[i] = (curve[k + 1] - curve[k]) / (speeds[k + 1] - speeds[k])
        friction[i] = np.copysign(1.0, x[i]) * (curve[k] + slopes[i] * (speed - speeds[k]))
    return friction, slopes
