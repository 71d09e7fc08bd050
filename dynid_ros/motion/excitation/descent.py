# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Interior-point descent with exact curvature of the limits and BFGS for the rest."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from scipy.linalg import block_diag

from dynid_ros.motion.excitation.design_cost import DesignCost
from dynid_ros.motion.excitation.information_criteria import Criterion
from dynid_ros.utilities.arrays import Array, solve_definite

#: Largest step, as a share of the way to the nearest limit.
BOUNDARY = 0.95
#: Least decrease of a step, as a share of that predicted by the slope (Armijo).
DECREASE = 1e-4
#: Halvings of a step before the descent ends.
MOST_HALVINGS = 12
#: Predicted decrease at which the descent has converged.
ARRIVED = 1e-5
#: First guess of the curvature of the criterion.
FIRST_CURVATURE = 1e-2
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
    first, X : (n, m) ndarray
        Coordinates at the start and now, always inside all limits.
    steps : int
        Steps made so far.

    References
    ----------
    Nocedal and Wright 2006, Numerical Optimization, chapter 19 (barriers) and procedure 18.2
    (damped BFGS).

    """

    def __init__(self, cost: DesignCost, X: Array) -> None:
        self._cost, self.first, self.X, self.steps = cost, X, X, 0
        # BFGS estimate of the Hessian of criterion, torque and collision.
        self._curvature = FIRST_CURVATURE * np.eye(X.size)

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
        gradient, learnt = here(), 1
        for _ in range(iterations):
            check()
            step, promise = self._step(gradient, wall)
            if promise < ARRIVED:
                return
            length = min(1.0, BOUNDARY * self._cost.allowed.reach(self.X, step))
            for _ in range(MOST_HALVINGS):
                candidate = self.X + length * step
                reached, there = self._merit(candidate, criterion, wall)
                if there is not None and reached <= merit - DECREASE * length * promise:
                    break
                length /= 2
            else:
                if learnt == 0:
                    return
                # The curvature of earlier steps may mislead here: restart the estimate.
                self._curvature, learnt = FIRST_CURVATURE * np.eye(self.X.size), 0
                continue
            following = there()
            self._learn((candidate - self.X).ravel(), (following - gradient).ravel())
            learnt += 1
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
        exact, total = block_diag(*(wall * blocks)), (gradient + wall * slope).ravel()
        # Where rounding spoils the estimate, restart with a spherical guess.
        for guess in (self._curvature, FIRST_CURVATURE * np.eye(self.X.size)):
            with suppress(np.linalg.LinAlgError):
                step = solve_definite(guess + exact, -total)
                self._curvature = guess
                return step.reshape(self.X.shape), float(-total @ step)
        return np.zeros_like(self.X), 0.0

    def _learn(self, moved: Array, change: Array) -> None:
        """Update the curvature to match the change of the gradient."""
        expected = self._curvature @ moved
        energy, seen = float(moved @ expected), float(moved @ change)
        if seen < DAMPING * energy:
            share = (1 - DAMPING) * energy / (energy - seen)
            change = share * change + (1 - share) * expected
            seen = float(moved @ change)
        self._curvature += np.outer(change, change) / seen - np.outer(expected, expected) / energy
