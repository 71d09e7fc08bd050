"""Conversion between drive signals or motor positions and joint torque or positions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True)
class DriveTopic:
    """
    A topic of its own for the drive signal.

    Its messages are sensor_msgs/JointState with the signal in the field ``effort``,
    control_msgs/DynamicJointState if there is an `interface`, or std_msgs/Float64MultiArray if
    there are `joints`.

    Attributes
    ----------
    name : str
        Name; a relative one is in the namespace of the joint states.
    interface : str or None
        Interface that holds the signal.
    joints : tuple of str
        Joints in the order of the values.

    """

    name: str
    interface: str | None = None
    joints: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Type of the messages."""
        if self.interface is not None:
            return 'control_msgs/msg/DynamicJointState'
        return 'std_msgs/msg/Float64MultiArray' if self.joints else 'sensor_msgs/msg/JointState'

    def beside(self, states: str) -> str:
        """Full name, given the full name of the joint states."""
        if self.name.startswith('/'):
            return self.name
        return f'{states.rpartition("/")[0]}/{self.name}'


@dataclass(frozen=True)
class Drive:
    """
    Conversion of the recorded drive signal to joint torque.

    ``tau = transmissionᵀ (gain * u)``; positions recorded at the motors become joint positions
    by ``q = transmission⁻¹ p + offset``.

    Attributes
    ----------
    signal : str
        ``effort``, ``current`` or ``voltage``.
    gain : (n,) ndarray
        Nm (or N) per unit of the signal; sign and torque constants included.
    transmission : (n, n) ndarray
        Motor positions from joint positions; the identity for joint-side recordings.
    offset : (n,) ndarray
        Joint positions where the motors read zero, rad or m.
    includes_gravity : bool
        Whether the signal includes gravity torque, as a sensor or a motor current does.
    topic : DriveTopic or None
        Where the signal is published; None if it is the effort of the joint states.

    """

    signal: str
    gain: Array
    transmission: Array
    offset: Array
    includes_gravity: bool = True
    topic: DriveTopic | None = None

    @staticmethod
    def joint_torque(joints: int) -> Drive:
        """Describe a recording in Nm at the joints."""
        return Drive('effort', np.ones(joints), np.eye(joints), np.zeros(joints))

    @cached_property
    def is_direct(self) -> bool:
        """Whether the drives move the joints one to one."""
        return bool((self.transmission == np.eye(len(self.gain))).all())

    @cached_property
    def to_joints(self) -> Array:
        """Joint positions from motor positions, (n, n): the inverse of the transmission."""
        return np.asarray(np.linalg.inv(self.transmission), dtype=float)


def joint_torque(u: Array, drive: Drive) -> Array:
    """
    Torque at the joints, ``tau = transmissionᵀ (gain * u)``, by the principle of virtual work.

    Parameters
    ----------
    u : (..., n) ndarray
        Drive signal, in the unit of the recording.
    drive : Drive
        Gains and transmission.

    Returns
    -------
    (..., n) ndarray
        Nm, or N for prismatic joints.

    """
    # The usual case; a copy would double the memory of a long recording.
    scaled = u if (drive.gain == 1).all() else u * drive.gain
    return scaled if drive.is_direct else scaled @ drive.transmission


def joint_position(p: Array, drive: Drive) -> Array:
    """
    Joint positions from motor positions, ``q = transmission⁻¹ p + offset``.

    Parameters
    ----------
    p : (..., n) ndarray
        Motor positions, rad or m.
    drive : Drive
        Transmission and offsets.

    Returns
    -------
    (..., n) ndarray
        rad or m.

    """
    p = joint_velocity(p, drive)
    # The usual case; a copy would double the memory of a long recording.
    return p + drive.offset if drive.offset.any() else p


def joint_velocity(p: Array, drive: Drive) -> Array:
    """
    Joint velocities from motor velocities, ``transmission⁻¹ p``.

    Parameters
    ----------
    p : (..., n) ndarray
        Motor velocities, rad/s or m/s.
    drive : Drive
        Transmission.

    Returns
    -------
    (..., n) ndarray
        rad/s or m/s.

    """
    # A direct drive keeps the recorded values bit for bit.
    return p if drive.is_direct else p @ drive.to_joints.T


def motor_position(q: Array, drive: Drive) -> Array:
    """Positions (N, n) where they are measured, from joint positions (N, n)."""
    return np.asarray((q - drive.offset) @ drive.transmission.T)
