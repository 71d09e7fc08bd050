"""
All standard parameters of an identified arm, physically possible, as near as the data allow.

The constraints move the estimate, not its error bars: at a boundary, these are what the data and
the prior allow, not the distance from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import is_physical
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.link_shapes import link_scales
from dynid_ros.errors import InputError
from dynid_ros.estimation.estimate.barrier_newton import closest_possible
from dynid_ros.estimation.estimate.physical_cone import physical_cone, PhysicalCone
from dynid_ros.utilities.arrays import Array

#: Relative standard deviation of the shape of a link, whose size has its own: it decides only
#: where the data leave room. It was chosen on UR10, Panda, TX40 and the field arms, whose held-out
#: errors it changes by 5 % at most from 1 to 0.5.
SHAPE_STD = 0.5
#: Share by which the data must reduce the variance of a parameter for it to count as theirs.
FROM_DATA = 0.5
EPSILON = float(np.finfo(float).eps)


def source_of(from_data: bool) -> str:
    """Name the source of a parameter in files and tables."""
    return 'data' if from_data else 'prior'


@dataclass(frozen=True, eq=False)
class PossibleParameters:
    """
    Standard parameters that bodies and drives can have, as near as data and prior allow.

    Attributes
    ----------
    arm : ArmModel
        The arm.
    prior : ArmPrior
        Its prior, as wide as for the unconstrained parameters.
    cone : PhysicalCone
        Constraints, and the bodies to whose shape links are pulled.
    information, score : (b, b) and (b,) ndarray
        Of the base parameters by the data, and ``information @ theta`` for the estimate theta of
        the data alone.
    base_covariance : (b, b) ndarray
        Of the base parameters, prior included.
    values : (p,) ndarray
        In the order of ``arm.layout``, SI units.

    """

    arm: ArmModel
    prior: ArmPrior
    cone: PhysicalCone
    information: Array
    score: Array
    base_covariance: Array
    values: Array

    @property
    def names(self) -> tuple[str, ...]:
        """Names, as ``mx3`` or ``Fv6``; the frame of a link is the frame of its joint."""
        return self.arm.layout.names

    @cached_property
    def _before(self) -> Array:
        """Variances (p,) without data: of links as heavy again as they are, and of the prior."""
        variance = self.prior.std**2
        bodies = self.values[self.cone.links]
        variance[self.cone.links] = link_scales(self.arm, bodies)**2
        return variance

    @cached_property
    def covariance(self) -> Array:
        """
        Covariance (p, p) of ``values``, prior included.

        Base parameters have theirs; how they divide among the standard parameters, the data leave
        to the prior.
        """
        G, before = self.prior.grouping, np.diag(self._before)
        known = before @ G.T @ inverse(G @ before @ G.T)
        return np.asarray(before - known @ G @ before + known @ self.base_covariance @ known.T)

    @property
    def std(self) -> Array:
        """Return the standard deviations, prior included, (p,)."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    @property
    def data_share(self) -> Array:
        """Share by which the data reduce the variance of each parameter, 0 to 1, (p,)."""
        return np.asarray(np.clip(1 - self.std**2 / self._before, 0, 1))

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

    def nearest(self, prior: ArmPrior, information: Array, score: Array) -> Array:
        """
        Find the parameters (p,) nearest to some data, from a multiple of the `values` on.

        Links are pulled to the shape of the prior's, at a size that follows from them: its
        logarithm is zero within `SIZE_STD`.

        Parameters
        ----------
        prior : ArmPrior
            Prior beside these data.
        information, score : (b, b) and (b,) ndarray
            Of the data.

        Raises
        ------
        InputError
            A number is not finite.

        """
        try:
            with np.errstate(all='ignore'):
                return self._nearest(prior, information, score)
        except (LinAlgError, ValueError) as error:
            raise InputError(f"the estimates of '{self.arm.name}' are not finite, so that no "
                             'possible parameters follow; record again') from error

    def _nearest(self, prior: ArmPrior, information: Array, score: Array) -> Array:
        T, b = base_parameters(self.arm).coordinates, len(self.score)
        weight = 1 / prior.std**2
        # The cone holds the prior of links.
        weight[self.cone.links] = 0.0
        H, g = T.T @ (weight[:, None] * T), T.T @ (weight * prior.values)
        H[:b, :b] += information
        g[:b] += score
        return closest_possible(
            H, g, self.cone, 1 / SHAPE_STD**2, self._multiple(information, score), T)

    def _multiple(self, information: Array, score: Array) -> Array:
        """Multiple of `values` that suits data best, (p,), or `values` where it is impossible."""
        theta = self.theta
        start = self.values * (theta @ score) / (theta @ information @ theta)
        inside = theta @ score > 0 and (self.cone.scalars(start) > 0).all()
        return start if inside else self.values


def possible_parameters(
    arm: ArmModel, prior: ArmPrior, root_information: Array, root_torque: Array,
    covariance: Array,
) -> PossibleParameters:
    """
    Find the physically possible parameters nearest to the data.

    Parameters
    ----------
    arm : ArmModel
        The arm with the friction terms that were identified.
    prior : ArmPrior
        Its prior, as wide as for the unconstrained parameters.
    root_information : (b, b) ndarray
        Square root R of the information of the data, ``Rᵀ R``, their noise taken as white.
    root_torque : (b,) ndarray
        ``R theta`` for the estimate theta of the data alone.
    covariance : (b, b) ndarray
        Of the unconstrained base parameters, prior included.

    Raises
    ------
    InputError
        A number is not finite.

    """
    R, cone = root_information, physical_cone(arm, prior)
    with np.errstate(all='ignore'):
        start = PossibleParameters(
            arm, prior, cone, R.T @ R, R.T @ root_torque, covariance, cone.prior)
    return replace(start, values=start.nearest(prior, start.information, start.score))


def inverse(matrix: Array, least: float = EPSILON) -> Array:
    """Inverse of a positive definite matrix, of columns of any size, known to a least part."""
    size = np.sqrt(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
    # What rounding makes of an eigenvalue near zero.
    half = vectors / np.sqrt(np.maximum(values, least * values[-1])) / size[:, None]
    return np.asarray(half @ half.T)
