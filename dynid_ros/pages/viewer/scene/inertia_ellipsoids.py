# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Links of an identified arm as homogeneous ellipsoids of the same inertia."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.parameters import INERTIAL, inertial_to_com
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.pages.viewer.scene.arm_body import ArmBody, Color, quaternions
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    import viser


#: Links with no parameter, some, and all determined by the data.
CERTAINTIES: tuple[Color, ...] = ((150, 150, 150), (230, 159, 0), (11, 92, 173))


class Ellipsoid:
    """
    Homogeneous ellipsoid with the mass, centre and inertia of a link.

    Parameters
    ----------
    joint : str
        Name of the joint that moves the link.
    inertial : (10,) ndarray
        Inertial parameters of the link.
    mass_std : float
        Standard deviation of its mass, kg.
    from_data : (10,) ndarray of bool
        Which parameters follow from the data.

    Attributes
    ----------
    mass : float
        kg.
    center : (3,) ndarray
        In the frame of the link, m.
    axes : (3, 3) ndarray
        Columns: its axes in that frame.
    lengths : (3,) ndarray
        Its half axes, m.
    certain : tuple of str
        Parameters of the link that the data determine rather than the prior.
    uncertain : tuple of str
        The others.
    color : tuple of int
        Colour by how many of its parameters the data determine.

    """

    def __init__(
        self, joint: str, inertial: Array, mass_std: float, from_data: NDArray[np.bool_],
    ) -> None:
        self.joint, self.mass_std = joint, mass_std
        self.mass, self.center, inertia = inertial_to_com(inertial)
        moments, self.axes = np.linalg.eigh(inertia)
        if np.linalg.det(self.axes) < 0:
            self.axes[:, 0] *= -1
        squares = 5 / (2 * self.mass) * (moments.sum() - 2 * moments)
        self.lengths = np.sqrt(np.maximum(squares, 1e-6))
        self.certain = tuple(compress(INERTIAL, from_data))
        self.uncertain = tuple(compress(INERTIAL, ~from_data))
        self.color: Color = CERTAINTIES[int(from_data.any()) + int(from_data.all())]


def ellipsoids(model: IdentifiedModel) -> tuple[Ellipsoid, ...]:
    """
    Return the ellipsoid of each link.

    The principal moments of one of mass m and half axes a, b, c are m (b² + c²) / 5 and so on.

    Raises
    ------
    InputError
        See `IdentifiedModel.standard_parameters`.

    """
    found = model.standard_parameters()
    links = model.arm.layout.all_inertial().reshape(model.arm.links, -1)
    return tuple(
        Ellipsoid(name, found.values[columns], float(found.std[columns[0]]),
                  found.from_data[columns])
        for name, columns in zip(model.arm.tree.link_names, links, strict=True))


def add_ellipsoids(
    scene: viser.SceneApi, body: ArmBody, links: Sequence[Ellipsoid],
) -> list[viser.SceneNodeHandle]:
    """Add ellipsoids to the links of an arm, coloured by the parameters from data."""
    return [
        scene.add_icosphere(
            f'{body.frame(joint)}/inertia', scale=tuple(link.lengths), color=link.color,
            wxyz=quaternions(link.axes), position=link.center)
        for joint, link in enumerate(links)]
