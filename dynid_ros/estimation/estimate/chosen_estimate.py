# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Choose unconstrained or physically possible parameters, with their error bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.covariance import Scatter
from dynid_ros.estimation.estimate.free_or_possible import excess
from dynid_ros.estimation.estimate.possible_parameters import inverse, possible_parameters
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.utilities.arrays import Array

#: Weight of the prior when the excitation of a motion is judged, relative to the prior of the arm.
NEGLIGIBLE_PRIOR = 1e-6


@dataclass(frozen=True, eq=False)
class ChosenEstimate:
    """
    Base parameters of a result.

    Attributes
    ----------
    theta, free : (b,) ndarray
        The parameters, and the unconstrained ones.
    covariance : (b, b) ndarray
        Of the unconstrained ones, for any correlation of residuals within groups.
    std_white : (b,) ndarray
        Standard deviations as if residuals were white.
    data_covariance : (b, b) ndarray
        From the data alone, to judge the excitation of the motion.
    data_share : (b,) ndarray
        Share by which the data reduce the variance of the prior.
    prior : ArmPrior
        Prior of the arm, scaled to the torque of the rows.
    colour : float
        Variance inflation due to autocorrelated residuals.
    excess : float
        Ratio of the error of possible parameters to that of the unconstrained ones if it is
        clearly above one, else one.

    """

    theta: Array
    free: Array
    covariance: Array
    std_white: Array
    data_covariance: Array
    data_share: Array
    prior: ArmPrior
    colour: float
    excess: float = 1.0

    @property
    def possible(self) -> bool:
        """Return whether they follow from physically possible standard parameters."""
        return self.theta is not self.free

    @property
    def excited_share(self) -> Array:
        """Return `data_share`, but one for shrunk friction, which needs no motion, (b,)."""
        return np.where(self.prior.is_shrunk, 1.0, self.data_share)


def free_estimate(prior: ArmPrior, solution: Solution, scatter: Scatter) -> ChosenEstimate:
    """
    Take the unconstrained parameters, with their error bars.

    Parameters
    ----------
    prior : ArmPrior
        Prior of the arm, not scaled to any torque, for white residuals.
    solution : Solution
        The fit.
    scatter : Scatter
        Scatter of its rows.

    """
    R = solution.root_information
    scaled_prior = prior.scaled_by(solution.widening)
    prior_scale = np.where(scaled_prior.is_shrunk, np.sqrt(scatter.colour), 1.0)
    with np.errstate(all='ignore'):
        return ChosenEstimate(
            solution.theta, solution.theta, scatter.covariance(solution, prior_scale),
            np.sqrt((solution.half**2).sum(axis=1)),
            _data_covariance(solution, scatter, scaled_prior),
            scaled_prior.inflated(scatter.colour).data_share(R.T @ R / scatter.colour),
            scaled_prior, scatter.colour)


def chosen_estimate(
    arm: ArmModel, prior: ArmPrior, solution: Solution, scatter: Scatter,
    parts: Sequence[QRFactors],
) -> ChosenEstimate:
    """
    Choose the possible parameters, unless the unconstrained ones predict clearly better.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    prior, solution, scatter
        As for `free_estimate`.
    parts : sequence of QRFactors
        Rows of torque, by group.

    Raises
    ------
    InputError
        A number is not finite.

    """
    free = free_estimate(prior, solution, scatter)
    possible = possible_parameters(
        arm, free.prior, solution.root_information, solution.root_torque, free.covariance)
    error_ratio = excess(parts, prior, possible)
    if error_ratio > 1:
        return replace(free, excess=error_ratio)
    return replace(free, theta=possible.theta)


def _data_covariance(solution: Solution, scatter: Scatter, prior: ArmPrior) -> Array:
    """
    Covariance (b, b) of the base parameters from the data alone, with a negligible prior.

    Shrunk friction coefficients keep their prior: no motion has to excite them.
    """
    R, prior_information = solution.root_information, solution.prior_information
    weak = np.where(
        prior.is_shrunk[:, None], prior_information, NEGLIGIBLE_PRIOR * prior_information)
    values, vectors = np.linalg.eigh(scatter.root.T @ scatter.root + weak)
    # A square root, lest rounding in undetermined directions makes variances negative.
    half = inverse(R.T @ R + weak) @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    return np.asarray(half @ half.T)
