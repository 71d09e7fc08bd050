"""Physically possible base parameters beside an unconstrained estimate, with their error bars."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.physical_cone import physical_cone
from dynid_ros.estimation.model.standard_parameters import inverse, PossibleFit, sample_colour
from dynid_ros.utilities.arrays import Array

#: Information of the prior that judges a motion, relative to that of the prior of the arm.
NEXT_TO_NOTHING = 1e-6


@dataclass(frozen=True, eq=False)
class PossibleEstimate:
    """
    Base parameters of the physically possible parameters nearest to some data.

    Attributes
    ----------
    fit : PossibleFit
        Prior and constraints.
    values : (p,) ndarray
        Standard parameters.
    colour : float
        Variance inflation of the data by coloured residuals.
    information : (b, b) ndarray
        Of the data, of which ``colour`` rows count as one.

    """

    fit: PossibleFit
    values: Array
    colour: float
    information: Array

    @property
    def theta(self) -> Array:
        """Return the base parameters, (b,)."""
        return np.asarray(self.fit.prior.grouping @ self.values)

    @property
    def share(self) -> Array:
        """Return by which share the data reduce the variance in the prior, (b,)."""
        return self.fit.prior.data_share(self.information)

    @property
    def std_white(self) -> Array:
        """Return the standard deviations of the base parameters as if residuals were white."""
        G = self.fit.prior.grouping
        spread = inverse(self.fit.hessian(self.values, self.colour * self.information))
        return np.asarray(np.sqrt(np.einsum('ip,pq,iq->i', G, spread, G, optimize=True)))

    def covariance(self, scatter: Array) -> Array:
        """
        Covariance (b, b) of the base parameters for coloured residuals.

        Parameters
        ----------
        scatter : (b, b) ndarray
            Covariance of the score of the data.

        """
        G, data = self.fit.prior.grouping, scatter / self.colour**2
        rest = self.fit.hessian(self.values, np.zeros_like(self.information))
        spread = inverse(self.fit.hessian(self.values, self.information))
        return np.asarray(G @ spread @ (G.T @ data @ G + rest) @ spread @ G.T)


@dataclass(frozen=True, eq=False)
class ChosenEstimate:
    """
    Base parameters of a result, unconstrained or possible.

    Attributes
    ----------
    theta, covariance : (b,) and (b, b) ndarray
        For coloured residuals.
    std_white : (b,) ndarray
        Standard deviations as if residuals were white.
    data_covariance : (b, b) ndarray
        By the data alone, for the judgement of their motion.
    data_share : (b,) ndarray
        Share by which the data reduce the variance that the prior has.
    prior : ArmPrior
        Beside samples of which ``colour`` count as one.
    colour : float
        Variance inflation by coloured residuals.
    possible : bool
        Whether they are those of physically possible standard parameters.
    notes : tuple of str
        A warning where possible parameters predict worse.

    """

    theta: Array
    covariance: Array
    std_white: Array
    data_covariance: Array
    data_share: Array
    prior: ArmPrior
    colour: float
    possible: bool
    notes: tuple[str, ...]

    @property
    def shown(self) -> Array:
        """Share by which data show each parameter; friction near zero needs no motion, (b,)."""
        return np.where(self.prior.is_shrunk, 1.0, self.data_share)


def possible_estimate(
    arm: ArmModel, prior: ArmPrior, root_information: Array, root_torque: Array,
    covariance: Array, std_white: Array,
) -> PossibleEstimate:
    """
    Find the possible parameters nearest to the data of an unconstrained estimate.

    Parameters
    ----------
    arm : ArmModel
        The arm with the friction terms that were identified.
    prior : ArmPrior
        Its prior beside samples that all count.
    root_information, root_torque : (b, b) and (b,) ndarray
        Of the data alone, their noise taken as white, as in `IdentifiedModel`.
    covariance, std_white : (b, b) and (b,) ndarray
        Of the unconstrained estimate, for coloured residuals and as if they were white.

    Raises
    ------
    InputError
        A number is not finite.

    """
    information = root_information.T @ root_information
    try:
        with np.errstate(all='ignore'):
            colour = sample_colour(covariance, std_white, prior.data_share(information))
            prior = prior.relaxed(colour)
            root, torque = (x / np.sqrt(colour) for x in (root_information, root_torque))
            fit = PossibleFit(prior, physical_cone(arm, prior, root, torque))
            information = root.T @ root
            found = fit.solve(information, root.T @ torque)
    except (LinAlgError, ValueError) as error:
        raise InputError(f"the estimates of '{arm.name}' are not finite, so that no possible "
                         'parameters follow; record again') from error
    return PossibleEstimate(fit, found, colour, information)


def data_covariance(
    information: Array, scatter: Array, prior: Array, shrunk: NDArray[np.bool_],
) -> Array:
    """
    Covariance (b, b) that the data alone give base parameters, next to nothing known before.

    Parameters
    ----------
    information, prior : (b, b) ndarray
        Of the data, and of the prior.
    scatter : (b, b) ndarray
        Covariance of the score of the data.
    shrunk : (b,) ndarray of bool
        Friction coefficients that stay near zero: no motion has to show them.

    """
    weak = np.where(shrunk[:, None], prior, NEXT_TO_NOTHING * prior)
    values, vectors = np.linalg.eigh(scatter + weak)
    # By a square root: variances beside open directions must not become negative by rounding.
    half = inverse(information + weak) @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    return np.asarray(half @ half.T)
