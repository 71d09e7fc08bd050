# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Conversion between drive signals or motor positions and joint torque or positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid_ros.errors import ArmError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.text import several

#: Types of messages that may hold a drive signal.
JOINT_STATE, ARRAY = 'sensor_msgs/msg/JointState', 'std_msgs/msg/Float64MultiArray'
DYNAMIC_STATE = 'control_msgs/msg/DynamicJointState'
CONTROLLER_STATE = 'control_msgs/msg/JointTrajectoryControllerState'
#: Topic of the state of a JointTrajectoryController of ros2_controllers.
CONTROLLER_TOPIC = 'controller_state'
#: Signal of a drive that follows a position, and the same minus the measured position.
COMMAND, DEVIATION = 'command', 'deviation'
#: Origin of the gains of commands that arm.yaml does not state: none yet; ratios from the data,
#: relative to one joint; the same with a common factor by the masses of the description.
OPEN, RELATIVE, BY_MASSES = 'open', 'relative', 'masses'


@dataclass(frozen=True)
class DriveTopic:
    """
    A topic of its own for the drive signal.

    Its messages are sensor_msgs/JointState with the signal in a `field`,
    control_msgs/DynamicJointState if there is an `interface`, std_msgs/Float64MultiArray if
    there are `joints`, or, for commands on a topic of that name, the state of a
    JointTrajectoryController.

    Attributes
    ----------
    name : str
        Name; a relative one is in the namespace of the joint states.
    interface : str or None
        Interface that holds the signal.
    joints : tuple of str
        Joints in the order of the values.
    field : str
        ``effort``, or ``position`` for commands.

    """

    name: str
    interface: str | None = None
    joints: tuple[str, ...] = ()
    field: str = 'effort'

    @property
    def kind(self) -> str:
        """Type of the messages."""
        if self.interface is not None:
            return DYNAMIC_STATE
        if self.of_controller:
            return CONTROLLER_STATE
        return ARRAY if self.joints else JOINT_STATE

    @property
    def of_controller(self) -> bool:
        """Whether a JointTrajectoryController publishes its state there, references included."""
        return (self.field == 'position' and self.interface is None and not self.joints
                and self.name.rpartition('/')[2] == CONTROLLER_TOPIC)

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
    by ``q = transmission⁻¹ p + offset``. Of a command, u is the `deviation` of the motors from it,
    and the drive takes ``transmissionᵀ (damping * transmission qd)`` off that torque.

    Attributes
    ----------
    signal : str
        ``effort``, ``current``, ``voltage`` or ``command``.
    gain : (n,) ndarray
        Nm (or N) per unit of the signal; sign and torque constants included. Of a command, the
        stiffness kp of the drive, Nm/rad.
    transmission : (n, n) ndarray
        Motor positions from joint positions; the identity for joint-side recordings.
    offset : (n,) ndarray
        Joint positions where the motors read zero, rad or m.
    includes_gravity : bool
        Whether the signal includes gravity torque, as a sensor or a motor current does.
    topic : DriveTopic or None
        Where the signal is published; None if it is the effort of the joint states.
    damping : (n,) ndarray or None
        Damping kd of a drive that follows commands, Nm s/rad; None if it is unknown, so that it
        counts among the viscous friction of the joint.
    scale : str
        Where the gains come from: empty if arm.yaml states them, else `OPEN`, `RELATIVE` or
        `BY_MASSES`.
    passive : (n,) ndarray of bool or None
        Joints that no drive moves, whose signal is zero or missing; None if there are none.

    """

    signal: str
    gain: Array
    transmission: Array
    offset: Array
    includes_gravity: bool = True
    topic: DriveTopic | None = None
    damping: Array | None = None
    scale: str = ''
    passive: NDArray[np.bool_] | None = None

    @staticmethod
    def joint_torque(joints: int) -> Drive:
        """Describe a recording in Nm at the joints."""
        return Drive('effort', np.ones(joints), np.eye(joints), np.zeros(joints))

    @property
    def in_newton_metres(self) -> bool:
        """Whether the gains are stated, so that torque is in Nm."""
        if self.signal == COMMAND:
            return not self.scale
        return self.signal == 'effort' or not bool((self.gain == 1).all())

    @property
    def driven(self) -> NDArray[np.bool_]:
        """Which joints a drive moves, (n,)."""
        return np.ones(len(self.gain), np.bool_) if self.passive is None else ~self.passive

    def check_driven(self, names: Sequence[str]) -> None:
        """
        Make sure that the arm can follow a motion.

        Parameters
        ----------
        names : sequence of str
            Names of the joints.

        Raises
        ------
        ArmError
            Some joints have no drive.

        """
        passive = [name for name, driven in zip(names, self.driven, strict=True) if not driven]
        if passive:
            raise ArmError(
                f'{several(passive)} cannot follow a motion: drive.passive of arm.yaml states '
                'that no drive moves it')

    def check_topic(self, states: str) -> None:
        """
        Make sure that messages can hold the drive signal.

        Raises
        ------
        ArmError
            Commands have no topic, and joint states of that name hold none.

        """
        if self.signal == COMMAND and self.topic is None:
            raise ArmError(
                f'{states} holds no commands; name their topic in arm.yaml: drive: {{signal: '
                'command, topic: /joint_command}, or the controller_state of a '
                'JointTrajectoryController')

    def check_scale(self) -> None:
        """
        Make sure that gains are known if no complete recording can determine them.

        Raises
        ------
        ArmError
            Nobody states the stiffness of the drives.

        """
        if self.scale == OPEN:
            raise ArmError(
                'no stiffness kp of the drives is stated, which a stream and a fleet need; state '
                'kp under "drive" in arm.yaml, or identify a recording first ("dynid identify") '
                'and start from its result')

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


def deviation(u: Array, q: Array, drive: Drive) -> Array:
    """
    Subtract the measured positions of the motors from commands.

    Parameters
    ----------
    u : (..., n) ndarray
        Commands, in the frame in which positions were recorded, rad or m.
    q : (..., n) ndarray
        Positions of the joints, rad or m.
    drive : Drive
        Transmission and offsets.

    Returns
    -------
    (..., n) ndarray
        rad or m.

    """
    return np.asarray(u - motor_position(q, drive))


def damping_torque(qd: Array, drive: Drive) -> Array | float:
    """Torque (..., n) by which the known damping of drives slows joints of velocity (..., n)."""
    if drive.damping is None:
        return 0.0
    motors = qd if drive.is_direct else qd @ drive.transmission.T
    return joint_torque(motors, replace(drive, gain=drive.damping))


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
    """Convert joint positions (N, n) to those at the motors."""
    return np.asarray((q - drive.offset) @ drive.transmission.T)
