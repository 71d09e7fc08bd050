# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The body nearest to an estimated load, with mass, centre and inertia."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.applications.payload.load_estimate import LoadEstimate
from dynid_ros.arm.parameters import inertia_matrix, INERTIAL, inertial_from_com, inertial_to_com
from dynid_ros.estimation.estimate.barrier_newton import closest_possible
from dynid_ros.estimation.estimate.physical_cone import PhysicalCone
from dynid_ros.estimation.estimate.possible_parameters import FROM_DATA
from dynid_ros.utilities.arrays import Array

#: Mass in standard deviations above which the search starts from the centre of mass.
SURE_MASS = 3.0
#: Mass of the ball from which the search starts if the data determine none, kg.
SOME = 1e-3
#: Density of the ball, kg/m³: grippers and workpieces are mostly air.
BALL_DENSITY = 700.0
#: Relative standard deviation of the prior of the body, which matters only where data are weak.
BALL_STD = 1.0
#: Stiffness that holds a body at its known values, relative to all else: the body misses them by
#: some 1e-7, and the sum keeps half of its digits.
HELD = 1e7
#: Fields of a geometry_msgs/Inertia, and their units.
INERTIA_FIELDS = {'m': 'kg', 'com.x': 'm', 'com.y': 'm', 'com.z': 'm',
                  **dict.fromkeys(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), 'kg m²')}


@dataclass(frozen=True, eq=False)
class LoadBody:
    """
    A body, with the uncertainty of its parameters.

    Attributes
    ----------
    parameters : (10,) ndarray
        ``m, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz`` about the origin of the frame, SI units.
    covariance : (10, 10) ndarray
        Of these, prior included.
    data_share : (10,) ndarray
        Share of the information that comes from the data, 0 to 1.

    """

    parameters: Array
    covariance: Array
    data_share: Array

    @property
    def std(self) -> Array:
        """Return the standard deviations of the parameters, (10,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def from_data(self) -> NDArray[np.bool_]:
        """Return which parameters the data determine rather than the prior, (10,)."""
        return np.asarray(self.data_share >= FROM_DATA)

    @property
    def mass(self) -> float:
        """Return the mass, kg."""
        return float(self.parameters[0])

    @property
    def center(self) -> Array:
        """Return the centre of mass in the frame, (3,), m."""
        return inertial_to_com(self.parameters)[1]

    @property
    def inertia(self) -> Array:
        """Return the inertia about the centre of mass, along the axes of the frame, (3, 3)."""
        return inertial_to_com(self.parameters)[2]

    @property
    def fields(self) -> Array:
        """Return mass, centre, and inertia about it, in the order of `INERTIA_FIELDS`, (10,)."""
        return np.array([self.mass, *self.center, *self.inertia[np.triu_indices(3)]])

    @property
    def fields_std(self) -> Array:
        """Return the standard deviations of the `fields` to first order, (10,)."""
        m, c = self.mass, self.center
        jacobian = np.eye(len(INERTIAL))
        jacobian[1:4, 0], jacobian[1:4, 1:4] = -c / m, np.eye(3) / m
        upper = np.triu_indices(3)
        # I = Io - (h·h 1 - h hᵀ)/m with the first moment h = m c.
        jacobian[4:, 0] = (c @ c * np.eye(3) - np.outer(c, c))[upper]
        for axis, unit in enumerate(np.eye(3)):
            change = 2 * c[axis] * np.eye(3) - np.outer(unit, c) - np.outer(c, unit)
            jacobian[4:, 1 + axis] = -change[upper]
        variances = np.einsum('ij,jk,ik->i', jacobian, self.covariance, jacobian)
        return np.asarray(np.sqrt(np.maximum(variances, 0.0)))

    def as_dict(self) -> dict[str, Any]:
        """Return the body under the keys that scripts rely on, SI units."""
        return {
            'mass': self.mass, 'mass_std': self.mass_std,
            'center_of_mass': self.center, 'center_of_mass_std': self.center_std,
            'inertia': self.inertia, 'inertia_std': self.inertia_std,
            'parameters': dict(zip(INERTIAL, self.parameters, strict=True)),
            'std': dict(zip(INERTIAL, self.std, strict=True)),
            'from_data': list(compress(INERTIAL, self.from_data))}

    @property
    def mass_std(self) -> float:
        """Return the standard deviation of the mass, kg."""
        return float(self.fields_std[0])

    @property
    def center_std(self) -> Array:
        """Return the standard deviations of the centre of mass, (3,), m."""
        return self.fields_std[1:4]

    @property
    def inertia_std(self) -> Array:
        """Return the standard deviations of the inertia about the centre of mass, (3, 3)."""
        return inertia_matrix([*np.zeros(4), *self.fields_std[4:]])


def load_body(found: LoadEstimate) -> LoadBody:
    """
    Find the body nearest to an estimate.

    The prior is a ball of the estimated mass at the estimated centre, which matters only where the
    data are weak.

    Parameters
    ----------
    found : LoadEstimate
        The estimate.

    """
    load, factor, known = found.load, found.factor, found.known
    weight, information, mass_std = 1 / BALL_STD**2, factor.T @ factor, float(found.std[0])
    mass, center = max(float(load[0]), min(mass_std, 1.0), SOME), np.zeros(3)
    if known.center is not None:
        center = known.center
    elif load[0] > SURE_MASS * mass_std:
        center = load[1:4] / mass
    links = np.arange(len(INERTIAL))[None]
    cone = PhysicalCone(
        links, np.zeros((0, len(INERTIAL))), np.zeros(0), ball(mass, center))
    N = known.open_directions
    stiff = _held(N, information + weight * cone.hessian(cone.prior))
    body = closest_possible(information + stiff, (information + stiff) @ load, cone, weight)
    pull = N.T @ (weight * cone.hessian(body)) @ N
    spread = np.linalg.inv(N.T @ information @ N + pull)
    covariance = np.asarray(N @ spread @ (found.scatter + pull) @ spread @ N.T)
    # The ball is placed at the estimate, so it must not make mass and centre more certain.
    values, vectors = np.linalg.eigh((found.covariance - covariance)[:4, :4])
    covariance[:4, :4] += vectors @ np.diag(np.maximum(values, 0.0)) @ vectors.T
    share = np.clip(np.einsum('ij,ji->i', spread, N.T @ information @ N), 0, 1)
    # A parameter follows from the open directions with a component in it; without any it is known.
    return LoadBody(body, covariance, np.where(N != 0, share, 1.0).min(axis=1))


def _held(open_directions: Array, stiffness: Array) -> Array:
    """Return the information (10, 10) that holds a body at its known values, to rounding."""
    Q, _ = np.linalg.qr(open_directions, mode='complete')
    fixed = Q[:, open_directions.shape[1]:]
    return np.asarray(HELD * np.diag(stiffness).max() * fixed @ fixed.T)


def ball(mass: float, center: Array) -> Array:
    """Inertial parameters (10,) of a ball of the density of the links' prior."""
    radius = (3 * mass / (4 * np.pi * BALL_DENSITY)) ** (1 / 3)
    return inertial_from_com(mass, center, 0.4 * mass * radius**2 * np.eye(3))
