"""Interior-point descent with exact curvature of the limits and BFGS for the rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dynid_ros.motion.excitation.design_cost import DesignCost
from dynid_ros.motion.excitation.information_criteria import Criterion
from dynid_ros.utilities.arrays import Array

#: Part of the way to the nearest limit that a step may go.
BOUNDARY = 0.95
#: Decrease that a step must bring, as share of what the slope promises (Armijo).
DECREASE = 1e-4
#: Halvings of a step before the descent is given up.
HALVINGS = 12
#: Predicted decrease at which the descent has arrived.
ARRIVED = 1e-5
#: First guess of the curvature of the criterion.
CURVATURE = 1e-2
#: Least share of the estimated curvature that an update may claim (Powell's damping).
DAMPING = 0.2


class Descent:
    """
    State of a descent, which continues from stage to stage.

    Parameters
    ----------
    cost : DesignCost
        Cost to minimise.
    X : (n, m) ndarray
        Coordinates to start from, inside all limits.

    Attributes
    ----------
    X : (n, m) ndarray
        Coordinates, always inside all limits.
    steps : int
        Steps made so far.

    References
    ----------
    Nocedal and Wright 2006, Numerical Optimization, chapter 19 (barriers) and procedure 18.2
    (damped BFGS).

    """

    def __init__(self, cost: DesignCost, X: Array) -> None:
        self._cost, self.X, self.steps = cost, X, 0
        # BFGS estimate of the Hessian of criterion, torque and collision.
        self._curvature = CURVATURE * np.eye(X.size)

    def run(
        self, criterion: Criterion, wall: float, iterations: int, check: Callable[[], None],
    ) -> None:
        """
        Descend for one criterion and one factor of the barriers.

        Parameters
        ----------
        criterion : Criterion
            Criterion to minimise.
        wall : float
            Factor of the barriers.
        iterations : int
            Largest number of steps.
        check : callable
            Called before each step; may raise to end the descent, which keeps its last point.

        """
        merit, here = self._merit(self.X, criterion, wall)
        if here is None:
            return
        gradient = here()
        for _ in range(iterations):
            check()
            step, promise = self._step(gradient, wall)
            if promise < ARRIVED:
                return
            length = min(1.0, BOUNDARY * self._cost.allowed.reach(self.X, step))
            for _ in range(HALVINGS):
                candidate = self.X + length * step
                reached, there = self._merit(candidate, criterion, wall)
                if there is not None and reached <= merit - DECREASE * length * promise:
                    break
                length /= 2
            else:
                return
            following = there()
            self._learn((candidate - self.X).ravel(), (following - gradient).ravel())
            self.X, gradient, merit = candidate, following, reached
            self.steps += 1

    def _merit(
        self, X: Array, criterion: Criterion, wall: float
    ) -> tuple[float, Callable[[], Array] | None]:
        allowed = self._cost.allowed.value(X)
        if not np.isfinite(allowed):
            return np.inf, None
        value, gradient = self._cost.at(X, criterion, wall)
        return wall * allowed + value, gradient

    def _step(self, gradient: Array, wall: float) -> tuple[Array, float]:
        """Newton step (n, m), and the decrease predicted by its slope."""
        slope, blocks = self._cost.allowed.derivatives(self.X)
        n, m = self.X.shape
        hessian = self._curvature.copy()
        for j in range(n):
            own = slice(j * m, (j + 1) * m)
            hessian[own, own] += wall * blocks[j]
        total = (gradient + wall * slope).ravel()
        step = _solve(hessian, -total)
        if step is None:
            # Rounding spoilt the estimate: restart with the exact part and a spherical guess.
            hessian += CURVATURE * np.eye(n * m) - self._curvature
            self._curvature = CURVATURE * np.eye(n * m)
            step = _solve(hessian, -total)
        if step is None:
            return np.zeros((n, m)), 0.0
        return step.reshape(n, m), float(-total @ step)

    def _learn(self, moved: Array, change: Array) -> None:
        """Update the curvature to match the change of the gradient."""
        expected = self._curvature @ moved
        energy, seen = float(moved @ expected), float(moved @ change)
        if seen < DAMPING * energy:
            share = (1 - DAMPING) * energy / (energy - seen)
            change = share * change + (1 - share) * expected
            seen = float(moved @ change)
        self._curvature += np.outer(change, change) / seen - np.outer(expected, expected) / energy


def _solve(matrix: Array, right: Array) -> Array | None:
    """Solve a symmetric system, or return None where the matrix is not positive definite."""
    diagonal = np.diag(matrix)
    if not (diagonal > 0).all():
        return None
    # Near a limit the curvature spans many decades; unit diagonals keep the solution exact.
    scale = 1 / np.sqrt(diagonal)
    try:
        factor = cho_factor(matrix * np.outer(scale, scale), check_finite=False)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(scale * cho_solve(factor, scale * right, check_finite=False))
