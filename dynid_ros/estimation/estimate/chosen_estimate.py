# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""An estimate with its error bars, unconstrained or physically possible by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.covariance import Scatter
from dynid_ros.estimation.estimate.folds import Folds, worse
from dynid_ros.estimation.estimate.possible_parameters import (
    FROM_DATA,
    inverse,
    possible_parameters,
    PossibleParameters,
)
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.utilities.arrays import Array

#: Weight of the prior when the excitation of a motion is judged, relative to the prior of the arm.
NEGLIGIBLE_PRIOR = 1e-6


@dataclass(frozen=True, eq=False)
class Estimate(Solution):
    """
    Base parameters with their error bars: of a batch, a stream or a fleet.

    Attributes
    ----------
    free : (b,) ndarray
        The unconstrained parameters; `theta` may be possible ones.
    scatter : Scatter
        Scatter of the rows.
    arm_prior : ArmPrior
        Prior of the arm, scaled to the torque of the rows.
    excess : float
        Ratio of the error of possible parameters to that of the unconstrained ones if it is
        significantly above one, else one.
    dispersion : float
        Factor by which model errors enlarge the covariance of the rows, see `dispersion_of`; one
        until possible parameters are fitted.

    """

    free: Array
    scatter: Scatter
    arm_prior: ArmPrior
    excess: float = 1.0
    dispersion: float = 1.0

    @property
    def possible(self) -> bool:
        """Return whether they follow from physically possible standard parameters."""
        return self.theta is not self.free

    @property
    def colour(self) -> float:
        """Return the variance inflation due to autocorrelated residuals."""
        return self.scatter.colour

    @cached_property
    def covariance(self) -> Array:
        """Covariance (b, b) of `free`, for any correlation within groups, and model errors."""
        return self._covariance_for(self.dispersion)

    @cached_property
    def covariance_within(self) -> Array:
        """Covariance (b, b) of `free` without the dispersion: by differences between groups."""
        return self._covariance_for(1.0)

    def _covariance_for(self, dispersion: float) -> Array:
        shrunk = self.arm_prior.is_shrunk
        scatter = replace(self.scatter, root=np.sqrt(dispersion) * self.scatter.root)
        with np.errstate(all='ignore'):
            return scatter.covariance(self, np.where(shrunk, np.sqrt(self.colour), 1.0))

    @property
    def std(self) -> Array:
        """Return the standard deviations of `free`, (b,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def std_white(self) -> Array:
        """Return the standard deviations as if residuals were white, (b,)."""
        return np.asarray(np.sqrt((self.half**2).sum(axis=1)))

    @cached_property
    def data_share(self) -> Array:
        """Share by which the data reduce the variance of the prior, (b,)."""
        R = self.root_information
        with np.errstate(all='ignore'):
            return self.arm_prior.inflated(self.colour).data_share(R.T @ R / self.colour)

    @property
    def from_data(self) -> NDArray[np.bool_]:
        """Return a mask of the parameters that the data determine rather than the prior, (b,)."""
        return np.asarray(self.data_share >= FROM_DATA)

    @property
    def excited_share(self) -> Array:
        """Return `data_share`, but one for shrunk friction, which needs no motion, (b,)."""
        return np.where(self.arm_prior.is_shrunk, 1.0, self.data_share)

    @property
    def data_covariance(self) -> Array:
        """
        Covariance (b, b) from the data alone, to judge the excitation of the motion.

        The prior is negligible but for shrunk friction coefficients: no motion has to excite them.
        """
        R, prior_information = self.root_information, self.prior_information
        weak = np.where(self.arm_prior.is_shrunk[:, None], prior_information,
                        NEGLIGIBLE_PRIOR * prior_information)
        with np.errstate(all='ignore'):
            root = self.scatter.root
            values, vectors = np.linalg.eigh(root.T @ root + weak)
            # A square root, lest rounding in undetermined directions makes variances negative.
            half = inverse(R.T @ R + weak) @ (vectors * np.sqrt(np.maximum(values, 0.0)))
            return np.asarray(half @ half.T)

    @property
    def fields(self) -> dict[str, Any]:
        """Return the fields of an `IdentifiedModel` that the estimate determines, by name."""
        return {name: getattr(self, name) for name in (
            'theta', 'covariance', 'std_white', 'data_share', 'colour', 'possible',
            'root_information', 'root_torque', 'widening', 'condition_number', 'dispersion')}

    def possible_parameters(self, arm: ArmModel) -> PossibleParameters:
        """
        Fit physically possible parameters of the arm to the same rows.

        Raises
        ------
        InputError
            A number is not finite.

        """
        return possible_parameters(
            arm, self.arm_prior, self.root_information, self.root_torque, self.covariance)


def free_estimate(prior: ArmPrior, solution: Solution, scatter: Scatter) -> Estimate:
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
    return Estimate(**vars(solution), free=solution.theta, scatter=scatter,
                    arm_prior=prior.scaled_by(solution.widening))


def chosen_estimate(
    arm: ArmModel, prior: ArmPrior, free: Estimate, parts: Sequence[QRFactors],
) -> Estimate:
    """
    Choose the possible parameters, unless the unconstrained ones predict significantly better.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    prior : ArmPrior
        As for `free_estimate`.
    free : Estimate
        The unconstrained parameters.
    parts : sequence of QRFactors
        Rows of torque, by group.

    Raises
    ------
    InputError
        A number is not finite.

    """
    possible = free.possible_parameters(arm)
    free = replace(free, dispersion=dispersion_of(free, possible.theta))
    error_ratio = excess(parts, prior, possible)
    if error_ratio > 1:
        return replace(free, excess=error_ratio)
    return replace(free, theta=possible.theta)


def dispersion_of(free: Estimate, possible: Array) -> float:
    """
    Estimate the factor by which model errors enlarge the covariance.

    The true parameters are possible. So if the model is true, the squared distance of the
    unconstrained from the possible parameters, by the covariance, follows a mixture of chi-squared
    distributions with a mean of half the number of parameters at most, since the cones of definite
    matrices and of positive numbers are their own duals. A longer distance shows model errors that
    the groups of a recording have in common. Another motion has others, so all error bars are too
    small by the root of this ratio, as for an overdispersion.

    Parameters
    ----------
    free : Estimate
        The unconstrained parameters.
    possible : (b,) ndarray
        The possible parameters that fit the same rows.

    Returns
    -------
    float
        At least one.

    References
    ----------
    Shapiro 1988, Towards a unified theory of inequality constrained testing in multivariate
    analysis, International Statistical Review 56. Amelunxen, Lotz, McCoy and Tropp 2014, Living on
    the edge, Information and Inference 3, section 3.3 (self-dual cones). McCullagh and Nelder
    1989, Generalized linear models, section 4.5.2 (overdispersion).

    """
    off, covariance = free.free - possible, free.covariance_within
    if not np.isfinite(covariance).all():
        return 1.0
    return max(1.0, float(off @ inverse(covariance) @ off) / (len(off) / 2))


def excess(parts: Sequence[QRFactors], prior: ArmPrior, start: PossibleParameters) -> float:
    """
    Cross-validate possible parameters against unconstrained ones.

    Parameters
    ----------
    parts : sequence of QRFactors
        Rows of the groups.
    prior : ArmPrior
        Prior of the arm, not scaled to any torque.
    start : PossibleParameters
        Possible parameters of all rows, the start of the search in each fold.

    Returns
    -------
    float
        Ratio of the errors if the possible parameters predict significantly worse, else 1.

    """
    folds = Folds(parts)
    prior_products = folds.prior_products(prior)
    sigma = folds.sigma(prior_products)
    possible = []
    for products, weights, torque in zip(folds.products, sigma**-2, folds.rms_torque, strict=True):
        normal = np.einsum('jab,j->ab', products, weights)[:-1]
        scaled = prior.scaled_to(torque)
        values = start.constrained_fit(scaled, normal[:, :-1], normal[:, -1])
        possible.append(scaled.grouping @ values)
    free_squares, possible_squares = (folds.residual_squares(theta) / sigma**2 for theta in (
        folds.fits(prior_products, sigma), np.array(possible)))
    return worse(possible_squares.sum(axis=1), free_squares.sum(axis=1))
