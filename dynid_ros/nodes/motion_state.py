"""From a JointState message to the position and velocity of the joints of an arm."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel

Array = NDArray[np.float64]


class MotionState(NamedTuple):
    """
    Position and velocity of the joints, also where they are measured at the motors.

    Attributes
    ----------
    q, qd : (n,) ndarray
        rad, rad/s (m for prismatic joints).

    """

    q: Array
    qd: Array


class MotionStateReader:
    """
    Find the joints of an arm by name in every message.

    Parameters
    ----------
    arm : ArmModel
        Names of the joints, their aliases, and what lies between motors and joints.

    """

    def __init__(self, arm: ArmModel) -> None:
        self._names = (arm.joint_names, *arm.aliases)
        self._drive = arm.drive
        self._orders: dict[tuple[str, ...], NDArray[np.intp] | None] = {}
        self._direct = bool(
            np.array_equal(arm.drive.transmission, np.eye(arm.n)) and not arm.drive.offset.any())

    def read(self, message: Any) -> MotionState | None:
        """
        Read one message.

        Parameters
        ----------
        message : sensor_msgs.msg.JointState
            With positions and velocities of at least all joints of the arm.

        Returns
        -------
        MotionState or None
            None if joints, positions or velocities are missing.

        """
        names = tuple(message.name)
        if names not in self._orders:
            known = next((own for own in self._names if set(own) <= set(names)), None)
            self._orders[names] = None if known is None else np.array(
                [names.index(name) for name in known], dtype=np.intp)
        order = self._orders[names]
        p, pd = np.array(message.position), np.array(message.velocity)
        if order is None or min(len(p), len(pd)) <= order.max():
            return None
        if self._direct:
            return MotionState(p[order], pd[order])
        return MotionState(
            np.linalg.solve(self._drive.transmission, p[order]) + self._drive.offset,
            np.linalg.solve(self._drive.transmission, pd[order]))
