"""The torque of gravity, as far as base parameters determine it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor

Array = NDArray[np.float64]


def gravity_load(arm: ArmModel, q: Array, theta: Array | None) -> Array:
    """
    Torque that holds the arm at rest, from its base parameters.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (N, n) ndarray
        Positions, rad or m.
    theta : (b,) ndarray or None
        Base parameters of the arm; None stands for an arm that is not known yet.

    Returns
    -------
    (N, n) ndarray
        Nm; zero for an arm that is not known yet.

    """
    if theta is None:
        return np.zeros_like(q)
    base = base_parameters(arm)
    rigid = arm.rigid()
    standard = np.zeros(arm.layout.size)
    standard[base.columns] = theta
    still = np.zeros_like(q)
    return np.asarray(regressor(rigid, q, still, still) @ standard[arm.layout.all_inertial()])
