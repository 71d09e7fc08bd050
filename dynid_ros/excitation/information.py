"""The information that a motion gives on the base parameters, as a matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Information:
    """
    Information matrix ``G = prior + W' S W / samples`` of motions of one arm.

    Attributes
    ----------
    arm : ArmModel
        The arm with the columns that will be identified.
    weights : (n,) ndarray
        Diagonal of S, one over the noise variance of each joint; ones for the plain regressor.
    prior : (b, b) ndarray or None
        Information that there is already.

    """

    arm: ArmModel
    weights: Array
    prior: Array | None = None

    @property
    def columns(self) -> NDArray[np.intp]:
        """Columns of the regressor that stay, (b,)."""
        return base_parameters(self.arm).columns

    def matrix(self, Y: Array) -> Array:
        """Information (b, b) of regressors (K, n, p)."""
        rows = Y.reshape(-1, Y.shape[-1])[:, self.columns]
        rows *= np.tile(np.sqrt(self.weights), len(Y))[:, None]
        G = rows.T @ rows / len(Y)
        return np.asarray(G if self.prior is None else G + self.prior)

    def adjoint(self, Y: Array, slope: Array) -> Array:
        """Return the derivative by Y (K, n, p) of a function of G with derivative (b, b) by G."""
        samples, _, p = Y.shape
        rows = Y.reshape(-1, p)
        # Spread over all columns first: one product of whole rows, no gathering and scattering.
        wide = np.zeros((p, p))
        wide[np.ix_(self.columns, self.columns)] = 2 / samples * slope
        result = rows @ wide
        result *= np.tile(self.weights, samples)[:, None]
        return np.asarray(result.reshape(Y.shape))


def identifiable(arm: ArmModel) -> ArmModel:
    """Return the arm without the friction terms that need more than the motion to be known."""
    return arm.with_friction(
        tuple(term.name for term in friction_terms(arm.friction) if not term.needs_load))


def smoothed(arm: ArmModel, speed: float) -> ArmModel:
    """Return the arm with Coulomb friction that turns over smoothly, in the same columns."""
    if 'coulomb' not in arm.friction or 'coulomb_smooth' in arm.friction:
        return arm
    names = tuple('coulomb_smooth' if x == 'coulomb' else x for x in arm.friction)
    shape = replace(arm.friction_shape, smooth_speed=speed)
    return replace(arm, friction=names, friction_shape=shape)
