# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Fit a load to rests, where friction holds the arm, too."""

from __future__ import annotations

import numpy as np

from dynid_ros.applications.payload.fit import LoadRegression
from dynid_ros.applications.payload.known_friction import breakaway
from dynid_ros.applications.payload.load_estimate import LoadFit
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.rests import Rests
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.utilities.arrays import Array

#: Number of rests that the prior of the scatter is worth.
PRIOR_RESTS = 3.0
PASSES = 5


def fit_rests(regression: LoadRegression, rests: Rests) -> LoadFit:
    """
    Estimate mass and centre of mass of a load from rests.

    At rest, a joint is held by its drive and by friction, whose bound alone is known. A part of
    the friction depends on the direction of approach and is estimated, joint by joint; the rest
    varies from one rest to the next.

    Parameters
    ----------
    regression : LoadRegression
        The arm without the load.
    rests : Rests
        Rests with the load.

    Returns
    -------
    LoadFit
        With the complete scatter.

    """
    arm = regression.arm
    count, n = rests.q.shape
    W = rest_rows(arm, rests)
    free = rests.tau - W @ regression.theta
    bound = breakaway(regression.model)
    held = rests.approach[:, :, None] * np.eye(n)
    held_std = np.maximum(bound, 1e-3 * regression.model.sigma)
    start = np.hypot(bound / 2, regression.model.sigma)
    sigma = start
    for _ in range(PASSES):
        scale = np.repeat(sigma[None], count, axis=0)[:, :, None]
        load, factor, others, shift, _ = regression.solve(
            (W / scale).reshape(count * n, -1), (free / scale[:, :, 0]).ravel(),
            (held / scale).reshape(count * n, n), held_std)
        change = others[:-n] + regression.columns @ load
        left = free - W @ change - held @ others[-n:]
        squares = PRIOR_RESTS * start**2 + (left**2).sum(axis=0)
        # A joint that carries the load loses degrees of freedom to the parameters.
        before, sigma = sigma, np.sqrt(squares / (PRIOR_RESTS + max(count - 4 / n, 0.5)))
    half = factor @ regression.known.open_directions
    return LoadFit(load, factor, half.T @ half, regression.known,
                   thetas=(regression.theta + change)[None], sigma=before,
                   score=(regression.columns - shift[:-n])[None])


def rest_rows(arm: ArmModel, rests: Rests) -> Array:
    """Return the rows (k, n, b) of base parameters at rest, without friction."""
    still = np.zeros_like(rests.q)
    return regressor(arm, rests.q, still, still, load=still)[:, :, base_parameters(arm).columns]
