"""The wrench on one body behind an external torque."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.bodies import TOOL
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.rigid_body import geometric_jacobian
from dynid_ros.kinematics.compensation import reach
from dynid_ros.regression.least_squares import LeastSquares

Array = NDArray[np.float64]

#: Singular value of the Jacobian by the largest one below which a wrench is not determined.
UNDETERMINED = 0.02


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
        Of what the torque determines.
    determined : (6,) ndarray of bool
        Components that the torque determines.

    """

    wrench: Array
    covariance: Array
    determined: NDArray[np.bool_]


def tool_wrench(
    arm: ArmModel, q: ArrayLike, torque: ArrayLike, std: ArrayLike, body: str = TOOL,
) -> ToolWrench:
    """
    Estimate the wrench behind an external torque, taking it to act on one body.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q, torque, std : (n,) array_like
        Position, external torque (measured minus modelled) and its standard deviation.
    body : str
        ``tool``, or the joint that moves the link.

    Returns
    -------
    ToolWrench
        Weighted least squares of ``torque = -Jᵀ w``; the smallest wrench where the torque leaves
        a choice, as with less than six joints or near a singular pose.

    """
    spread = np.asarray(std, dtype=float)
    # Moments in N times the reach, so that they compare with forces.
    units = np.repeat([reach(arm), 1.0], 3)
    design = -geometric_jacobian(arm, q, body).T / spread[:, None]
    fitted = LeastSquares(design, scale=1 / units, tolerance=UNDETERMINED)
    wrench = fitted.solve(np.asarray(torque, dtype=float) / spread)
    return ToolWrench(wrench, fitted.covariance, ~fitted.undetermined)
