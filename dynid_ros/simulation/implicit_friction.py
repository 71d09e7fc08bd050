# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Implicit integration of joint friction, which is stiff near standstill."""

from __future__ import annotations

import numpy as np

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel

# The slowest of the 1200 random arms of its test takes 51.
_ITERATIONS = 100
_HALVINGS = 30
_CONVERGED = 1e-9
# Largest slope after the minimum along a step, relative to the slope at its start.
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
        Velocity, bias torques, and torques at the joints other than friction of the speed.
    speeds : (S,) ndarray
        Zero, and ascending speeds of one ratio, at which the curves of friction are given.
    rising, falling : (n, S) ndarray
        Friction at the end velocity of the step, which never falls with the speed, and friction at
        the start velocity.
    timestep : float
        Positive.
    change : (n,) ndarray
        Change of velocity in the step before, a first guess; that in this step on return.
    applied : (n,) ndarray
        Torques of the step, written.

    Returns
    -------
    float
        Speed of the fastest joint at the end of the step, NaN for an invalid state.

    """
    n = qd.size
    friction, slopes, force = np.empty(n), np.empty(n), np.empty(n)
    _on_curves(speeds, falling, qd, friction, slopes)
    for i in range(n):
        applied[i] = given[i] - friction[i]
        force[i] = applied[i] - bias[i]
        change[i] += qd[i]
    after = end_velocity(mass, qd, force, change, speeds, rising, timestep)
    _on_curves(speeds, rising, after, friction, slopes)
    fastest = 0.0
    for i in range(n):
        change[i] = after[i] - qd[i]
        applied[i] -= friction[i]
        speed = abs(after[i])
        if speed > fastest or np.isnan(speed):
            fastest = speed
    return fastest


@kernel
def end_velocity(
    mass: Array, qd: Array, force: Array, guess: Array, speeds: Array, rising: Array,
    timestep: float,
) -> Array:
    """
    Find the velocity at the end of a step of implicit Euler, with friction at that velocity.

    Solves ``mass (x - qd) = timestep (force - friction(x))`` for x, with friction that never falls
    with the speed. The residual is the gradient of a convex function; Newton's step is halved
    while it is far beyond the minimum along its line. So friction never reverses a motion, at any
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
    residual, slopes, factor = np.empty(n), np.empty(n), np.empty((n, n))
    _residual(x, mass, qd, force, speeds, rising, timestep, residual, slopes)
    for _ in range(_ITERATIONS):
        _newton_step(mass, slopes, timestep, residual, factor, change)
        converged, descent, share = True, 0.0, 1.0
        for i in range(n):
            converged &= abs(change[i]) <= _CONVERGED * (speeds[1] + abs(x[i]))
            descent += residual[i] * change[i]
            moved[i] = x[i] - change[i]
        if converged:
            return moved
        for _ in range(_HALVINGS):
            for i in range(n):
                moved[i] = x[i] - share * change[i]
            _residual(moved, mass, qd, force, speeds, rising, timestep, residual, slopes)
            climb = 0.0
            for i in range(n):
                climb -= residual[i] * change[i]
            if climb <= _CLIMB * descent:
                break
            share *= 0.5
        x, moved = moved, x
    return x


@kernel
def _newton_step(
    mass: Array, slopes: Array, timestep: float, residual: Array, factor: Array, change: Array,
) -> None:
    """Write the change (n,) of Newton's step, by Cholesky's factor (n, n) of the slopes."""
    n = residual.size
    for i in range(n):
        for j in range(i + 1):
            rest = mass[i, j] + (timestep * slopes[i] if i == j else 0.0)
            for k in range(j):
                rest -= factor[i, k] * factor[j, k]
            factor[i, j] = np.sqrt(rest) if i == j else rest / factor[j, j]
    for i in range(n):
        rest = residual[i]
        for k in range(i):
            rest -= factor[i, k] * change[k]
        change[i] = rest / factor[i, i]
    for i in range(n - 1, -1, -1):
        rest = change[i]
        for k in range(i + 1, n):
            rest -= factor[k, i] * change[k]
        change[i] = rest / factor[i, i]


@kernel
def _residual(
    x: Array, mass: Array, qd: Array, force: Array, speeds: Array, rising: Array, timestep: float,
    residual: Array, slopes: Array,
) -> None:
    """Write the residual of the equation of `end_velocity` and the slopes of friction, (n,)."""
    _on_curves(speeds, rising, x, residual, slopes)
    for i in range(x.size):
        total = timestep * (residual[i] - force[i])
        for j in range(x.size):
            total += mass[i, j] * (x[j] - qd[j])
        residual[i] = total


@kernel
def _on_curves(speeds: Array, curves: Array, x: Array, friction: Array, slopes: Array) -> None:
    """Write friction and its slopes (n,) at velocities (n,), linear between points."""
    for i in range(x.size):
        speed, curve, k = abs(x[i]), curves[i], 0
        if speed > speeds[1]:
            ratios = np.log(speed / speeds[1]) / np.log(speeds[2] / speeds[1])
            k = 1 + int(min(ratios, speeds.size - 3.0))
        slopes[i] = (curve[k + 1] - curve[k]) / (speeds[k + 1] - speeds[k])
        friction[i] = np.copysign(1.0, x[i]) * (curve[k] + slopes[i] * (speed - speeds[k]))
