# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A joint_trajectory_controller in the loop of a simulated arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.motion.execution.motion_executor import Reference
from dynid_ros.motion.execution.tracking_control import ComputedTorque, Gains
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.simulation.joint_trajectory import Code, JointTrajectory
from dynid_ros.utilities.arrays import Array

#: Default of the largest distance from the trajectory on its way and at its end, rad or m.
PATH_TOLERANCE = 0.2
GOAL_TOLERANCE = 0.05
#: Velocity at which the arm counts as stopped at the end, rad/s or m/s.
STOPPED = 0.01
#: Time after the end for the arm to arrive, s, by default.
GOAL_TIME = 1.0
#: Reason for the end of a goal that another one replaced.
REPLACED = 'replaced by another trajectory'


class Status(IntEnum):
    """Final status of a goal, as in action_msgs/msg/GoalStatus."""

    SUCCEEDED = 4
    CANCELED = 5
    ABORTED = 6


class Outcome(NamedTuple):
    """Outcome of a goal: status, error code and a text for the user."""

    status: Status
    code: Code
    reason: str


@dataclass(eq=False)
class TrajectoryGoal:
    """
    One trajectory to be run.

    Attributes
    ----------
    trajectory : JointTrajectory
        In joint coordinates.
    start : float
        Time of the arm at which the time of the trajectory is zero, s.
    path, end : (n,) ndarray
        Largest distances from it on the way and at the end, rad or m; infinite if unbounded.
    patience : float
        Time after the end for the arm to arrive, s.
    outcome : Outcome or None
        None while it runs.

    """

    trajectory: JointTrajectory
    start: float
    path: Array
    end: Array
    patience: float = GOAL_TIME
    outcome: Outcome | None = None


class TrajectoryController:
    """
    Control that moves an arm along trajectories and holds it at their end.

    A new goal replaces the previous one and starts at the measured state; one that is cancelled or
    aborted ends in a constant deceleration of each joint by its limit.

    Parameters
    ----------
    arm : ArmModel
        Limits, for the deceleration, and names.
    control : ComputedTorque
        Of the same arm; it follows trajectories without efforts.
    gains : Gains
        PD control that efforts are added to.

    Attributes
    ----------
    moving : bool
        Whether a trajectory or the deceleration after it is under way.

    """

    def __init__(self, arm: ArmModel, control: ComputedTorque, gains: Gains) -> None:
        self.moving = False
        self._names = arm.joint_names
        self._deceleration = planning_limits(arm).acceleration
        self._control = control
        self._gains = gains
        self._goal: TrajectoryGoal | None = None
        self._course: JointTrajectory | None = None
        self._start = 0.0
        self._begin: Callable[[float, Array, Array], None] | None = None

    def follow(self, goal: TrajectoryGoal) -> None:
        """Run a goal from the next step on, instead of the one before."""
        self._conclude(Status.ABORTED, Code.INVALID_GOAL, REPLACED)
        self._goal, self._begin, self.moving = goal, self._join, True

    def cancel(self) -> None:
        """Abort the goal, if any, and come to rest."""
        if self._goal is not None:
            self._conclude(Status.CANCELED, Code.SUCCESSFUL, 'cancelled')
            self._begin = self._brake

    def release(self) -> None:
        """Release the arm."""
        self._course = None

    def torque(self, t: float, q: Array, qd: Array) -> Array | None:
        """
        Control one step.

        Parameters
        ----------
        t : float
            Time of the arm, s.
        q, qd : (n,) ndarray
            rad, rad/s.

        Returns
        -------
        (n,) ndarray or None
            Nm; None before the first goal.

        """
        if self._begin is not None:
            self._begin(t, q, qd)
            self._begin = None
        if self._course is None:
            return None
        wanted = self._course.sample(t - self._start)
        if self._goal is not None and self._judge(self._goal, t, q, qd, wanted):
            self._brake(t, q, qd)
            wanted = self._course.sample(0.0)
        self.moving = self._goal is not None or t - self._start < self._course.end
        given = self._course.feed_forward(t - self._start)
        if given is None:
            return self._control.torque(q, qd, *wanted)
        return given + self._gains.torque(q, qd, wanted.q, wanted.qd)

    def _join(self, t: float, q: Array, qd: Array) -> None:
        """Begin the goal from the current state."""
        assert self._goal is not None
        self._start = self._goal.start
        self._course = self._goal.trajectory.joined(t - self._start, q, qd)

    def _brake(self, t: float, q: Array, qd: Array) -> None:
        """Decelerate each joint by its limit, and hold it where it stops."""
        slow = np.sign(qd) * self._deceleration
        stop = np.abs(qd) / self._deceleration
        times = np.unique(np.append(stop, 0.0))
        # Cubics between positions and velocities reproduce the parabolas.
        s = np.minimum(times[:, None], stop)
        self._start = t
        self._course = JointTrajectory(
            times, q + qd * s - slow * s**2 / 2, qd - slow * s, np.full_like(s, np.nan))

    def _judge(
        self, goal: TrajectoryGoal, t: float, q: Array, qd: Array, wanted: Reference
    ) -> bool:
        """End a reached or violated goal; return whether the arm must stop."""
        away = np.abs(q - wanted.q)
        late = t - self._start - goal.trajectory.end
        if late < 0:
            lost = away > goal.path
            if lost.any():
                self._conclude(
                    Status.ABORTED, Code.PATH_TOLERANCE_VIOLATED, self._says(away, goal.path)
                    + ' of the trajectory')
            return bool(lost.any())
        if (away <= goal.end).all() and (np.abs(qd) <= STOPPED).all():
            self._conclude(Status.SUCCEEDED, Code.SUCCESSFUL, 'goal reached')
            return False
        if late > goal.patience:
            moving = '' if (away > goal.end).any() else ', and still moves'
            self._conclude(
                Status.ABORTED, Code.GOAL_TOLERANCE_VIOLATED, self._says(away, goal.end)
                + f' of the goal {goal.patience:g} s after the end{moving}')
            return True
        return False

    def _says(self, away: Array, tolerance: Array) -> str:
        joint = int(np.argmax(away - tolerance))
        return (f"joint '{self._names[joint]}' is {away[joint]:.3g} away, tolerance "
                f'{tolerance[joint]:.3g},')

    def _conclude(self, status: Status, code: Code, reason: str) -> None:
        if self._goal is not None:
            self._goal.outcome = Outcome(status, code, reason)
            self._goal = None
