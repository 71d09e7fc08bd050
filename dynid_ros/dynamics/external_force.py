# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
External wrenches on the bodies of an arm.

A wrench is ``[Tx Ty Tz Fx Fy Fz]``: a moment, then a force. Column j of a force matrix, (6, m), is
the wrench on the link of joint j as a spatial force vector in the base frame: along its axes, with
the moment about its origin (Featherstone, Rigid Body Dynamics Algorithms, section 2.6). Force
matrices of one arm add up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.bodies import find_body
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.kernel_arrays import all_joints, tree
from dynid_ros.dynamics.rigid_parameters import IdentifiedParameters
from dynid_ros.dynamics.state import as_states
from dynid_ros.errors import InputError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.inputs import numbers


def external_force(
    arm: ArmModel | IdentifiedParameters, body: str, wrench: ArrayLike, q: ArrayLike | None = None,
) -> Array:
    """
    Force matrix of a wrench on one body.

    Parameters
    ----------
    arm : ArmModel or IdentifiedParameters
        The arm.
    body : str
        ``tool``, or the joint that moves the link.
    wrench : (6,) or (N, 6) array_like
        ``[Tx Ty Tz Fx Fy Fz]``, Nm and N, on the body. Without `q` in the base frame: the moment
        is about the origin of the base frame. With `q` in the frame of the body: the moment is
        about the origin of that frame.
    q : (n,) or (N, n) array_like, optional
        Positions.

    Returns
    -------
    (6, m) or (N, 6, m) ndarray
        Zero except for the column of the body.

    Raises
    ------
    InputError
        There is no such body, or a shape is wrong.

    Warns
    -----
    LimitWarning
        A position lies outside the limits of its joint.

    """
    kinematic = arm if isinstance(arm, ArmModel) else arm.arm
    joint, placement = find_body(kinematic, body)
    rows = _wrench(wrench)
    single = rows.ndim == 1
    rows = np.atleast_2d(rows)
    if q is not None and np.size(q):
        states = as_states(kinematic, q)
        if not states.single and not single and len(rows) != len(states.q):
            raise InputError(f'q has {len(states.q)} states, but there are {len(rows)} wrenches')
        single = single and states.single
        poses = link_poses(kinematic, states.q)[:, joint]
        rotation = poses[:, :9].reshape(-1, 3, 3)
        origin = poses[:, 9:] + rotation @ placement.translation
        moment, force = (
            ((rotation @ placement.rotation) @ part[:, :, None])[:, :, 0]
            for part in (rows[:, :3], rows[:, 3:]))
        rows = np.concatenate([moment + np.cross(origin, force), force], axis=1)
    result = np.zeros((len(rows), 6, kinematic.links))
    result[:, :, joint] = rows
    return result[0] if single else result


def joint_force(arm: ArmModel, q: Array, fext: Array) -> Array:
    """
    Joint torque of external wrenches, ``sum_j J_jᵀ f_j``.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (N, n) ndarray
        Positions.
    fext : (6, m) or (N, 6, m) ndarray
        Force matrices, one for all positions or one each, from `force_matrix`.

    Returns
    -------
    (N, n) ndarray
        Nm, or N for prismatic joints.

    """
    carried = np.broadcast_to(fext, (len(q), 6, arm.links)).copy()
    for joint in reversed(arm.tree.order):
        if arm.parent[joint] >= 0:
            carried[:, :, arm.parent[joint]] += carried[:, :, joint]
    all_torques = np.einsum('kjc,kcj->kj', joint_screws(arm, link_poses(arm, q)), carried)
    return np.asarray(all_torques @ arm.tree.gearing)


def link_poses(arm: ArmModel, q: Array) -> Array:
    """Poses of all links in the base frame, (N, m, 12): rotation row by row, translation."""
    constants, (positions,) = tree(arm), all_joints(arm, np.asarray(q, dtype=float))
    angle = np.where(constants.prismatic, 0.0, positions)[..., None, None]
    turns, start, slide, _ = np.split(constants.shapes, (27, 30, 33), axis=1)
    placed, sine, rise = turns.reshape(-1, 3, 3, 3).swapaxes(0, 1)
    rotation = placed + np.sin(angle) * sine + (1.0 - np.cos(angle)) * rise
    origin = start + positions[..., None] * slide
    for joint, parent in enumerate(constants.parent):
        if parent >= 0:
            origin[:, joint] = origin[:, parent] + (
                rotation[:, parent] @ origin[:, joint, :, None])[..., 0]
            rotation[:, joint] = rotation[:, parent] @ rotation[:, joint]
    poses = np.concatenate([rotation.reshape(len(q), arm.links, 9), origin], axis=2)
    return poses[:, np.argsort(arm.tree.order)] if arm.tree.followers else poses


def joint_screws(arm: ArmModel, poses: Array) -> Array:
    """Screws of all joints about the origin of the base, (N, m, 6), from `link_poses`."""
    rotation, origin = poses[..., :9].reshape(-1, arm.links, 3, 3), poses[..., 9:]
    axis = (rotation @ arm.axis[..., None])[..., 0]
    slides = arm.tree.prismatic[:, None]
    return np.concatenate([
        np.where(slides, 0.0, axis), np.where(slides, axis, np.cross(origin, axis))], axis=2)


def _wrench(value: ArrayLike) -> Array:
    wrench = numbers('a wrench', value)
    if wrench.ndim not in (1, 2) or wrench.shape[-1] != 6:
        hint = '; transpose it' if wrench.ndim == 2 and wrench.shape[0] == 6 else ''
        raise InputError('a wrench must be [Tx Ty Tz Fx Fy Fz], (6,) or (N, 6), not '
                         f'{wrench.shape}{hint}')
    return _finite('a wrench', wrench)


def force_matrix(arm: ArmModel, value: ArrayLike) -> Array:
    """
    Read force matrices, (6, m) or (N, 6, m).

    Raises
    ------
    InputError
        The shape is wrong or a value is not finite.

    """
    force = numbers('fext', value)
    if force.ndim not in (2, 3) or force.shape[-2:] != (6, arm.links):
        hint = ', transpose it' if force.shape[-2:] == (arm.links, 6) else (
            '; external_force makes one of a wrench')
        raise InputError(f"fext must be (6, {arm.links}) or (N, 6, {arm.links}) for '{arm.name}', "
                         f'not {force.shape}{hint}')
    return _finite('fext', force)


def _finite(name: str, values: Array) -> Array:
    if not np.isfinite(values).all():
        raise InputError(f'{name} must hold finite numbers only')
    return values
