# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The wrench on the tool that causes an external torque."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.external_force import link_poses
from dynid_ros.dynamics.rigid_body import jacobians
from dynid_ros.utilities.arrays import Array

#: Force and moment of a usual contact, N and Nm: a push of 100 N within 0.1 m of the origin.
USUAL_FORCE, USUAL_MOMENT = 100.0, 10.0
#: Share of the usual variance below which the torque determines a component.
DETERMINED_VARIANCE = 0.5


@dataclass(frozen=True, eq=False)
class ToolWrench:
    """
    Wrench on the arm, estimated from external torque.

    Attributes
    ----------
    wrench : (6,) ndarray
        ``[Tx Ty Tz Fx Fy Fz]`` on the body, along the axes of the base frame, its moment about
        the origin of the body's frame, Nm and N.
    covariance : (6, 6) ndarray
        Of the estimate.
    determined : (6,) ndarray of bool
        Components that the torque determines rather than the prior of a usual contact.

    """

    wrench: Array
    covariance: Array
    determined: NDArray[np.bool_]


def tool_wrench(
    arm: ArmModel, q: ArrayLike, torque: ArrayLike, std: ArrayLike,
) -> ToolWrench:
    """
    Estimate the wrench on the tool that causes an external torque.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q, torque, std : (n,) array_like
        Position, external torque (measured minus modelled) and its standard deviation, which is
        infinite for a joint without information.

    Returns
    -------
    ToolWrench
        Weighted least squares of ``torque = -Jᵀ w``, with `USUAL_FORCE` and `USUAL_MOMENT` as
        prior standard deviations of w, which decide where fewer than six joints, joints at rest or
        singular poses leave components undetermined.

    """
    usual = np.repeat([USUAL_MOMENT, USUAL_FORCE], 3)
    J = jacobians(arm, np.atleast_2d(np.asarray(q, dtype=float)))[0]
    weight = 1 / np.asarray(std, dtype=float)
    design = -J.T * weight[:, None] * usual
    # Update of a Gaussian prior of unit covariance, with the smaller of the two matrices.
    gain = np.linalg.solve(np.eye(len(design)) + design @ design.T, design).T
    known = np.where(weight > 0, weight * np.asarray(torque, dtype=float), 0.0)
    left = np.eye(6) - gain @ design
    covariance = left * np.outer(usual, usual)
    return ToolWrench(usual * (gain @ known), covariance, np.diag(left) < DETERMINED_VARIANCE)


def in_body_frame(arm: ArmModel, q: ArrayLike, wrench: ArrayLike) -> Array:
    """
    Turn a wrench (6,) on the tool from the axes of the base frame to the axes of the tool.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (n,) array_like
        Position.
    wrench : (6,) array_like
        As in `ToolWrench`; its moment stays about the origin of the tool's frame.

    """
    pose = link_poses(arm, np.atleast_2d(np.asarray(q, dtype=float)))[0, arm.tool_link, :9]
    parts = np.asarray(wrench, dtype=float).reshape(2, 3)
    return np.asarray((parts @ pose.reshape(3, 3) @ arm.tool.placement.rotation).ravel())


def on_carrier(arm: ArmModel, wrench: ArrayLike) -> Array:
    """
    Move a wrench (6,) from the frame of the tool to the frame of the link that carries it.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    wrench : (6,) array_like
        Along the axes of the tool, its moment about the origin of the tool, Nm and N.

    """
    tool = arm.tool.placement
    moment, force = np.asarray(wrench, dtype=float).reshape(2, 3) @ tool.rotation.T
    return np.concatenate([moment + np.cross(tool.translation, force), force])
