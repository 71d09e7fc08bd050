"""Margins of a motion to every limit, between samples too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.motion.feasibility.collision import clearances
from dynid_ros.motion.feasibility.motion_bounds import motion_bounds
from dynid_ros.motion.feasibility.planning_limits import planning_limits, PlanningLimits
from dynid_ros.motion.feasibility.scene import Scene, WAY_POINTS
from dynid_ros.motion.feasibility.torque_limit import torque_limit, TorqueLimit
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_pair import move
from dynid_ros.utilities.arrays import Array

#: Shares of a limit that rounding may cost.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class MotionMargins:
    """
    Margin to each limit; none is negative if all limits are kept.

    Attributes
    ----------
    position : (n,) ndarray
        Distance from the nearer position limit, rad or m.
    velocity, acceleration : (n,) ndarray
        Left of the limits: rad/s or m/s, rad/s² or m/s².
    torque : (n,) ndarray or None
        Left of the effort limits, Nm or N; None where the nominal parameters are unknown.
    clearance : dict of str to float
        Distance of each pair of bodies minus the clearance that it keeps, m.

    """

    position: Array
    velocity: Array
    acceleration: Array
    torque: Array | None = None
    clearance: dict[str, float] = field(default_factory=dict)

    @property
    def kept(self) -> bool:
        """Whether every limit is kept."""
        joints = [self.position, self.velocity, self.acceleration]
        if self.torque is not None:
            joints.append(self.torque)
        return bool((np.array(joints) >= -ROUNDING).all()
                    and all(value >= 0 for value in self.clearance.values()))


@dataclass(frozen=True, eq=False)
class AllLimits:
    """
    All limits of a motion.

    Attributes
    ----------
    allowed : PlanningLimits
        Position, velocity and acceleration.
    torque : TorqueLimit or None
        Effort, where nominal parameters are known.
    scene : Scene or None
        Bodies, where any are known.

    """

    allowed: PlanningLimits
    torque: TorqueLimit | None = None
    scene: Scene | None = None

    def margins(
        self, motion: FourierMotion, check: Callable[[], None] = lambda: None,
    ) -> MotionMargins:
        """Verify a motion; `check` is called again and again and may raise to end that."""
        bounds, allowed = motion_bounds(motion), self.allowed
        return MotionMargins(
            np.minimum(bounds.lower - allowed.lower, allowed.upper - bounds.upper),
            allowed.velocity - bounds.velocity,
            allowed.acceleration - bounds.acceleration,
            None if self.torque is None else self.torque.limit - self.torque.largest(motion),
            {} if self.scene is None else _least(
                self.scene, clearances(self.scene, motion, check)))

    def way(self, begin: Array, end: Array, seconds: float) -> MotionMargins:
        """Verify the straight way between two positions (n,) of rest, at points of it."""
        q, qd, qdd = move(begin, end, seconds)(np.linspace(0.0, seconds, WAY_POINTS))
        allowed, torque, scene = self.allowed, self.torque, self.scene
        return MotionMargins(
            np.minimum(q - allowed.lower, allowed.upper - q).min(axis=0),
            allowed.velocity - np.abs(qd).max(axis=0),
            allowed.acceleration - np.abs(qdd).max(axis=0),
            None if torque is None else
            torque.limit - torque.dry - np.abs(torque.torque(q, qd, qdd)).max(axis=0),
            {} if scene is None else _least(scene, scene.nearest(begin, end)))


def _least(scene: Scene, distances: Array) -> dict[str, float]:
    """Margin of each pair by its name, which several bodies of one link share."""
    least: dict[str, float] = {}
    for name, value in zip(scene.names, (distances - scene.kept).tolist(), strict=True):
        least[name] = min(value, least.get(name, np.inf))
    return least


def all_limits(arm: ArmModel, scene: Scene | None = None) -> AllLimits:
    """All known limits of an arm."""
    return AllLimits(planning_limits(arm), torque_limit(arm.memoryless), scene)
