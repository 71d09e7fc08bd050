# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Sensor models: encoder quantisation, noise, delay and units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.drive import COMMAND, damping_torque, Drive, motor_position
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.rigid_parameters import rigid_parameters
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.utilities.arrays import Array

#: Standard deviation of the white torque noise, relative to the joint's torque.
#: Filtered to the band of a motion, 1 to 2 % are left; good recordings of real arms leave 3 to
#: 6 %. With 2 or 5 %, friction near standstill alone is an outlier among the residuals of a Panda.
#: The constant load of a lift does not count.
TORQUE_NOISE = 0.1
#: The same for the velocity.
VELOCITY_NOISE = 1e-3
#: Counts of the encoder a turn, or over the range of a prismatic joint.
COUNTS = 2.0**16


@dataclass(frozen=True)
class SensorModel:
    """
    Sensors of all joints.

    Attributes
    ----------
    encoder_counts : float, (n,) array_like or None
        Counts of the encoder a turn (a metre for prismatic joints); None measures exactly.
    velocity_noise : float or (n,) array_like
        Standard deviation of the velocity, rad/s or m/s.
    effort_noise : float or (n,) array_like
        Standard deviation of the white noise of the torque, Nm.

    """

    encoder_counts: ArrayLike | None = 2.0**16
    velocity_noise: ArrayLike = 1e-3
    effort_noise: ArrayLike = 0.0


def quantise(q: Array, counts: ArrayLike | None, prismatic: NDArray[np.bool_]) -> Array:
    """
    Positions (N, n) quantised by an encoder.

    Parameters
    ----------
    q : (N, n) ndarray
        rad or m.
    counts : float, (n,) array_like or None
        Counts a turn (a metre for prismatic joints); None leaves the positions unchanged.
    prismatic : (n,) ndarray of bool
        Which joints are prismatic.

    Returns
    -------
    (N, n) ndarray
        rad or m.

    """
    if counts is None:
        return q
    count = np.where(prismatic, 1.0, 2 * np.pi) / np.asarray(counts)
    return np.asarray(np.round(q / count) * count)


def drive_signal(tau: Array, gravity: Array, drive: Drive) -> Array:
    """
    Drive signal of given joint torques; the inverse of `Drive`.

    Parameters
    ----------
    tau, gravity : (N, n) ndarray
        Joint torque, and the part of it that holds the arm against gravity, Nm.
    drive : Drive
        Gain, transmission and whether the signal includes gravity.

    Returns
    -------
    (N, n) ndarray
        In the unit of the signal.

    """
    torque = tau if drive.includes_gravity else tau - gravity
    return np.asarray(torque @ drive.to_joints / drive.gain)


def measure(
    arm: ArmModel, sensors: SensorModel, rng: np.random.Generator, q: Array, qd: Array, tau: Array,
) -> tuple[Array, Array, Array]:
    """
    Read the sensors at true states (N, n), in which the motors have the torque tau.

    Returns
    -------
    q, qd, u : (N, n) ndarray
        Position and velocity of the motors, and the drive signal in its unit: for a drive that
        follows commands, the command that causes this torque.

    """
    drive = arm.drive
    torque = tau + np.asarray(sensors.effort_noise) * rng.normal(size=q.shape)
    velocity = qd + np.asarray(sensors.velocity_noise) * rng.normal(size=q.shape)
    rest = np.zeros_like(q)
    gravity = rest if drive.includes_gravity else rigid_parameters(arm).torque(q, rest, rest)
    signal = drive_signal(torque + damping_torque(qd, drive), gravity, drive)
    motors = motor_position(q, drive)
    # A command has no quantisation: the encoder of the motor does not measure it.
    signal = motors + signal if drive.signal == COMMAND else signal
    position = quantise(motors, sensors.encoder_counts, arm.prismatic)
    return position, velocity @ drive.transmission.T, signal


def plausible_sensors(arm: ArmModel, torque: Array, speed: Array) -> SensorModel:
    """
    Choose sensors by the torques and speeds of a motion, not by the ratings.

    Parameters
    ----------
    arm : ArmModel
        The arm; its planning limits give the range of prismatic joints.
    torque, speed : (n,) ndarray
        Standard deviation of each joint along the motion, Nm and rad/s.

    """
    allowed = planning_limits(arm)
    travel = np.where(arm.prismatic, allowed.upper - allowed.lower, 1.0)
    return SensorModel(
        encoder_counts=COUNTS / travel, velocity_noise=VELOCITY_NOISE * speed,
        effort_noise=TORQUE_NOISE * torque)
