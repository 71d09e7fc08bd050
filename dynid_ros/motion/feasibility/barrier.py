# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Logarithmic barriers, which keep a descent inside all limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid_ros.motion.feasibility.planning_limits import PlanningLimits
from dynid_ros.motion.trajectory.sampled_series import SampledSeries
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True, eq=False)
class LimitBarrier:
    """
    Barrier of position, velocity and acceleration limits, which are linear in the coordinates.

    Attributes
    ----------
    series : SampledSeries
        Grid on which the limits are kept.
    allowed : PlanningLimits
        Limits.

    """

    series: SampledSeries
    allowed: PlanningLimits

    def slacks(self, X: Array) -> Array:
        """Distances (6, K, n) from the limits, as shares of them."""
        allowed = self.allowed
        q, qd, qdd = self.series.states(X)
        width = allowed.upper - allowed.lower
        qd, qdd = qd / allowed.velocity, qdd / allowed.acceleration
        return np.stack([
            (q - allowed.lower) / width, (allowed.upper - q) / width, 1 - qd, 1 + qd, 1 - qdd,
            1 + qdd])

    def reach(self, X: Array, step: Array) -> float:
        """Return the largest multiple of a step inside the limits; infinite if unlimited."""
        slacks = self.slacks(X)
        change = self.slacks(X + step) - slacks
        worst = np.max(-change / slacks)
        return float(1 / worst) if worst > 0 else np.inf

    def value(self, X: Array) -> float:
        """Mean over the grid of the barrier; infinite outside."""
        slacks = self.slacks(X)
        if not slacks.min() > 0:
            return np.inf
        return float(-np.log(slacks).sum() / len(self.series.t))

    def derivatives(self, X: Array) -> tuple[Array, Array]:
        """Gradient (n, m), and the Hessian (n, m, m), which has one block a joint."""
        allowed, maps = self.allowed, self.series.maps
        inverse = 1 / self.slacks(X)
        scale = np.stack(
            [allowed.upper - allowed.lower, allowed.velocity, allowed.acceleration])[:, None]
        slope = np.stack([
            inverse[1] - inverse[0], inverse[2] - inverse[3], inverse[4] - inverse[5]]) / scale
        curve = (inverse[0::2]**2 + inverse[1::2]**2) / scale**2
        weight = 1 / len(self.series.t)
        hessian = np.stack([
            sum((maps[d] * curve[d, :, j, None]).T @ maps[d] for d in range(3))
            for j in range(X.shape[0])])
        return weight * self.series.pull_back(slope), weight * hessian


def soft_wall(margin: Array, width: float | Array) -> tuple[Array, Array]:
    """
    Barrier that is zero and flat beyond a width and infinite at the wall.

    Parameters
    ----------
    margin : ndarray
        Distances from the wall.
    width : float or ndarray
        Distance beyond which there is no effect.

    Returns
    -------
    value, slope : ndarray
        ``r - 1 - log r`` with ``r = margin / width`` where that is below one, and its derivative
        by the margin.

    """
    ratio = np.minimum(margin / width, 1.0)
    with np.errstate(divide='ignore', invalid='ignore'):
        value = np.where(ratio > 0, ratio - 1 - np.log(np.maximum(ratio, 1e-300)), np.inf)
        slope = np.where(ratio > 0, (1 - 1 / ratio) / width, 0.0)
    return value, slope
