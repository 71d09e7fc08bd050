"""All standard parameters of an identified arm, physically possible, as near as the data allow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import is_physical
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.barrier_newton import closest_possible, PhysicalCone
from dynid_ros.estimation.model.physical_cone import physical_cone
from dynid_ros.utilities.arrays import Array

#: Relative standard deviation of the prior: it decides only where the data leave room.
PRIOR_STD = 1.0
#: Share by which the data must reduce the variance of a parameter for it to count as theirs.
FROM_DATA = 0.5
EPSILON = float(np.finfo(float).eps)


def source_of(from_data: bool) -> str:
    """Name the source of a parameter in files and tables."""
    return 'data' if from_data else 'prior'


@dataclass(frozen=True, eq=False)
class StandardParameters:
    """
    Standard parameters that bodies and drives can have.

    Attributes
    ----------
    names : tuple of str
        Names, as ``mx3`` or ``Fv6``; the frame of a link is that of its joint.
    values : (p,) ndarray
        In the order of ``arm.layout``, SI units.
    std : (p,) ndarray
        Standard deviations, prior included.
    data_share : (p,) ndarray
        Share of the information that comes from the data, 0 to 1; the rest is the prior's.
    covariance : (p, p) ndarray
        Behind ``std``.
    impossible : tuple of str
        Joints whose links are no bodies by the unconstrained estimate.
    from_shape : tuple of str
        Joints of whose link the prior is only its shape, since no possible inertia is stated.

    """

    names: tuple[str, ...]
    values: Array
    std: Array
    data_share: Array
    covariance: Array
    impossible: tuple[str, ...]
    from_shape: tuple[str, ...]

    @property
    def from_data(self) -> NDArray[np.bool_]:
        """Return which parameters the data determine rather than the prior, (p,)."""
        return np.asarray(self.data_share >= FROM_DATA)


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
class PossibleFit:
    """
    Estimate of physically possible parameters from normal equations.

    Parameters
    ----------
    prior : ArmPrior
        Prior of the arm.
    cone : PhysicalCone
        Constraints, and the centre to which the parameters are pulled.

    """

    prior: ArmPrior
    cone: PhysicalCone

    def solve(self, information: Array, score: Array, start: Array | None = None) -> Array:
        """
        Minimise the distance from the data, the pull to the prior and the barrier.

        Parameters
        ----------
        information : (b, b) ndarray
            Of the base parameters, residuals taken as white.
        score : (b,) ndarray
            ``information @ theta`` for the estimate of the data alone.
        start : (p,) ndarray, optional
            Parameters inside the cone from which the search begins.

        Returns
        -------
        (p,) ndarray
            Standard parameters.

        """
        H, g = self.normal(information, score)
        return closest_possible(H, g, self.cone, 1 / PRIOR_STD**2, start)

    def normal(self, information: Array, score: Array) -> tuple[Array, Array]:
        """Return the normal equations, (p, p) and (p,), of the standard parameters."""
        G, weight = self.prior.grouping, self._weight
        return (G.T @ information @ G + np.diag(weight), G.T @ score + weight * self.prior.values)

    def hessian(self, found: Array, information: Array) -> Array:
        """Second derivative (p, p) of the objective."""
        H, _ = self.normal(information, np.zeros(len(information)))
        return np.asarray(H + self.cone.hessian(found) / PRIOR_STD**2)

    @property
    def _weight(self) -> Array:
        """Information of the prior of all parameters but those of links, (p,)."""
        weight = 1 / self.prior.std**2
        weight[self.cone.links] = 0.0
        return np.asarray(weight)


def standard_parameters(
    arm: ArmModel, prior: ArmPrior, root_information: Array, root_torque: Array,
) -> StandardParameters:
    """
    Find the physically possible parameters nearest to the data.

    Parameters
    ----------
    arm : ArmModel
        The arm with the friction terms that were identified.
    prior : ArmPrior
        Its prior.
    root_information : (b, b) ndarray
        Square root R of the information of the data, ``Rᵀ R``. It is that of white noise but for
        a factor: the inverse of a covariance for coloured noise (Newey and West) would make
        directions free in which the torque does change.
    root_torque : (b,) ndarray
        ``R theta`` for the estimate theta of the data alone.

    Raises
    ------
    InputError
        A number is not finite.

    """
    try:
        with np.errstate(all='ignore'):
            return _possible(arm, prior, root_information, root_torque)
    except (LinAlgError, ValueError) as error:
        raise InputError(
            f"the estimates of '{arm.name}' are not finite, so that nothing follows for its links"
        ) from error


def _possible(arm: ArmModel, prior: ArmPrior, R: Array, z: Array) -> StandardParameters:
    information, score = R.T @ R, R.T @ z
    fit = PossibleFit(prior, physical_cone(arm, prior, R, z))
    found = fit.solve(information, score)
    spread = inverse(fit.hessian(found, information))
    data = prior.grouping.T @ information @ prior.grouping
    share = np.clip(np.einsum('ij,ji->i', spread, data), 0, 1)
    links = unconstrained(prior, information, score)[fit.cone.links]
    return StandardParameters(
        arm.layout.names, found, np.sqrt(np.diag(spread)), share, spread,
        tuple(name for name, link in zip(arm.tree.link_names, links, strict=True)
              if not is_physical(link)),
        tuple(np.array(arm.tree.link_names)[prior.from_shape].tolist()))


def unconstrained(prior: ArmPrior, information: Array, score: Array) -> Array:
    """Estimate standard parameters (p,), whether or not a body can have them."""
    tie = 1 / prior.std**2
    H = prior.grouping.T @ information @ prior.grouping + np.diag(tie)
    return np.asarray(inverse(H) @ (prior.grouping.T @ score + tie * prior.values))


def inverse(matrix: Array, least: float = EPSILON) -> Array:
    """Inverse of a positive definite matrix, of columns of any size, known to a least part."""
    size = np.sqrt(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
    # What rounding makes of an eigenvalue near zero.
    half = vectors / np.sqrt(np.maximum(values, least * values[-1])) / size[:, None]
    return np.asarray(half @ half.T)
