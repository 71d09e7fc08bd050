"""Rigid-body functions of an arm by MuJoCo, in the order of the arm's joints."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.simulation.mjcf import joint_order, mujoco_model

Array = NDArray[np.float64]


class RigidArm:
    """
    Mass matrix and torques of the nominal arm without friction; rotor inertia included.

    Parameters
    ----------
    arm : ArmModel
        The arm, with physical nominal inertial parameters.

    Raises
    ------
    ArmError
        The arm cannot be simulated; see `mujoco_model`.

    """

    def __init__(self, arm: ArmModel) -> None:
        import mujoco

        self._mujoco = mujoco
        self._model = mujoco_model(arm)
        self._data = mujoco.MjData(self._model)
        self._order = joint_order(self._model, arm)
        self.n = arm.n

    def torque(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """
        Inverse dynamics.

        Parameters
        ----------
        q, qd, qdd : (n,) array_like
            rad, rad/s, rad/s² (m for prismatic joints).

        Returns
        -------
        (n,) ndarray
            Nm (N for prismatic joints).

        """
        data = self._data
        data.qpos[self._order], data.qvel[self._order] = q, qd
        data.qacc[self._order] = qdd
        self._mujoco.mj_inverse(self._model, data)
        return np.array(data.qfrc_inverse[self._order])

    def gravity(self, q: ArrayLike) -> Array:
        """Torque (n,) that holds the arm at rest at a position (n,)."""
        rest = np.zeros(self.n)
        return self.torque(q, rest, rest)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix (n, n) at a position (n,), kg m²."""
        gravity = self.gravity(q)
        rest = np.zeros(self.n)
        return np.array([self.torque(q, rest, unit) - gravity for unit in np.eye(self.n)])
