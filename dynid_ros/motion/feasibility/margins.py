"""Margins of a motion to every limit, between samples too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    joints : dict of str to (n,) ndarray
        What is left of the limits of ``position`` (the nearer one), ``velocity`` and
        ``acceleration``, rad or m and their rates, and of ``torque``, Nm or N, where the nominal
        parameters are known.
    clearance : dict of str to float
        Distance of each pair of bodies minus the clearance that it keeps, m.

    """

    joints: dict[str, Array]
    clearance: dict[str, float]

    @property
    def kept(self) -> bool:
        """Whether every limit is kept."""
        return (all(bool((values >= -ROUNDING).all()) for values in self.joints.values())
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
        return self._left(
            motion_bounds(motion), None if self.torque is None else self.torque.largest(motion),
            None if self.scene is None else clearances(self.scene, motion, check))

    def way(self, begin: Array, end: Array, seconds: float) -> MotionMargins:
        """Verify the straight way between two positions (n,) of rest, at points of it."""
        q, qd, qdd = move(begin, end, seconds)(np.linspace(0.0, seconds, WAY_POINTS))
        torque, scene = self.torque, self.scene
        return self._left(
            PlanningLimits(q.min(axis=0), q.max(axis=0), *np.abs([qd, qdd]).max(axis=1)),
            None if torque is None else
            torque.dry + np.abs(torque.torque(q, qd, qdd)).max(axis=0),
            None if scene is None else scene.nearest(begin, end))

    def _left(
        self, reached: PlanningLimits, torque: Array | None, distances: Array | None,
    ) -> MotionMargins:
        """Subtract what a motion reaches from the limits."""
        allowed = self.allowed
        joints = {
            'position': np.minimum(reached.lower - allowed.lower, allowed.upper - reached.upper),
            'velocity': allowed.velocity - reached.velocity,
            'acceleration': allowed.acceleration - reached.acceleration}
        if self.torque is not None and torque is not None:
            joints['torque'] = self.torque.limit - torque
        least: dict[str, float] = {}
        if self.scene is not None and distances is not None:
            # Several bodies of one link share a name.
            for name, value in zip(self.scene.names, distances - self.scene.kept, strict=True):
                least[name] = min(float(value), least.get(name, np.inf))
        return MotionMargins(joints, least)


def all_limits(arm: ArmModel, scene: Scene | None = None) -> AllLimits:
    """All known limits of an arm."""
    return AllLimits(planning_limits(arm), torque_limit(arm.memoryless), scene)
