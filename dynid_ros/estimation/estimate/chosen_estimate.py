"""The parameters of a result with their error bars: unconstrained, or possible ones if as good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.estimate.covariance import Scatter
from dynid_ros.estimation.estimate.free_or_possible import excess
from dynid_ros.estimation.estimate.possible_parameters import inverse, possible_parameters
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.utilities.arrays import Array

#: Information of the prior that judges a motion, relative to the prior of the arm.
NEXT_TO_NOTHING = 1e-6


@dataclass(frozen=True, eq=False)
class ChosenEstimate:
    """
    Base parameters of a result.

    Attributes
    ----------
    theta, free : (b,) ndarray
        The parameters, and the unconstrained ones.
    covariance : (b, b) ndarray
        Of the unconstrained ones, for residuals that scatter in any way within groups.
    std_white : (b,) ndarray
        Standard deviations as if residuals were white.
    data_covariance : (b, b) ndarray
        By the data alone, for the judgement of their motion.
    data_share : (b,) ndarray
        Share by which the data reduce the variance that the prior has.
    prior : ArmPrior
        As wide as the rows made it.
    colour : float
        Variance inflation by coloured residuals.
    excess : float
        Ratio of the error of possible parameters to that of these, where they predict clearly
        worse.

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
    def shown(self) -> Array:
        """Share by which data show each parameter; friction near zero needs no motion, (b,)."""
        return np.where(self.prior.is_shrunk, 1.0, self.data_share)


def free_estimate(prior: ArmPrior, solution: Solution, scatter: Scatter) -> ChosenEstimate:
    """
    Take the unconstrained parameters, with their error bars.

    Parameters
    ----------
    prior : ArmPrior
        Prior of the arm, not widened to any torque yet, beside samples that all count.
    solution : Solution
        The fit.
    scatter : Scatter
        Of its rows.

    """
    R = solution.root_information
    wide = prior.widened(solution.widening)
    relaxed = np.where(wide.is_shrunk, np.sqrt(scatter.colour), 1.0)
    with np.errstate(all='ignore'):
        return ChosenEstimate(
            solution.theta, solution.theta, scatter.covariance(solution, relaxed),
            np.sqrt((solution.half**2).sum(axis=1)),
            _data_covariance(solution, scatter, wide),
            wide.relaxed(scatter.colour).data_share(R.T @ R / scatter.colour), wide,
            scatter.colour)


def chosen_estimate(
    arm: ArmModel, prior: ArmPrior, solution: Solution, scatter: Scatter,
    parts: Sequence[Products],
) -> ChosenEstimate:
    """
    Take the possible parameters, or the unconstrained ones where these predict clearly better.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    prior, solution, scatter
        As for `free_estimate`.
    parts : sequence of Products
        Rows of torque, by group.

    Raises
    ------
    InputError
        A number is not finite.

    """
    free = free_estimate(prior, solution, scatter)
    found = possible_parameters(
        arm, free.prior, solution.root_information, solution.root_torque, free.covariance)
    worse = excess(parts, prior, found)
    return replace(free, excess=worse) if worse > 1 else replace(free, theta=found.theta)


def _data_covariance(solution: Solution, scatter: Scatter, prior: ArmPrior) -> Array:
    """
    Covariance (b, b) that the data alone give base parameters, next to nothing known before.

    Friction coefficients that stay near zero keep their prior: no motion has to show them.
    """
    R, before = solution.root_information, solution.prior_information
    weak = np.where(prior.is_shrunk[:, None], before, NEXT_TO_NOTHING * before)
    values, vectors = np.linalg.eigh(scatter.root.T @ scatter.root + weak)
    # By a square root: variances beside open directions must not become negative by rounding.
    half = inverse(R.T @ R + weak) @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    return np.asarray(half @ half.T)
