# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Forward kinematics of the tool and of any link."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.bodies import find_body, TOOL
from dynid_ros.arm.description.tree import Placement
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.external_force import link_poses
from dynid_ros.dynamics.state import as_states
from dynid_ros.utilities.arrays import Array


def forward_kinematics(arm: ArmModel, q: ArrayLike, body: str = TOOL) -> Placement:
    """
    Pose of a body in the world, base and mounting of the arm included.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (n,) or (N, n) array_like
        Positions, rad or m.
    body : str
        ``tool``, or the joint that moves the link.

    Returns
    -------
    Placement
        One, or N of them.

    Raises
    ------
    InputError
        A shape is wrong or there is no such body.

    Warns
    -----
    LimitWarning
        A position lies outside the limits of its joint.

    """
    joint, placement = find_body(arm, body)
    states = as_states(arm, q)
    link = _links(arm, states.q)
    pose = Placement(link.rotation[:, joint], link.translation[:, joint]).then(placement)
    return Placement(states.shaped(pose.rotation), states.shaped(pose.translation))


def frames(arm: ArmModel, q: Array) -> Placement:
    """
    Poses in the world of all frames: carrying body, base frame and links.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (N, n) ndarray
        Positions.

    Returns
    -------
    Placement
        (N, m + 2): the body, the base frame of the arm, its links.

    """
    links = _links(arm, q)
    body, foot = arm.base, arm_base(arm)
    ones = np.ones((len(q), 1, 1))
    return Placement(
        np.concatenate([ones[..., None] * body.rotation, ones[..., None] * foot.rotation,
                        links.rotation], axis=1),
        np.concatenate([ones * body.translation, ones * foot.translation, links.translation],
                       axis=1))


def arm_base(arm: ArmModel) -> Placement:
    """Return the pose of the base frame of the arm in the world."""
    return arm.base.then(arm.mounting)


def _links(arm: ArmModel, q: Array) -> Placement:
    rows = link_poses(arm, q)
    return arm_base(arm).then(
        Placement(rows[:, :, :9].reshape(len(q), arm.links, 3, 3), rows[:, :, 9:]))
