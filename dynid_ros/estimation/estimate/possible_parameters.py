# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Physically possible standard parameters of an identified arm that fit the data best.

The constraints move the estimate, not its error bars: data and prior determine these also at a
boundary.
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
from dynid_ros.estimation.estimate.physical_cone import (
    LARGEST_SIZE,
    physical_cone,
    PhysicalCone,
    SIZE_STD,
)
from dynid_ros.utilities.arrays import Array

#: Relative standard deviation of the shape of a link; see `SIZE_STD` for its size. It matters only
#: where the data are weak. It was chosen on UR10, Panda, TX40 and the field arms: from 1 to 0.5,
#: their held-out errors change by 5 % at most.
SHAPE_STD = 0.5
#: Share by which the data must reduce the variance of a parameter to count as its source.
FROM_DATA = 0.5
#: Largest cost of the prior of the size of a link, by its weight. Minima of other sizes differ by
#: little more, unless the data refute one of them.
SIZE_COST = float(np.log(LARGEST_SIZE)**2 / 2 / SIZE_STD**2)
EPSILON = float(np.finfo(float).eps)


def source_of(from_data: bool) -> str:
    """Name the source of a parameter in files and tables."""
    return 'data' if from_data else 'prior'


@dataclass(frozen=True, eq=False)
class PossibleParameters:
    """
    Physically possible standard parameters that fit data and prior best.

    Attributes
    ----------
    arm : ArmModel
        The arm.
    prior : ArmPrior
        Its prior, scaled as for the unconstrained parameters.
    cone : PhysicalCone
        Constraints, and the bodies whose shape is the prior of the links.
    information, score : (b, b) and (b,) ndarray
        Information of the data on the base parameters, and ``information @ theta`` for the
        estimate theta of the data alone.
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
        """Names, such as ``mx3`` or ``Fv6``; the frame of a link is that of its joint."""
        return self.arm.layout.names

    @cached_property
    def _prior_variance(self) -> Array:
        """Prior variances (p,); those of a link are scaled to its estimated mass."""
        variance = self.prior.std**2
        bodies = self.values[self.cone.links]
        variance[self.cone.links] = link_scales(self.arm, bodies)**2
        return variance

    @cached_property
    def covariance(self) -> Array:
        """
        Covariance (p, p) of ``values``, prior included.

        It agrees with that of the base parameters; the prior determines the rest.
        """
        G, prior = self.prior.grouping, np.diag(self._prior_variance)
        gain = prior @ G.T @ inverse(G @ prior @ G.T)
        return np.asarray(prior - gain @ G @ prior + gain @ self.base_covariance @ gain.T)

    @property
    def std(self) -> Array:
        """Return the standard deviations, prior included, (p,)."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    @property
    def data_share(self) -> Array:
        """Share by which the data reduce the variance of each parameter, 0 to 1, (p,)."""
        return np.asarray(np.clip(1 - self.std**2 / self._prior_variance, 0, 1))

    @property
    def from_data(self) -> NDArray[np.bool_]:
        """Mask of the parameters that the data determine rather than the prior, (p,)."""
        return np.asarray(self.data_share >= FROM_DATA)

    @property
    def impossible(self) -> tuple[str, ...]:
        """Names of the joints whose links are not physical in the unconstrained estimate."""
        G, tie = self.prior.grouping, 1 / self.prior.std**2
        H = G.T @ self.information @ G + np.diag(tie)
        free = inverse(H) @ (G.T @ self.score + tie * self.prior.values)
        return tuple(name for name, link in zip(
            self.arm.tree.link_names, free[self.cone.links], strict=True) if not is_physical(link))

    @property
    def from_shape(self) -> tuple[str, ...]:
        """Names of the joints whose link has no stated inertia: its prior is a cylinder."""
        guessed = self.prior.guessed[self.cone.links[:, 0]]
        return tuple(np.array(self.arm.tree.link_names)[guessed].tolist())

    @property
    def theta(self) -> Array:
        """Return the base parameters, (b,)."""
        return np.asarray(self.prior.grouping @ self.values)

    def constrained_fit(self, prior: ArmPrior, information: Array, score: Array) -> Array:
        """
        Fit possible parameters (p,) to other data, starting from a multiple of `values`.

        Links are pulled to the shape of those of the prior, at a size that is estimated: its
        logarithm has the prior standard deviation `SIZE_STD`.

        Parameters
        ----------
        prior : ArmPrior
            Prior of the fit.
        information, score : (b, b) and (b,) ndarray
            Information of the data, and ``information @ theta`` for their own estimate.

        Raises
        ------
        InputError
            A number is not finite.

        """
        try:
            with np.errstate(all='ignore'):
                return self._minimise(
                    prior, information, score, self._scaled_values(information, score))
        except (LinAlgError, ValueError) as error:
            raise InputError(f"the estimates of '{self.arm.name}' are not finite, so that no "
                             'possible parameters follow; record again') from error

    def _minimise(
        self, prior: ArmPrior, information: Array, score: Array, start: Array,
    ) -> Array:
        T, b = base_parameters(self.arm).coordinates, len(self.score)
        weight = 1 / prior.std**2
        # The cone holds the prior of links.
        weight[self.cone.links] = 0.0
        H, g = T.T @ (weight[:, None] * T), T.T @ (weight * prior.values)
        H[:b, :b] += information
        g[:b] += score
        return closest_possible(H, g, self.cone, 1 / SHAPE_STD**2, start, T)

    @property
    def _loss(self) -> float:
        """Log likelihood of the data lost against their best base parameters."""
        off = self.theta - inverse(self.information) @ self.score
        return float(off @ self.information @ off / 2)

    def _from_above(self) -> PossibleParameters:
        """Fit again from links that are too large, which shrink during the fit."""
        theta = self.prior.grouping @ self.cone.prior
        shares = np.abs(inverse(self.information) @ self.score) / np.maximum(
            np.abs(theta), np.finfo(float).tiny)
        start = self.cone.prior * np.max(shares[np.abs(theta) > 0], initial=0.0)
        if not (self.cone.scalars(start) > 0).all():
            return self
        try:
            values = self._minimise(self.prior, self.information, self.score, start)
            # Rounding may make links so large impossible, from which no other search can start.
            np.linalg.cholesky(self.cone.bodies(values))
        except (LinAlgError, ValueError):
            return self
        return replace(self, values=values)

    def _scaled_values(self, information: Array, score: Array) -> Array:
        """Multiple of `values` that fits best, (p,), or `values` if it is impossible."""
        theta = self.theta
        start = self.values * (theta @ score) / (theta @ information @ theta)
        inside = theta @ score > 0 and (self.cone.scalars(start) > 0).all()
        return start if inside else self.values


def possible_parameters(
    arm: ArmModel, prior: ArmPrior, root_information: Array, root_torque: Array,
    covariance: Array,
) -> PossibleParameters:
    """
    Fit physically possible parameters to the data.

    Parameters
    ----------
    arm : ArmModel
        The arm with the friction terms that were identified.
    prior : ArmPrior
        Its prior, scaled as for the unconstrained parameters.
    root_information : (b, b) ndarray
        Square root R of the information ``Rᵀ R`` of the data for white noise.
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
    found = replace(start, values=start.constrained_fit(prior, start.information, start.score))
    with np.errstate(all='ignore'):
        if found._loss < SIZE_COST / SHAPE_STD**2 * len(cone.links):
            return found
        # The sizes of links make several minima, and the data may refute the one that is nearest
        # to the links of the prior.
        return min(found, found._from_above(), key=lambda each: each._loss)


def inverse(matrix: Array, least: float = EPSILON) -> Array:
    """Invert a matrix with columns of any scale, none negative, eigenvalues bounded below."""
    size = np.sqrt(np.diag(matrix))
    size = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
    # Rounding may make eigenvalues near zero negative.
    half = vectors / np.sqrt(np.maximum(values, least * values[-1])) / size[:, None]
    return np.asarray(half @ half.T)
