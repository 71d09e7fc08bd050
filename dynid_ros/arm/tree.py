"""What a description of an arm says, before the settings of ``arm.yaml`` are added."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import Array, JointLimits
from dynid_ros.arm.placement import Placement


@dataclass(frozen=True)
class KinematicTree:
    """
    Kinematics, limits and nominal inertia of n joints; fields as in `ArmModel`.

    Attributes
    ----------
    name : str
        Name that the description gives the arm; empty if it gives none.
    joint_names : tuple of str
        Names of the n joints.
    parent : (n,) ndarray of int64
        Joint that carries joint i, -1 for the base; always smaller than i.
    rotation, translation : (n, 3, 3) and (n, 3) ndarray
        Placement of the joint frame in the link frame of its parent, at q = 0; m.
    prismatic : (n,) ndarray of bool
        Prismatic joints; the others are revolute.
    axis : (n, 3) ndarray
        Unit joint axis in the joint frame.
    limits : JointLimits
        Limits of the joints.
    inertial : (n, 10) ndarray or None
        Nominal inertial parameters of the links, if known.
    dh : str
        ``mdh`` or ``dh`` if a table of that convention says all this, else empty.
    tool : Placement
        Where the description ends, in the frame of the last link.

    """

    name: str
    joint_names: tuple[str, ...]
    parent: NDArray[np.int64]
    rotation: Array
    translation: Array
    prismatic: NDArray[np.bool_]
    axis: Array
    limits: JointLimits
    inertial: Array | None = None
    dh: str = ''
    tool: Placement = field(default_factory=Placement)
