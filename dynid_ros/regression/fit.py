"""The fit of an arm's parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.regression.rows import Rows
from dynid_ros.regression.weighted_least_squares import Solution, solve

Array = NDArray[np.float64]

# The load on a joint follows from the estimate: three passes settle it within its error bars.
LOAD_PASSES = 3


def fit(arm: ArmModel, rows: Rows) -> Solution:
    """
    Weighted least squares over all rows.

    Parameters
    ----------
    arm : ArmModel
        The arm; its friction terms are identified.
    rows : Rows
        Rows of its motions.

    Returns
    -------
    Solution
        Estimate; with a ``load`` friction term, consistent with the load that it predicts.

    """
    if not arm.needs_load:
        return solve(rows.compressed(arm))
    start = arm.memoryless
    load_theta = carry_over(solve(rows.compressed(start)).theta, start, arm)
    for _ in range(LOAD_PASSES):
        solution = solve(rows.compressed(arm, load_theta))
        load_theta = solution.theta
    return solution


def carry_over(theta: Array, source: ArmModel, target: ArmModel) -> Array:
    """Map base parameters to another choice of friction terms; new ones are zero."""
    known = dict(zip(base_parameters(source).names, theta, strict=True))
    return np.array([known.get(name, 0.0) for name in base_parameters(target).names])
