"""All standard parameters of an identified arm, physically possible, as near as the data allow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, qr

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import is_physical
from dynid_ros.dynamics.base import base_parameters, RANK_TOLERANCE
from dynid_ros.errors import InputError
from dynid_ros.model.barrier_newton import closest_possible, PhysicalCone
from dynid_ros.model.inertia_prior import inertia_prior

Array = NDArray[np.float64]

#: Relative standard deviation of the prior: it decides only where the data leave room.
PRIOR_STD = 1.0
#: Share of the information on a parameter from which on it counts as the data's.
FROM_DATA = 0.5
#: Weight of the prior where it only chooses among parameters that suit the data alike.
SLIGHT = 1e-6
EPSILON = float(np.finfo(float).eps)


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
    impossible : tuple of str
        Joints whose links are no bodies by the estimates alone: with those parameters nearest to
        the prior that predict the same torque.
    from_shape : tuple of str
        Joints of whose link the prior is only its shape, since no possible inertia is stated.

    """

    names: tuple[str, ...]
    values: Array
    std: Array
    data_share: Array
    impossible: tuple[str, ...]
    from_shape: tuple[str, ...]

    @property
    def from_data(self) -> NDArray[np.bool_]:
        """Return which parameters the data determine rather than the prior, (p,)."""
        return np.asarray(self.data_share >= FROM_DATA)


def sample_colour(covariance: Array, std_white: Array) -> float:
    """
    Return how many samples count as one, because their residuals are coloured.

    Parameters
    ----------
    covariance : (b, b) ndarray
        With regard to coloured residuals.
    std_white : (b,) ndarray
        Standard deviations as if residuals were white; infinite where unknown.

    """
    known = np.isfinite(std_white) & (std_white > 0)
    with np.errstate(over='ignore', under='ignore'):
        ratio = np.diag(covariance)[known] / std_white[known]**2
    return float(ratio.mean()) if known.any() else 1.0


def standard_parameters(
    arm: ArmModel, theta: Array, root_information: Array,
) -> StandardParameters:
    """
    Find the physically possible parameters nearest to an estimate.

    Parameters
    ----------
    arm : ArmModel
        The arm with the friction terms that were identified.
    theta : (b,) ndarray
        Base parameters.
    root_information : (b, b) ndarray
        Square root R of their information, ``Rᵀ R``. It is that of white noise but for a factor:
        the inverse of a covariance for coloured noise (Newey and West) would make directions free
        in which the torque does change.

    Raises
    ------
    InputError
        A number is not finite.

    """
    try:
        with np.errstate(all='ignore'):
            return _possible(arm, theta, root_information)
    except (LinAlgError, ValueError) as error:
        raise InputError(
            f"the estimates of '{arm.name}' are not finite, so that nothing follows for its links"
        ) from error


def _possible(arm: ArmModel, theta: Array, root_information: Array) -> StandardParameters:
    """Find them, where all numbers are finite and no sum of squares overflows."""
    A, b = root_information @ base_parameters(arm).grouping, root_information @ theta
    cone, from_shape = inertia_prior(arm, A, b)
    used = _determined(A, cone.columns)
    A, cone, weight = A[:, used], cone.on(used), 1 / PRIOR_STD**2
    found = closest_possible(A, b, cone, weight)
    information = A.T @ A
    spread = _inverse(information + weight * cone.hessian(found))
    values, std, share = np.zeros((3, arm.layout.size))
    values[used], std[used] = found, np.sqrt(np.diag(spread))
    share[used] = np.clip(np.einsum('ij,ji->i', spread, information), 0, 1)
    bare = _nearest(information, A.T @ b, cone)[cone.links]
    return StandardParameters(
        arm.layout.names, values, std, share,
        tuple(name for name, link in zip(arm.joint_names, bare, strict=True)
              if not is_physical(link)),
        tuple(name for name, shape in zip(arm.joint_names, from_shape, strict=True)
              if shape))


def _determined(A: Array, known: NDArray[np.intp]) -> NDArray[np.intp]:
    """Columns with a prior, and those of the others that the rows determine; the rest is zero."""
    others = np.setdiff1d(np.arange(A.shape[1]), known)
    size = np.linalg.norm(A[:, others], axis=0)
    others = others[size > RANK_TOLERANCE * np.linalg.norm(A, axis=0).max(initial=0.0)]
    if not len(others):
        return np.sort(known)
    columns = A[:, others] / np.linalg.norm(A[:, others], axis=0)
    _, R, order = qr(columns, mode='economic', pivoting=True)
    return np.union1d(known, others[order[np.abs(np.diag(R)) > RANK_TOLERANCE]])


def _nearest(information: Array, rhs: Array, cone: PhysicalCone) -> Array:
    """Parameters (p,) nearest to the prior, possible or not, among those that suit the data."""
    pull = SLIGHT * cone.hessian(cone.prior)
    return _inverse(information + pull) @ (rhs + pull @ cone.prior)


def _inverse(matrix: Array) -> Array:
    """Inverse of a positive definite matrix, whatever the sizes of its columns."""
    size = np.sqrt(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
    # What rounding makes of an eigenvalue near zero.
    half = vectors / np.sqrt(np.maximum(values, EPSILON * values[-1])) / size[:, None]
    return np.asarray(half @ half.T)
