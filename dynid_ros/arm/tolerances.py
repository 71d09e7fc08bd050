"""How far the geometry and the readings of an arm may be off."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GEOMETRY = ('alpha', 'a', 'd', 'theta')


@dataclass(frozen=True, eq=False)
class Tolerances:
    """
    Standard deviations of errors, all independent of each other.

    Attributes
    ----------
    base, mounting, tool : (6,) ndarray
        Pose of the body in the world, of the arm on the body and of the tool on its link:
        rotation about x, y, z (rad), then translation along x, y, z (m).
    joints : dict of str to (n,) ndarray
        ``alpha``, ``a``, ``d`` and ``theta`` of each row of the table of a DH arm (rad, m), or
        ``rotation`` and ``translation`` of each joint placement of any other arm (the same about
        or along each axis), and ``reading``, the error of each joint position (rad, or m for
        prismatic joints). What is absent is taken as exact.

    """

    base: Array = field(default_factory=lambda: np.zeros(6))
    mounting: Array = field(default_factory=lambda: np.zeros(6))
    tool: Array = field(default_factory=lambda: np.zeros(6))
    joints: dict[str, Array] = field(default_factory=dict)
