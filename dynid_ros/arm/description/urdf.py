# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""URDF as a kinematic tree: Pinocchio reads it, merges fixed links and locks joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.description.joint_choice import choose_joints
from dynid_ros.arm.description.tree import Description, Follower, JointLimits, KinematicTree
from dynid_ros.arm.description.urdf_xml import read_urdf_xml, UrdfTree
from dynid_ros.errors import ArmError

# Pinocchio writes the inertia as Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
_OUR_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


def read_urdf(
    path: Path, joints: tuple[str, ...] = (), locked: Mapping[str, float] | None = None,
) -> Description:
    """
    Kinematic tree of the moving joints of a URDF.

    Parameters
    ----------
    path : Path
        The URDF; meshes need not exist.
    joints : tuple of str, optional
        Joints that move, in the wanted order; the others are locked. Without it every revolute,
        continuous and prismatic joint moves that is neither locked nor mimics another one. Those
        that mimic a joint that moves follow it.
    locked : mapping of str to float, optional
        Positions of locked joints, rad or m; zero where not named. A joint that mimics a locked
        one is locked where it follows to.

    Returns
    -------
    Description
        The base frame is the URDF's root link. Inertia of locked and fixed links is merged into
        the link that carries them; ``inertial`` is None where the moving links have none at all.

    Raises
    ------
    ArmError
        The URDF is unusable, or a requested joint does not exist, does not move, or
        comes before its parent.

    """
    return describe(read_urdf_xml(path), path, joints, locked)


def describe(
    robot: UrdfTree, path: Path, joints: tuple[str, ...] = (),
    locked: Mapping[str, float] | None = None,
) -> Description:
    """Kinematic tree of a robot that has been read from a path; as `read_urdf`."""
    moving, followers, rest = choose_joints(robot.joints, joints, dict(locked or {}), path)
    model = reduced_model(robot.xml, rest, path)
    if not joints:
        moving, given = tuple(n for n in tuple(model.names)[1:] if n in moving), moving
        followers = tuple(
            replace(each, leader=moving.index(given[each.leader])) for each in followers)
    return _assemble(robot, model, moving, followers, path)


def reduced_model(xml: str, rest: Mapping[str, float], path: Path) -> Any:
    """Build Pinocchio's model of a URDF with some joints locked in place."""
    import pinocchio

    try:
        model = pinocchio.buildModelFromXML(xml)
    except ValueError as error:
        raise ArmError(f'{path} is not a valid URDF: {error}') from error
    reference = np.zeros(model.nq)
    for name, position in rest.items():
        reference[model.joints[model.getJointId(name)].idx_q] = position
    ids = [model.getJointId(name) for name in rest]
    return pinocchio.buildReducedModel(model, ids, reference) if ids else model


def _assemble(
    tree: UrdfTree, model: Any, ordered: tuple[str, ...], followers: tuple[Follower, ...],
    path: Path,
) -> Description:
    names = (*ordered, *(each.name for each in followers))
    joints = [tree.joints[name] for name in names]
    ids = [model.getJointId(name) for name in names]
    place = {joint: i for i, joint in enumerate(ids)}
    parent = np.array([place.get(model.parents[joint], -1) for joint in ids], dtype=np.int64)
    _check_order(ordered, parent, path)
    limits = JointLimits(acceleration=np.full(len(ordered), np.inf), **{
        key: np.array([getattr(joint, key) for joint in joints[:len(ordered)]])
        for key in ('lower', 'upper', 'velocity', 'effort')})
    links = np.array([model.inertias[i].toDynamicParameters()[_OUR_ORDER] for i in ids])
    placements = [model.jointPlacements[joint] for joint in ids]
    return Description(
        tree=KinematicTree(
            joint_names=ordered,
            parent=parent,
            rotation=np.array([np.array(p.rotation) for p in placements]),
            translation=np.array([np.array(p.translation) for p in placements]),
            prismatic=np.array([joint.kind == 'prismatic' for joint in joints]),
            axis=np.array([joint.axis for joint in joints]),
            followers=followers,
        ),
        limits=_followed(limits, followers, tree, path),
        name=tree.name,
        inertial=links if links.any() else None,
        doubts=tree.doubts,
    )


def _check_order(names: tuple[str, ...], parent: NDArray[np.int64], path: Path) -> None:
    for i, carrier in enumerate(parent[:len(names)]):
        while carrier >= len(names):
            carrier = parent[carrier]
        if carrier > i:
            raise ArmError(f'joint "{names[i]}" comes before its parent "{names[carrier]}" in '
                           f'{path}; list each joint after its parent')


def _followed(
    limits: JointLimits, followers: tuple[Follower, ...], tree: UrdfTree, path: Path,
) -> JointLimits:
    """Narrow the limits of joints to those of their followers."""
    lower, upper, velocity = limits.lower.copy(), limits.upper.copy(), limits.velocity.copy()
    for each in followers:
        joint, own = each.leader, tree.joints[each.name]
        if each.multiplier:
            ends = sorted((end - each.offset) / each.multiplier for end in (own.lower, own.upper))
            lower[joint], upper[joint] = max(lower[joint], ends[0]), min(upper[joint], ends[1])
            velocity[joint] = min(velocity[joint], own.velocity / abs(each.multiplier))
        if not lower[joint] < upper[joint]:
            raise ArmError(f'joint "{each.name}" in {path} can be nowhere within its limits while '
                           'the joint that it follows is within its own; correct the limits')
    return replace(limits, lower=lower, upper=upper, velocity=velocity)
