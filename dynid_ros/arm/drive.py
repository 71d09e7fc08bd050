"""From what is recorded at the drives to what happens at the joints."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import Drive

Array = NDArray[np.float64]


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
    return scaled if is_direct(drive) else scaled @ drive.transmission


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
    return joint_velocity(p, drive) + drive.offset


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
    return p if is_direct(drive) else p @ np.linalg.inv(drive.transmission).T


def is_direct(drive: Drive) -> bool:
    """Whether the drives move the joints one to one."""
    return bool((drive.transmission == np.eye(len(drive.gain))).all())
