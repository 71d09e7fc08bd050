"""Sizes and bodies of links of which no inertia is stated, from the places of the joints."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.utilities.arrays import Array

#: Radius of a link relative to its length, and relative to the mean length of the links at least.
SLENDER, STOUT = 0.25, 0.15
#: Length of a link where no joint or tool shows any, m.
LENGTH = 0.3
#: Density of a link before any data, kg/m³: some aluminium, some motor, some air.
DENSITY = 1500.0


def link_scales(arm: ArmModel, bodies: Array) -> Array:
    """
    Find the uncertainty of links that may be as heavy again.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    bodies : (m, 10) ndarray
        Inertial parameters of its links.

    Returns
    -------
    (m, 10) ndarray
        Standard deviations: the mass, times the length of the link, and times the square of it.

    """
    mass, first = bodies[:, 0], np.linalg.norm(bodies[:, 1:4], axis=1)
    gyration = np.sqrt(bodies[:, [4, 7, 9]].sum(axis=1) / 2 / mass)
    length = np.maximum.reduce([_lengths(arm), first / mass, gyration])
    order = np.repeat([0, 1, 2], [1, 3, 6])
    return np.asarray(mass[:, None] * length[:, None] ** order)


def _ends(arm: ArmModel, joint: int) -> Array:
    """Farthest place of the next joint, or of the tool, in the frame of a link, (3,), m."""
    ends = [arm.translation[child] for child in range(arm.links) if arm.parent[child] == joint]
    if not ends and arm.tool_link == joint:
        ends = [arm.tool.placement.translation]
    return max(ends, key=lambda place: float(np.linalg.norm(place)), default=np.zeros(3))


def _lengths(arm: ArmModel) -> Array:
    """Length of each link, (m,), m; the mean one where two axes meet."""
    own = np.array([np.linalg.norm(_ends(arm, joint)) for joint in range(arm.links)])
    mean = float(own[own > 0].mean()) if own.any() else LENGTH
    return np.where(own > 0, own, mean)


def cylinder(arm: ArmModel, joint: int) -> Array:
    """Return the inertial parameters (10,) of a cylinder from a joint to the next."""
    end = _ends(arm, joint)
    length = float(np.linalg.norm(end))
    lengths = np.linalg.norm(arm.translation, axis=1)
    mean = float(lengths[1:].mean()) if arm.n > 1 and lengths[1:].any() else length or LENGTH
    along = end / length if length else arm.axis[joint]
    radius = max(SLENDER * length, STOUT * mean)
    # As long as it is thick, where two axes meet.
    length = max(length, 2 * radius)
    mass = DENSITY * np.pi * radius**2 * length
    axial = np.outer(along, along)
    second = mass * (length**2 / 12 * axial + radius**2 / 4 * (np.eye(3) - axial))
    return inertial_from_com(mass, end / 2, np.trace(second) * np.eye(3) - second)
