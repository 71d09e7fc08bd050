"""Implicit integration of joint friction, which is stiff near standstill."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.compiled import kernel
from dynid_ros.errors import ArmError
from dynid_ros.regression.least_squares import factorise, solve_factorised
from dynid_ros.simulation.plausible_drive import typical_speed

Array = NDArray[np.float64]
Joints = NDArray[np.intp]
Coefficients = tuple[Array, Array, Array]

#: Speed over which Coulomb friction turns its sign, rad/s or m/s: far below what an encoder sees.
#: An arm with a joint that never reaches 1 rad/s has a thousandth of the speed of that joint.
COULOMB_WIDTH = 1e-3

# The slowest of the 1200 random arms of its test takes 66 to 70.
_ITERATIONS = 100
_HALVINGS = 30
_CONVERGED = 1e-9
# How far a step may climb again behind the minimum along it, by the slope at its start.
_CLIMB = 0.1


@dataclass(frozen=True)
class JointFriction:
    """
    Friction torque ``viscous qd + coulomb tanh(qd / width) + offset`` of each joint.

    Attributes
    ----------
    viscous, coulomb, offset : (n,) ndarray
        Nm s/rad, Nm, Nm.
    width : float
        rad/s or m/s.

    """

    viscous: Array
    coulomb: Array
    offset: Array
    width: float = COULOMB_WIDTH

    @staticmethod
    def nominal(arm: ArmModel) -> JointFriction:
        """
        Nominal friction of an arm, zero where unknown.

        Raises
        ------
        ArmError
            The arm has a nominal friction term that is not simulated.

        """
        known = ('viscous', 'coulomb', 'offset')
        for name in arm.friction_nominal:
            if name not in known:
                raise ArmError(
                    f"the nominal friction term '{name}' of '{arm.name}' cannot be simulated; "
                    f'only {", ".join(known)} can')
        zero = np.zeros(arm.n)
        viscous, coulomb, offset = (
            np.asarray(arm.friction_nominal.get(name, zero), dtype=float) for name in known)
        width = COULOMB_WIDTH * min(1.0, float(typical_speed(arm).min()))
        return JointFriction(viscous, coulomb, offset, width)

    def torque(self, qd: Array) -> Array:
        """Friction torque, of the shape (..., n) of the velocity."""
        return np.asarray(
            self.viscous * qd + self.coulomb * np.tanh(qd / self.width) + self.offset)


@kernel
def apply_friction(
    mass: Array, order: Joints, velocity: Array, bias: Array, given: Array, friction: Coefficients,
    width: float, timestep: float, change: Array, applied: Array,
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
        Torques at the joints but friction.
    friction : tuple of (n,) ndarray
        Viscous and Coulomb coefficients, and offsets.
    width, timestep : float
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
    viscous, coulomb, offset = friction
    own, qd, force = np.empty((n, n)), np.empty(n), np.empty(n)
    for i in range(n):
        qd[i] = velocity[order[i]]
        force[i] = given[i] - offset[i] - bias[order[i]]
        for j in range(n):
            own[i, j] = mass[order[i], order[j]]
    after = end_velocity(own, qd, force, qd + change, viscous, coulomb, width, timestep)
    fastest = 0.0
    for i in range(n):
        change[i] = after[i] - qd[i]
        applied[order[i]] = given[i] - (
            viscous[i] * after[i] + coulomb[i] * np.tanh(after[i] / width) + offset[i])
        # A comparison with NaN is false.
        fastest = fastest if abs(after[i]) <= fastest else abs(after[i])
    return fastest


@kernel
def end_velocity(
    mass: Array, qd: Array, force: Array, guess: Array, viscous: Array, coulomb: Array,
    width: float, timestep: float,
) -> Array:
    """
    Velocity at the end of a step of implicit Euler, with friction taken at that velocity.

    Solves ``mass (x - qd) = timestep (force - viscous x - coulomb tanh(x / width))`` for x. The
    residual is the gradient of a convex function; Newton's step is halved while it is far
    behind the minimum along its line. So friction never reverses a motion, at any step size.

    Parameters
    ----------
    mass : (n, n) ndarray
        Mass matrix.
    qd, force, guess : (n,) ndarray
        Velocity at the start, all other joint torques, first guess of the result.
    viscous, coulomb : (n,) ndarray
        Coefficients, not negative.
    width, timestep : float
        Positive.

    Returns
    -------
    (n,) ndarray
        Velocity at the end, rad/s.

    """
    n = qd.size
    x, moved, change = guess.copy(), np.empty(n), np.empty(n)
    sides, residual = np.empty(n), np.empty(n)
    factor = np.empty((n, n))
    _fill_residual(x, mass, qd, force, viscous, coulomb, width, timestep, sides, residual)
    for _ in range(_ITERATIONS):
        for i in range(n):
            for j in range(n):
                factor[i, j] = mass[i, j]
            steep = coulomb[i] / width * (1 - sides[i] * sides[i])
            factor[i, i] += timestep * (viscous[i] + steep)
            change[i] = residual[i]
        factorise(factor)
        solve_factorised(factor, change)
        converged = True
        for i in range(n):
            converged &= abs(change[i]) <= _CONVERGED * (width + abs(x[i]))
        if converged:
            return x - change
        descent, share = _product(residual, change), 1.0
        for _ in range(_HALVINGS):
            for i in range(n):
                moved[i] = x[i] - share * change[i]
            _fill_residual(
                moved, mass, qd, force, viscous, coulomb, width, timestep, sides, residual)
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
    x: Array, mass: Array, qd: Array, force: Array, viscous: Array, coulomb: Array,
    width: float, timestep: float, sides: Array, out: Array,
) -> None:
    """Write the residual of the equation of `end_velocity` and ``tanh(x / width)``, (n,) each."""
    n = x.size
    for i in range(n):
        sides[i] = np.tanh(x[i] / width)
        out[i] = timestep * (viscous[i] * x[i] + coulomb[i] * sides[i] - force[i])
        for j in range(n):
            out[i] += mass[i, j] * (x[j] - qd[j])
