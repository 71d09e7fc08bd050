"""Physically possible base parameters beside an unconstrained estimate, with their error bars."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.estimation.model.standard_parameters import (
    inverse,
    sample_colour,
    standard_parameters,
    StandardParameters,
)
from dynid_ros.utilities.arrays import Array

#: Information of the prior that judges a motion, relative to the prior of the arm.
NEXT_TO_NOTHING = 1e-6


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
        Whether they follow from physically possible standard parameters.
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
) -> StandardParameters:
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
    with np.errstate(all='ignore'):
        share = prior.data_share(root_information.T @ root_information)
        colour = sample_colour(covariance, std_white, share)
    return standard_parameters(arm, prior.relaxed(colour), root_information, root_torque, colour)


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
