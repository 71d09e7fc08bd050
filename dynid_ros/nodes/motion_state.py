"""From a JointState message to the position, velocity and torque of the joints of an arm."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.nodes.joint_order import JointOrder

Array = NDArray[np.float64]


class MotionState(NamedTuple):
    """
    Position, velocity and torque of the joints, also where they are measured at the motors.

    Attributes
    ----------
    q, qd : (n,) ndarray
        rad, rad/s (m for prismatic joints).
    tau : (n,) ndarray or None
        Nm (N for prismatic joints); None where no torques are measured.

    """

    q: Array
    qd: Array
    tau: Array | None = None


class MotionStateReader:
    """
    Find the joints of an arm by name in every message.

    Parameters
    ----------
    arm : ArmModel
        Names of the joints, their aliases, and what lies between motors and joints.

    """

    def __init__(self, arm: ArmModel) -> None:
        self._order = JointOrder(arm)
        self._drive = arm.drive
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
        order = self._order.of(tuple(message.name))
        p, pd = np.array(message.position), np.array(message.velocity)
        if order is None or min(len(p), len(pd)) <= order.max():
            return None
        tau = None
        measured = self._drive.signal == 'effort' and self._drive.topic is None
        if measured and len(message.effort) > order.max():
            tau = joint_torque(np.array(message.effort)[order], self._drive)
        if self._direct:
            return MotionState(p[order], pd[order], tau)
        return MotionState(
            np.linalg.solve(self._drive.transmission, p[order]) + self._drive.offset,
            np.linalg.solve(self._drive.transmission, pd[order]), tau)
