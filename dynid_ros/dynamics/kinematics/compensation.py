# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joint errors equivalent to a pose error; their negative compensates it."""

from __future__ import annotations

from dataclasses import dataclass
import warnings

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.bodies import find_body, path_to, TOOL
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.kinematics.forward import arm_base
from dynid_ros.dynamics.rigid_body import geometric_jacobian
from dynid_ros.errors import DynidWarning, InputError
from dynid_ros.utilities.arrays import Array

#: Ratio of the smallest to the largest singular value below which a pose is singular.
NEAR_SINGULAR = 0.02
POSE_PARTS = {'pose': slice(0, 6), 'rotation': slice(0, 3), 'position': slice(3, 6)}


class SingularPoseWarning(DynidWarning):
    """Joints cannot express some pose errors at this position of the arm."""


@dataclass(frozen=True, eq=False)
class JointErrors:
    """
    Joint errors equivalent to a pose error.

    Attributes
    ----------
    q : (n,) ndarray
        rad, or m for prismatic joints.
    residual : (6,) ndarray
        Part of the pose error that joints cannot express, rad and m; zero outside `part`.
    smallest : float
        Ratio of the smallest to the largest singular value of the Jacobian, with lengths in units
        of the reach.
    damped : bool
        Whether the result was damped, because the pose is (nearly) singular.

    """

    q: Array
    residual: Array
    smallest: float
    damped: bool


def joint_errors(
    arm: ArmModel, q: ArrayLike, error: ArrayLike, body: str = TOOL, part: str = 'pose',
) -> JointErrors:
    """
    Find the joint errors that cause a pose error to first order, by damped least squares.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (n,) array_like
        Position of the arm, rad or m.
    error : (6,) array_like
        Pose error in the world, ``[rx ry rz x y z]``, rad and m; real minus nominal.
    body : str
        ``tool``, or the joint that moves the link.
    part : str
        ``pose``, ``rotation`` or ``position``: the part that the joints express. An arm of less
        than six joints can express a pose only in part.

    Returns
    -------
    JointErrors
        Those of least residual and then least norm; the reach weights rotations against lengths.

    Raises
    ------
    InputError
        A shape is wrong, or there is no such body or part.

    Warns
    -----
    SingularPoseWarning
        The pose is (nearly) singular and the result damped.

    References
    ----------
    Nakamura and Hanafusa 1986, Inverse kinematic solutions with singularity robustness for robot
    manipulator control, ASME J. DSMC 108(3); damping as in Chiaverini 1997, IEEE T-RA 13(3).

    """
    pose_error = np.asarray(error, dtype=float)
    if pose_error.shape != (6,) or not np.isfinite(pose_error).all():
        raise InputError('a pose error must be [rx ry rz x y z], six finite numbers, not '
                         f'an array of shape {pose_error.shape}')
    if part not in POSE_PARTS:
        raise InputError(f"part must be one of {', '.join(POSE_PARTS)}, not '{part}'")
    if np.shape(q) != (arm.n,):
        raise InputError(f"q must be ({arm.n},) for the joints of '{arm.name}', not {np.shape(q)}")
    carriers = path_to(arm, find_body(arm, body)[0])
    path = np.flatnonzero(arm.tree.gearing[carriers].any(axis=0))
    jacobian = world_jacobian(arm, q, body)
    units = np.repeat([1.0, 1 / reach(arm)], 3)[POSE_PARTS[part]]
    weighted = jacobian[POSE_PARTS[part]][:, path] * units[:, None]
    U, singular, V = np.linalg.svd(weighted, full_matrices=False)
    smallest = float(singular[-1] / singular[0]) if singular[0] > 0 else 0.0
    damped = smallest < NEAR_SINGULAR
    if damped:
        warnings.warn(
            f"'{arm.name}' is near a singular pose: the smallest singular value is {smallest:.2g} "
            'of the largest, so that some errors of the pose cannot be expressed by its joints; '
            'the answer is damped', SingularPoseWarning, stacklevel=2)
    errors = np.zeros(arm.n)
    errors[path] = V.T @ (_inverse(singular) * (U.T @ (units * pose_error[POSE_PARTS[part]])))
    residual = np.zeros(6)
    residual[POSE_PARTS[part]] = (pose_error - jacobian @ errors)[POSE_PARTS[part]]
    return JointErrors(errors, residual, smallest, damped)


def world_jacobian(arm: ArmModel, q: ArrayLike, body: str = TOOL) -> Array:
    """Geometric Jacobian (6, n) along the axes of the world; see `geometric_jacobian`."""
    rotation = arm_base(arm).rotation
    jacobian = geometric_jacobian(arm, q, body)
    return np.concatenate([rotation @ jacobian[:3], rotation @ jacobian[3:]])


def reach(arm: ArmModel) -> float:
    """Length that weights rotations against shifts, m: the sum of all placements."""
    length = float(np.linalg.norm(arm.translation, axis=1).sum()
                   + np.linalg.norm(arm.tool.placement.translation))
    return length or 1.0


def _inverse(singular: Array) -> Array:
    """Inverse singular values, damped where they fall below the threshold."""
    if singular[0] == 0:
        return np.zeros_like(singular)
    threshold = NEAR_SINGULAR * singular[0]
    missing = np.clip(1 - (singular / threshold) ** 2, 0.0, None)
    damping = threshold**2 * missing
    return np.asarray(singular / (singular**2 + damping))
