# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Motion of one body of an arm, and the wrench that it takes, linear in its parameters."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.bodies import path_to
from dynid_ros.arm.description.tree import Placement
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.dynamics.external_force import link_poses
from dynid_ros.dynamics.kernel_arrays import all_joints
from dynid_ros.utilities.arrays import Array


def body_motion(
    arm: ArmModel, joint: int, place: Placement, q: Array, qd: Array, qdd: Array,
) -> Array:
    """
    Motion of a frame that is fixed to a link.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    joint : int
        Joint that moves the link.
    place : Placement
        The frame in the frame of the link.
    q, qd, qdd : (N, n) ndarray
        Motion of the arm: rad, rad/s, rad/s² (m for prismatic joints).

    Returns
    -------
    (N, 9) ndarray
        Angular velocity, angular acceleration, and acceleration of the origin less gravity, all
        along the axes of the frame: rad/s, rad/s², m/s².

    Notes
    -----
    Outward recursion along the links that carry it (Craig, Introduction to Robotics, eq. 6.45 to
    6.47), in the axes of the base.

    """
    poses = link_poses(arm, q)
    rates, drives = (each[:, np.argsort(arm.tree.order)] for each in all_joints(arm, qd, qdd))
    omega, alpha = np.zeros((2, len(q), 3))
    accel, at = np.tile(-arm.gravity, (len(q), 1)), np.zeros((len(q), 3))
    for each in path_to(arm, joint):
        rotation, origin = poses[:, each, :9].reshape(-1, 3, 3), poses[:, each, 9:]
        axis, rate, drive = (rotation @ arm.axis[each], rates[:, each, None],
                             drives[:, each, None])
        accel, at = accel + _about(omega, alpha, origin - at), origin
        if arm.tree.prismatic[each]:
            accel = accel + drive * axis + 2 * np.cross(omega, rate * axis)
        else:
            alpha = alpha + drive * axis + np.cross(omega, rate * axis)
            omega = omega + rate * axis
    rotation = poses[:, joint, :9].reshape(-1, 3, 3)
    accel = accel + _about(omega, alpha, rotation @ place.translation)
    own = rotation @ place.rotation
    return np.concatenate([
        np.einsum('kji,kj->ki', own, each) for each in (omega, alpha, accel)], axis=1)


def _about(omega: Array, alpha: Array, arm: Array) -> Array:
    """Acceleration of a point beside that of the origin from which it is measured."""
    return np.asarray(np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm)))


def body_regressor(motion: Array) -> Array:
    """
    Differentiate the wrench that moves a body with respect to its inertial parameters.

    Parameters
    ----------
    motion : (N, 9) ndarray
        Of its frame; see `body_motion`.

    Returns
    -------
    (N, 6, 10) ndarray
        ``[Tx Ty Tz Fx Fy Fz]`` along the axes of the frame, the moment about its origin, for
        ``m, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz``: ``F = m a + (α× + ω×ω×) h`` and
        ``T = Io α + ω × Io ω + h × a`` (Atkeson, An and Hollerbach 1986, Estimation of inertial
        parameters of manipulator loads and links).

    """
    omega, alpha, accel = motion[:, :3], motion[:, 3:6], motion[:, 6:]
    result = np.zeros((len(motion), 6, len(INERTIAL)))
    result[:, :3, 1:4] = -skew(accel)
    turn = skew(omega)
    result[:, :3, 4:] = _inertia_columns(alpha) + turn @ _inertia_columns(omega)
    result[:, 3:, 0] = accel
    result[:, 3:, 1:4] = skew(alpha) + turn @ turn
    return result


def skew(vectors: Array) -> Array:
    """Matrices (..., 3, 3) of the cross product with vectors (..., 3)."""
    return np.asarray(np.cross(vectors[..., None, :], np.eye(3)).swapaxes(-1, -2))


def _inertia_columns(vector: Array) -> Array:
    """Differentiate the product of an inertia with vectors (N, 3), (N, 3, 6)."""
    x, y, z = vector.T
    none = np.zeros_like(x)
    return np.stack([
        np.stack([x, y, z, none, none, none], axis=1),
        np.stack([none, x, none, y, z, none], axis=1),
        np.stack([none, none, x, none, y, z], axis=1)], axis=1)
