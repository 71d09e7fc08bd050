"""Implicit integration of joint friction, which is stiff near standstill."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.regression.least_squares import factorise, solve_factorised
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel

Joints = NDArray[np.intp]

# The slowest of the 1200 random arms of its test takes 51.
_ITERATIONS = 100
_HALVINGS = 30
_CONVERGED = 1e-9
# How far a step may climb again behind the minimum along it, by the slope at its start.
_CLIMB = 0.1


@kernel
def apply_friction(
    mass: Array, order: Joints, velocity: Array, bias: Array, given: Array, speeds: Array,
    rising: Array, falling: Array, timestep: float, change: Array, applied: Array,
) -> float:
    """
    Apply the torques of a step to a model, with the friction that its end velocity implies.

    Parameters
    ----------
    mass : (v, v) ndarray
        Mass matrix of the model.
    order : (n,) ndarray of int
        Place of each joint among the degrees of freedom of the model.
    velocity, bias : (v,) ndarray
        Velocity and bias torques of the model.
    given : (n,) ndarray
        Torques at the joints, but friction that depends on the speed.
    speeds : (S,) ndarray
        Zero, and ascending speeds of one ratio, at which the curves of friction are given.
    rising, falling : (n, S) ndarray
        Friction at the velocity of the end of the step, which never falls with the speed, and
        friction at that of its start.
    timestep : float
        Positive.
    change : (n,) ndarray
        Change of velocity in the step before, a first guess; that in this step on return.
    applied : (v,) ndarray
        Torques of the step, written.

    Returns
    -------
    float
        Speed of the fastest joint at the end of the step, NaN for a state that is none.

    """
    n = order.size
    own, qd, force = np.empty((n, n)), np.empty(n), np.empty(n)
    for i in range(n):
        qd[i] = velocity[order[i]]
        applied[order[i]] = given[i] - _on_curve(speeds, falling[i], qd[i])[0]
        force[i] = applied[order[i]] - bias[order[i]]
        for j in range(n):
            own[i, j] = mass[order[i], order[j]]
    after = end_velocity(own, qd, force, qd + change, speeds, rising, timestep)
    fastest = 0.0
    for i in range(n):
        change[i] = after[i] - qd[i]
        applied[order[i]] -= _on_curve(speeds, rising[i], after[i])[0]
        # A comparison with NaN is false.
        fastest = fastest if abs(after[i]) <= fastest else abs(after[i])
    return fastest


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
    n = qd.size
    x, moved, change = guess.copy(), np.empty(n), np.empty(n)
    slopes, residual = np.empty(n), np.empty(n)
    factor = np.empty((n, n))
    _fill_residual(x, mass, qd, force, speeds, rising, timestep, slopes, residual)
    for _ in range(_ITERATIONS):
        for i in range(n):
            for j in range(n):
                factor[i, j] = mass[i, j]
            factor[i, i] += timestep * slopes[i]
            change[i] = residual[i]
        factorise(factor)
        solve_factorised(factor, change)
        converged = True
        for i in range(n):
            converged &= abs(change[i]) <= _CONVERGED * (speeds[1] + abs(x[i]))
        if converged:
            return x - change
        descent, share = _product(residual, change), 1.0
        for _ in range(_HALVINGS):
            for i in range(n):
                moved[i] = x[i] - share * change[i]
            _fill_residual(moved, mass, qd, force, speeds, rising, timestep, slopes, residual)
            if -_product(residual, change) <= _CLIMB * descent:
                break
            share *= 0.5
        x, moved = moved, x
    return x


@kernel
def _product(a: Array, b: Array) -> float:
    """Return the inner product of two vectors."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@kernel
def _fill_residual(
    x: Array, mass: Array, qd: Array, force: Array, speeds: Array, rising: Array,
    timestep: float, slopes: Array, out: Array,
) -> None:
    """Write the residual of the equation of `end_velocity` and the slopes of friction, (n,)."""
    n = x.size
    for i in range(n):
        friction, slopes[i] = _on_curve(speeds, rising[i], x[i])
        out[i] = timestep * (friction - force[i])
        for j in range(n):
            out[i] += mass[i, j] * (x[j] - qd[j])


@kernel
def _on_curve(speeds: Array, curve: Array, x: float) -> tuple[float, float]:
    """Friction and its slope at a velocity, on straight lines between the points of a curve."""
    speed = abs(x)
    k = 0
    if speed > speeds[1]:
        ratios = np.log(speed / speeds[1]) / np.log(speeds[2] / speeds[1])
        k = 1 + int(min(ratios, speeds.size - 3.0))
    slope = (curve[k + 1] - curve[k]) / (speeds[k + 1] - speeds[k])
    return np.copysign(1.0, x) * (curve[k] + slope * (speed - speeds[k])), slope
