# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The limits that a planned motion keeps, all of them finite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid_ros.arm.description.doubtful_limits import DEFAULT_ACCELERATION, DEFAULT_VELOCITY
from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import InputError
from dynid_ros.utilities.arrays import Array

#: Position limit taken where an arm states none, rad or m.
DEFAULT_POSITION = np.pi
#: Largest slope and curvature of the quintic step of a move from rest to rest, and its shortest
#: time, s.
SLOPE = 1.875
POLYNOMIAL_CURVATURE = 10 / np.sqrt(3)
SHORTEST_MOVE = 0.5


@dataclass(frozen=True, eq=False)
class PlanningLimits:
    """
    Limits that a planned motion keeps, (n,) each.

    Attributes
    ----------
    lower, upper : (n,) ndarray
        Position, rad or m.
    velocity, acceleration : (n,) ndarray
        Magnitudes: rad/s or m/s, rad/s² or m/s².

    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array

    @property
    def middle(self) -> Array:
        """Positions halfway between the limits, (n,)."""
        return np.asarray((self.lower + self.upper) / 2)

    def shrunk(self, share: float) -> PlanningLimits:
        """Limits shrunk by a share, towards the middle and standstill."""
        inset = share / 2 * (self.upper - self.lower)
        return PlanningLimits(
            self.lower + inset, self.upper - inset,
            (1 - share) * self.velocity, (1 - share) * self.acceleration)


def planning_limits(arm: ArmModel) -> PlanningLimits:
    """
    Planning limits of an arm, with the defaults of this module where it states none.

    Raises
    ------
    InputError
        The limits leave a joint no range.

    """
    limits = arm.motion_limits
    allowed = PlanningLimits(
        np.where(np.isfinite(limits.lower), limits.lower, -DEFAULT_POSITION),
        np.where(np.isfinite(limits.upper), limits.upper, DEFAULT_POSITION),
        np.where(np.isfinite(limits.velocity), limits.velocity, DEFAULT_VELOCITY),
        np.where(np.isfinite(limits.acceleration), limits.acceleration, DEFAULT_ACCELERATION))
    for joint, name in enumerate(arm.joint_names):
        lower, upper = allowed.lower[joint], allowed.upper[joint]
        if not lower < upper:
            raise InputError(
                f"joint '{name}' of '{arm.name}' has no range between {lower:g} and "
                f'{upper:g}, {lower - upper:.3g} too little; widen its position limits')
        for quantity in ('velocity', 'acceleration'):
            value = getattr(allowed, quantity)[joint]
            if not value > 0:
                raise InputError(
                    f"joint '{name}' of '{arm.name}' has a {quantity} limit of {value:g}, but "
                    'a motion needs one above zero')
    return allowed


def move_duration(way: Array, allowed: PlanningLimits, share: float) -> float:
    """Shortest time of a quintic over a distance (n,) within a share of the limits, s."""
    by_velocity = SLOPE * np.abs(way) / (share * allowed.velocity)
    by_acceleration = np.sqrt(POLYNOMIAL_CURVATURE * np.abs(way) / (share * allowed.acceleration))
    return max(SHORTEST_MOVE, float(by_velocity.max()), float(by_acceleration.max()))
