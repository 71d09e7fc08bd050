# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The one layout of the standard parameters, their units, and conversions of inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.description.tree import joint_units, of_sliding
from dynid_ros.arm.friction import friction_terms

if TYPE_CHECKING:
    from dynid_ros.arm.model import ArmModel, CouplingColumn

INERTIAL = ('m', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')
#: Symbol of the inertia of a drive.
ROTOR = 'Ia'
#: Rounding of a second moment of mass, relative to the largest of its link.
MOMENT_ROUNDING = 1e-9
#: Thickness of a link without any in the description, relative to its length.
THIN = 0.03
#: Added to each principal inertia in MuJoCo, kg m², which has no point masses and no thin rods.
EXTENT = 1e-12
_INERTIAL_UNITS = ('kg', *3 * ('kg m',), *6 * ('kg m²',))
_COUPLING_UNITS = {'qdd': 'kg m²', 'qd': 'Nm s/rad', 'sign_qd': 'Nm'}


@dataclass(frozen=True)
class ParameterLayout:
    """
    Names and positions of the columns of a regressor.

    Attributes
    ----------
    joints : int
        Number of joints n.
    rotor_inertia : bool
        Whether each joint has a column ``Ia``.
    friction : tuple of str
        Symbols of the friction columns of each joint, such as ``('Fv', 'Fc', 'Fo')``.
    coupling : tuple of str
        Names of the declared coupling columns at the end.
    followers : int
        Links of joints that follow others: their inertial columns stand before the couplings.

    """

    joints: int
    rotor_inertia: bool
    friction: tuple[str, ...] = ()
    coupling: tuple[str, ...] = ()
    followers: int = 0

    @property
    def block(self) -> int:
        """Columns of one joint."""
        return len(INERTIAL) + int(self.rotor_inertia) + len(self.friction)

    @property
    def size(self) -> int:
        """All columns."""
        return self.first_coupling + len(self.coupling)

    @property
    def first_coupling(self) -> int:
        """First column of the couplings."""
        return self.joints * self.block + self.followers * len(INERTIAL)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names: symbol and joint number from 1, such as ``mx3`` or ``Fv6``."""
        rotor = (ROTOR,) if self.rotor_inertia else ()
        symbols = (*INERTIAL, *rotor, *self.friction)
        own = tuple(f'{symbol}{j + 1}' for j in range(self.joints) for symbol in symbols)
        links = range(self.joints, self.joints + self.followers)
        led = tuple(f'{symbol}{link + 1}' for link in links for symbol in INERTIAL)
        return own + led + self.coupling

    def joint(self, column: int) -> int:
        """Joint whose link or drive a column belongs to; none for a coupling."""
        own = self.joints * self.block
        return column // self.block if column < own else (
            self.joints + (column - own) // len(INERTIAL))

    def inertial(self, joint: int) -> slice:
        """Columns of the ten inertial parameters of a joint's link."""
        led = max(0, joint - self.joints)
        start = (joint - led) * self.block + led * len(INERTIAL)
        return slice(start, start + len(INERTIAL))

    @property
    def rotors(self) -> NDArray[np.intp]:
        """Columns of the rotor inertias, (n,), or none."""
        joints = np.arange(self.joints if self.rotor_inertia else 0)
        return joints * self.block + self.place(ROTOR)

    def friction_columns(self, symbol: str) -> NDArray[np.intp]:
        """Columns of one friction term of all joints, (n,)."""
        return np.arange(self.joints) * self.block + self.place(symbol)

    def place(self, symbol: str) -> int:
        """Place of the rotor inertia or of a friction coefficient in the block of a joint."""
        before = 0 if symbol == ROTOR else int(self.rotor_inertia) + self.friction.index(symbol)
        return len(INERTIAL) + before

    def all_inertial(self) -> NDArray[np.intp]:
        """Columns of the inertial parameters of all links, (10 m,)."""
        starts = [self.inertial(link).start for link in range(self.joints + self.followers)]
        return (np.array(starts, dtype=np.intp)[:, None] + np.arange(len(INERTIAL))).ravel()


def inertial_from_com(mass: float, com: ArrayLike, inertia: ArrayLike) -> NDArray[np.float64]:
    """
    Inertial parameters about the frame's origin from those about the centre of mass.

    Parameters
    ----------
    mass : float
        Mass, kg.
    com : (3,) array_like
        Centre of mass in the link frame, m.
    inertia : (3, 3) array_like
        Inertia about the centre of mass, along the axes of the link frame, kg m².

    Returns
    -------
    (10,) ndarray
        ``m, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz``.

    Notes
    -----
    Parallel-axis theorem, Io = Ic + m (c·c 1 - c cᵀ); Craig, Introduction to Robotics, eq. 6.27.

    """
    c = np.asarray(com, dtype=float)
    about_origin = np.asarray(inertia, dtype=float) + mass * (c @ c * np.eye(3) - np.outer(c, c))
    xx, xy, xz, yy, yz, zz = about_origin[np.triu_indices(3)]
    return np.array([mass, *(mass * c), xx, xy, xz, yy, yz, zz])


def inertial_to_com(
    parameters: ArrayLike,
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """
    Mass, centre of mass and inertia about it; the inverse of `inertial_from_com`.

    Parameters
    ----------
    parameters : (10,) array_like
        Inertial parameters about the frame's origin; the mass must not be zero.

    Returns
    -------
    mass : float
        kg.
    com : (3,) ndarray
        m.
    inertia : (3, 3) ndarray
        About the centre of mass, kg m².

    Raises
    ------
    ValueError
        The mass is zero, so the centre of mass is undefined.

    """
    p = np.asarray(parameters, dtype=float)
    mass = float(p[0])
    if mass == 0:
        raise ValueError('a link without mass has no centre of mass')
    c = p[1:4] / mass
    return mass, c, inertia_matrix(p) - mass * (c @ c * np.eye(3) - np.outer(c, c))


def inertia_matrix(parameters: ArrayLike) -> NDArray[np.float64]:
    """Inertia about the frame's origin as a (3, 3) matrix, from ten inertial parameters."""
    xx, xy, xz, yy, yz, zz = np.asarray(parameters, dtype=float)[4:10]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def pseudo_inertia(parameters: ArrayLike) -> NDArray[np.float64]:
    """
    Pseudo-inertia matrix of a link, (4, 4).

    A link is physical, that is made of positive mass, exactly when this matrix is positive
    definite (Wensing, Kim and Slotine 2018, eq. 7).
    """
    p = np.asarray(parameters, dtype=float)
    inertia = inertia_matrix(p)
    result = np.empty((4, 4))
    result[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    result[:3, 3] = result[3, :3] = p[1:4]
    result[3, 3] = p[0]
    return result


def inertial_of(P: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inertial parameters (10,) of a pseudo-inertia (4, 4)."""
    inertia = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([P[3, 3], *P[:3, 3], *inertia[np.triu_indices(3)]])


def states_body(parameters: ArrayLike) -> bool:
    """Whether ten inertial parameters state more than a point mass at the joint's origin."""
    mass, *others = np.asarray(parameters, dtype=float)
    return bool(mass < 0 or (mass and np.any(others)))


def nearest_possible(parameters: ArrayLike) -> NDArray[np.float64]:
    """
    Inertial parameters of the nearest body with the mass and centre of mass of ten given ones.

    Its second moments of mass about that centre are the given ones, but negative ones become those
    of a body `THIN` times as thick as long. A possible link is unchanged.
    """
    mass, center, inertia = inertial_to_com(parameters)
    moments, axes = np.linalg.eigh(0.5 * np.trace(inertia) * np.eye(3) - inertia)
    if moments[0] >= -MOMENT_ROUNDING * moments[2]:
        return np.asarray(parameters, dtype=float)
    second = (axes * np.maximum(moments, THIN**2 * max(moments[2], 0.0))) @ axes.T
    return inertial_from_com(mass, center, np.trace(second) * np.eye(3) - second)


def is_physical(parameters: ArrayLike) -> bool:
    """Whether ten inertial parameters belong to a body of positive mass."""
    return bool(np.linalg.eigvalsh(pseudo_inertia(parameters))[0] > 0)


def torque_units(arm: ArmModel) -> tuple[str, ...]:
    """Nm for each joint that turns and N for each that slides."""
    return joint_units('Nm', arm.prismatic)


def parameter_units(arm: ArmModel) -> tuple[str, ...]:
    """SI unit of every column of ``arm.layout``."""
    rotor = ('kg m²',) if arm.rotor_inertia else ()
    drive = (*rotor, *(term.unit for term in friction_terms(arm.friction)))
    units: list[str] = []
    for sliding in arm.prismatic:
        units += [*_INERTIAL_UNITS, *(of_sliding(unit) if sliding else unit for unit in drive)]
    units += _INERTIAL_UNITS * len(arm.tree.followers)
    units += [_of_coupling(column, arm) for column in arm.coupling]
    return tuple(units)


def _of_coupling(column: CouplingColumn, arm: ArmModel) -> str:
    # No unit fits the rows of both a revolute and a prismatic joint; use the revolute joint's.
    involved = np.any(column.matrix != 0, axis=0) | np.any(column.matrix != 0, axis=1)
    unit = _COUPLING_UNITS[column.quantity]
    return of_sliding(unit) if arm.prismatic[involved].all() else unit
