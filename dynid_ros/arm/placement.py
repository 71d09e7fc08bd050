"""Placements of frames, and the tool that the last link carries."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Placement:
    """
    Pose of a frame in another one.

    Attributes
    ----------
    rotation : (3, 3) ndarray
        Its columns are the axes of the frame, in the other frame.
    translation : (3,) ndarray
        Its origin in the other frame, m.

    """

    rotation: Array = field(default_factory=lambda: np.eye(3))
    translation: Array = field(default_factory=lambda: np.zeros(3))

    def then(self, other: Placement) -> Placement:
        """Return the placement of a frame that is placed in this one."""
        return Placement(
            self.rotation @ other.rotation, self.translation + self.rotation @ other.translation)


@dataclass(frozen=True, eq=False)
class Tool:
    """
    Frame fixed to one link.

    Attributes
    ----------
    placement : Placement
        Its pose in the frame of the link.
    joint : int
        Joint that moves the link; -1 for the last one.

    """

    placement: Placement = field(default_factory=Placement)
    joint: int = -1


def rotation_rpy(angles: ArrayLike) -> Array:
    """
    Rotation matrix (3, 3) of roll, pitch and yaw about fixed axes, as in URDF.

    ``Rz(yaw) Ry(pitch) Rx(roll)``; Craig, Introduction to Robotics, eq. 2.64.
    """
    (sr, sp, sy), (cr, cp, cy) = np.sin(angles), np.cos(angles)
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])
