# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Margins of a motion to every limit, between samples too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.motion.feasibility.clearance import clearances
from dynid_ros.motion.feasibility.motion_bounds import motion_bounds
from dynid_ros.motion.feasibility.planning_limits import planning_limits, PlanningLimits
from dynid_ros.motion.feasibility.scene import Scene, WAY_POINTS
from dynid_ros.motion.feasibility.torque_limit import torque_limit
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_pair import move
from dynid_ros.utilities.arrays import Array

#: Rounding, as a share of a limit.
LIMIT_ROUNDING = 1e-9


class AllLimits:
    """
    All known limits of an arm.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    scene : Scene or None
        Bodies, where any are known.

    Attributes
    ----------
    allowed : PlanningLimits
        Position, velocity and acceleration.
    torque : TorqueLimit or None
        Effort, where nominal parameters are known.

    """

    def __init__(self, arm: ArmModel, scene: Scene | None) -> None:
        self.allowed, self.torque = planning_limits(arm), torque_limit(arm.memoryless)
        self.scene = scene

    def margins(
        self, motion: FourierMotion, check: Callable[[], None] = lambda: None,
    ) -> MotionMargins:
        """Verify a motion; `check` is called repeatedly and may raise to end that."""
        return MotionMargins(
            self, motion_bounds(motion),
            None if self.torque is None else self.torque.largest(motion),
            None if self.scene is None else clearances(self.scene, motion, check))

    def way(self, begin: Array, end: Array, seconds: float) -> MotionMargins:
        """Verify the straight way between two positions (n,) of rest, at points of it."""
        q, qd, qdd = move(begin, end, seconds)(np.linspace(0.0, seconds, WAY_POINTS))
        torque, scene = self.torque, self.scene
        return MotionMargins(
            self, PlanningLimits(q.min(axis=0), q.max(axis=0), *np.abs([qd, qdd]).max(axis=1)),
            None if torque is None else
            torque.dry + np.abs(torque.torque(q, qd, qdd)).max(axis=0),
            None if scene is None else scene.nearest(begin, end))


class MotionMargins:
    """
    Margin to each limit; none is negative if all limits are kept.

    Parameters
    ----------
    limits : AllLimits
        The limits.
    reached : PlanningLimits
        Largest values that a motion reaches, beside the limits of the joints.
    torque : (n,) ndarray or None
        Largest torque, Nm or N, where the nominal parameters are known.
    distances : (P,) ndarray or None
        Least distance of each pair of bodies, m, if there are any.

    Attributes
    ----------
    joints : dict of str to (n,) ndarray
        Margins of ``position`` (to the nearer limit), ``velocity`` and ``acceleration``, rad or m
        and their rates, and of ``torque`` if it is known.
    clearance : dict of str to float
        Distance of each pair of bodies minus the clearance that it keeps, m.

    """

    def __init__(
        self, limits: AllLimits, reached: PlanningLimits, torque: Array | None,
        distances: Array | None,
    ) -> None:
        allowed = limits.allowed
        self.joints = {
            'position': np.minimum(reached.lower - allowed.lower, allowed.upper - reached.upper),
            'velocity': allowed.velocity - reached.velocity,
            'acceleration': allowed.acceleration - reached.acceleration}
        if limits.torque is not None and torque is not None:
            self.joints['torque'] = limits.torque.limit - torque
        self.clearance: dict[str, float] = {}
        if limits.scene is not None and distances is not None:
            # Several bodies of one link share a name.
            for name, value in zip(
                    limits.scene.names, distances - limits.scene.kept, strict=True):
                self.clearance[name] = min(float(value), self.clearance.get(name, np.inf))

    @property
    def kept(self) -> bool:
        """Whether every limit is kept."""
        return (all(bool((values >= -LIMIT_ROUNDING).all()) for values in self.joints.values())
                and all(value >= 0 for value in self.clearance.values()))
