# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The course of a start: the way from the current position to the motion, and the motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.motion.feasibility.planning_limits import move_duration, PlanningLimits, SLOPE
from dynid_ros.motion.trajectory.motion_pair import move
from dynid_ros.pages.viewer.sources.track import at_times
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    from dynid_ros.simulation.joint_trajectory import JointTrajectory


class Course:
    """
    The course of a start: a motion, and the way to its start.

    Parameters
    ----------
    motion : JointTrajectory
        The motion, as its publisher reported it.
    q : (n,) ndarray
        Current position.
    allowed : PlanningLimits
        Limits that determine the time of the way to the start.
    start_speed : float
        Share of them that it uses.

    Attributes
    ----------
    approach, duration : float
        Time of the way to the start, and of all, s.
    lower, upper, velocity : (n,) ndarray
        Range of each joint and its largest velocity, over both.

    """

    def __init__(
        self, motion: JointTrajectory, q: Array, allowed: PlanningLimits, start_speed: float,
    ) -> None:
        way = motion.q[0] - q
        self.motion, self._begin = motion, q
        self.approach = move_duration(way, allowed, start_speed)
        self.duration = self.approach + motion.end
        self.lower = np.minimum(q, motion.q.min(axis=0))
        self.upper = np.maximum(q, motion.q.max(axis=0))
        self.velocity = np.maximum(
            SLOPE * np.abs(way) / self.approach, np.abs(motion.qd).max(axis=0))

    def at(self, t: float) -> Array:
        """Return the position (n,) after a time, s."""
        if t < self.approach:
            return move(self._begin, self.motion.q[0], self.approach)(t)[0]
        return at_times(t - self.approach, self.motion.t, self.motion.q)
