# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Sizes and bodies of links without stated inertia, from the positions of the joints."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.utilities.arrays import Array

#: Radius of a link relative to its length, and least radius relative to the mean length of links.
RADIUS_PER_LENGTH, STOUT = 0.25, 0.15
#: Length of a link if no joint or tool determines it, m.
LENGTH_WITHOUT_JOINT_M = 0.3
#: Prior density of a link, kg/m³: a mix of aluminium, motor and air.
LINK_DENSITY = 1500.0


def link_scales(arm: ArmModel, bodies: Array) -> Array:
    """
    Find the prior uncertainty of links whose mass may be wrong by itself.

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
    """Farthest origin of a child joint, or of the tool, in the frame of a link, (3,), m."""
    ends = [arm.translation[child] for child in range(arm.links) if arm.parent[child] == joint]
    if not ends and arm.tool_link == joint:
        ends = [arm.tool.placement.translation]
    return max(ends, key=lambda place: float(np.linalg.norm(place)), default=np.zeros(3))


def _lengths(arm: ArmModel) -> Array:
    """Length of each link, (m,), m; the mean length where two axes intersect."""
    lengths = np.array([np.linalg.norm(_ends(arm, joint)) for joint in range(arm.links)])
    mean = float(lengths[lengths > 0].mean()) if lengths.any() else LENGTH_WITHOUT_JOINT_M
    return np.where(lengths > 0, lengths, mean)


def cylinder(arm: ArmModel, joint: int) -> Array:
    """Return the inertial parameters (10,) of a cylinder from a joint to the next."""
    end = _ends(arm, joint)
    length = float(np.linalg.norm(end))
    lengths = np.linalg.norm(arm.translation, axis=1)
    joined = arm.n > 1 and lengths[1:].any()
    mean = float(lengths[1:].mean()) if joined else length or LENGTH_WITHOUT_JOINT_M
    along = end / length if length else arm.axis[joint]
    radius = max(RADIUS_PER_LENGTH * length, STOUT * mean)
    # At least as long as thick, since two axes may intersect.
    length = max(length, 2 * radius)
    mass = LINK_DENSITY * np.pi * radius**2 * length
    axial = np.outer(along, along)
    second = mass * (length**2 / 12 * axial + radius**2 / 4 * (np.eye(3) - axial))
    return inertial_from_com(mass, end / 2, np.trace(second) * np.eye(3) - second)
