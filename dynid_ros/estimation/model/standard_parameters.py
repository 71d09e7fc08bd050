"""All standard parameters of an identified arm, physically possible, as near as the data allow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import is_physical
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.barrier_newton import closest_possible
from dynid_ros.estimation.model.physical_cone import physical_cone, PhysicalCone
from dynid_ros.utilities.arrays import Array

#: Relative standard deviation of the prior: it decides only where the data leave room.
PRIOR_STD = 1.0
#: Share by which the data must reduce the variance of a parameter for it to count as theirs.
FROM_DATA = 0.5
EPSILON = float(np.finfo(float).eps)


def source_of(from_data: bool) -> str:
    """Name the source of a parameter in files and tables."""
    return 'data' if from_data else 'prior'


def sample_colour(covariance: Array, std_white: Array, data_share: Array) -> float:
    """
    Variance inflation of the estimate by the colour of its residuals.

    Parameters
    ----------
    covariance : (b, b) ndarray
        With regard to coloured residuals.
    std_white : (b,) ndarray
        Standard deviations as if residuals were white.
    data_share : (b,) ndarray
        Share of the data in each parameter; residuals say nothing about a prior.

    """
    known = (data_share >= FROM_DATA) & (std_white > 0)
    if not known.any():
        return 1.0
    with np.errstate(over='ignore', under='ignore'):
        return float((np.diag(covariance)[known] / std_white[known]**2).mean())


@dataclass(frozen=True, eq=False)
class StandardParameters:
    """
    Standard parameters that bodies and drives can have, as near as data and prior allow.

    Attributes
    ----------
    arm : ArmModel
        The arm.
    prior : ArmPrior
        Its prior, beside samples of which ``colour`` count as one.
    cone : PhysicalCone
        Constraints, and the centre to which the parameters are pulled.
    information, score : (b, b) and (b,) ndarray
        Of the base parameters by the data, of which ``colour`` rows count as one, and
        ``information @ theta`` for the estimate theta of the data alone.
    colour : float
        Variance inflation of the data by coloured residuals.
    values : (p,) ndarray
        In the order of ``arm.layout``, SI units.

    """

    arm: ArmModel
    prior: ArmPrior
    cone: PhysicalCone
    information: Array
    score: Array
    colour: float
    values: Array

    @property
    def names(self) -> tuple[str, ...]:
        """Names, as ``mx3`` or ``Fv6``; the frame of a link is the frame of its joint."""
        return self.arm.layout.names

    @cached_property
    def covariance(self) -> Array:
        """Covariance (p, p) of ``values``, prior included."""
        return inverse(self._hessian(self.information))

    @property
    def std(self) -> Array:
        """Return the standard deviations, prior included, (p,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def data_share(self) -> Array:
        """Share of the information that comes from the data, 0 to 1, (p,)."""
        data = self.prior.grouping.T @ self.information @ self.prior.grouping
        return np.asarray(np.clip(np.einsum('ij,ji->i', self.covariance, data), 0, 1))

    @property
    def from_data(self) -> NDArray[np.bool_]:
        """Return which parameters the data determine rather than the prior, (p,)."""
        return np.asarray(self.data_share >= FROM_DATA)

    @property
    def impossible(self) -> tuple[str, ...]:
        """Name the joints whose links are no bodies by the unconstrained estimate."""
        G, tie = self.prior.grouping, 1 / self.prior.std**2
        H = G.T @ self.information @ G + np.diag(tie)
        free = inverse(H) @ (G.T @ self.score + tie * self.prior.values)
        return tuple(name for name, link in zip(
            self.arm.tree.link_names, free[self.cone.links], strict=True) if not is_physical(link))

    @property
    def from_shape(self) -> tuple[str, ...]:
        """Name the joints of whose link the prior is only its shape: no inertia is stated."""
        return tuple(np.array(self.arm.tree.link_names)[self.prior.from_shape].tolist())

    @property
    def theta(self) -> Array:
        """Return the base parameters, (b,)."""
        return np.asarray(self.prior.grouping @ self.values)

    @property
    def std_white(self) -> Array:
        """Return the standard deviations of the base parameters as if residuals were white."""
        G = self.prior.grouping
        spread = inverse(self._hessian(self.colour * self.information))
        return np.asarray(np.sqrt(np.einsum('ip,pq,iq->i', G, spread, G, optimize=True)))

    def base_covariance(self, scatter: Array) -> Array:
        """
        Covariance (b, b) of the base parameters for coloured residuals.

        Parameters
        ----------
        scatter : (b, b) ndarray
            Covariance of the score of the data.

        """
        G, data = self.prior.grouping, scatter / self.colour**2
        rest = self._hessian(np.zeros_like(self.information))
        return np.asarray(
            G @ self.covariance @ (G.T @ data @ G + rest) @ self.covariance @ G.T)

    def nearest(self, information: Array, score: Array) -> Array:
        """Find the parameters (p,) nearest to other data, from the `values` on."""
        H, g = self._normal(information, score)
        return closest_possible(H, g, self.cone, 1 / PRIOR_STD**2, self.values)

    def _normal(self, information: Array, score: Array) -> tuple[Array, Array]:
        """Return the normal equations; the cone holds the prior of links."""
        G, weight = self.prior.grouping, 1 / self.prior.std**2
        weight[self.cone.links] = 0.0
        return (G.T @ information @ G + np.diag(weight), G.T @ score + weight * self.prior.values)

    def _hessian(self, information: Array) -> Array:
        """Second derivative (p, p) of the objective."""
        H, _ = self._normal(information, np.zeros(len(information)))
        return np.asarray(H + self.cone.hessian(self.values) / PRIOR_STD**2)


def standard_parameters(
    arm: ArmModel, prior: ArmPrior, root_information: Array, root_torque: Array,
    colour: float = 1.0,
) -> StandardParameters:
    """
    Find the physically possible parameters nearest to the data.

    Parameters
    ----------
    arm : ArmModel
        The arm with the friction terms that were identified.
    prior : ArmPrior
        Its prior, beside samples of which ``colour`` count as one.
    root_information : (b, b) ndarray
        Square root R of the information of the data, ``Rᵀ R``, their noise taken as white: the
        inverse of a covariance for coloured noise (Newey and West) would make directions free in
        which the torque does change.
    root_torque : (b,) ndarray
        ``R theta`` for the estimate theta of the data alone.
    colour : float
        Variance inflation of the data by coloured residuals.

    Raises
    ------
    InputError
        A number is not finite.

    """
    R, z = root_information / np.sqrt(colour), root_torque / np.sqrt(colour)
    try:
        with np.errstate(all='ignore'):
            cone = physical_cone(arm, prior, R, z)
            start = StandardParameters(arm, prior, cone, R.T @ R, R.T @ z, colour, cone.prior)
            return replace(start, values=start.nearest(start.information, start.score))
    except (LinAlgError, ValueError) as error:
        raise InputError(f"the estimates of '{arm.name}' are not finite, so that no possible "
                         'parameters follow; record again') from error


def inverse(matrix: Array, least: float = EPSILON) -> Array:
    """Inverse of a positive definite matrix, of columns of any size, known to a least part."""
    size = np.sqrt(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
    # What rounding makes of an eigenvalue near zero.
    half = vectors / np.sqrt(np.maximum(values, least * values[-1])) / size[:, None]
    return np.asarray(half @ half.T)
