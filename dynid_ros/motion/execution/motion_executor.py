# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Phases of an exciting motion: move to its start, run, stop, hold."""

from __future__ import annotations

from collections.abc import Callable
import copy
from typing import NamedTuple

import numpy as np

from dynid_ros.errors import InputError
from dynid_ros.motion.execution.phases import ACTIVE, Event, Phase, TRANSITIONS
from dynid_ros.motion.feasibility.planning_limits import move_duration, PlanningLimits, SLOPE
from dynid_ros.motion.trajectory.fourier import quintic_step
from dynid_ros.motion.trajectory.motion_pair import Motion, MotionPair, move
from dynid_ros.utilities.arrays import Array

#: Shortest braking, s.
SHORTEST_BRAKE = 0.2


class Reference(NamedTuple):
    """
    Reference state of the arm.

    Attributes
    ----------
    q, qd, qdd : (n,) ndarray
        rad, rad/s, rad/s² (m for prismatic joints).

    """

    q: Array
    qd: Array
    qdd: Array


Path = Callable[[float], tuple[Array, Array, Array]]


class MotionExecutor:
    """
    One motion from the current position to rest at its end, on the clock of the caller.

    Stopping slows the time along the path down to standstill: the arm stays on the checked
    path. An abort brakes from the measured state instead, because the arm has left the path.

    Parameters
    ----------
    motion : FourierMotion or MotionPair
        The motion, checked already.
    allowed : PlanningLimits
        Limits of the move to the start and of the braking.
    speed : float
        Share of the velocity and acceleration limits used on the way to the start.

    Attributes
    ----------
    phase : Phase
        Current phase.
    reason : str
        Why it was aborted; empty otherwise.

    """

    def __init__(self, motion: Motion, allowed: PlanningLimits, speed: float = 0.2) -> None:
        self.motion = motion
        self.phase = Phase.IDLE
        self.reason = ''
        self._allowed = allowed
        self._speed = speed
        self._path: Path | None = None
        self._began = self._moving = 0.0
        self._brake: float | None = None
        self._braking_time = max(
            SHORTEST_BRAKE, SLOPE * float(np.max(allowed.velocity / allowed.acceleration)))

    @property
    def active(self) -> bool:
        """Whether the arm is moving."""
        return self.phase in ACTIVE

    def start(self, now: float, q: Array) -> float:
        """
        Begin with the move to the start.

        Parameters
        ----------
        now : float
            Time of a steady clock, s.
        q : (n,) ndarray
            Position of the arm, which is at rest.

        Returns
        -------
        float
            Time that the move and the motion take, s.

        Raises
        ------
        InputError
            The arm is moving, or was aborted and not reset.

        """
        self.check_free()
        self._moving = move_duration(self.motion.start - q, self._allowed, self._speed)
        self._enter(Event.START, move(q, self.motion.start, self._moving), now)
        return self._moving + self.motion.duration

    def check_free(self) -> None:
        """Raise InputError where no motion may start: moving, or aborted and not reset."""
        if self.phase is Phase.ABORTED:
            raise InputError(f'aborted because {self.reason}; call ~/stop to reset first')
        if self.active:
            raise InputError(f'{self.phase.value} already; call ~/stop first')

    def stop(self, now: float) -> None:
        """Slow down along the path and hold; after an abort, allow another start."""
        self._advance(now)
        if self._change(Event.STOP):
            self.reason = ''
        if self.phase is Phase.STOPPING and self._brake is None:
            self._brake = now

    def abort(self, reason: str) -> None:
        """Abort the motion; `brake` gives the state from which the arm slows down."""
        if self._change(Event.VIOLATION):
            self.reason, self._path = reason, None

    def brake(self, now: float, q: Array, qd: Array) -> None:
        """Slow down from a measured state (n,), (n,), within the limits, and hold there."""
        speed = np.clip(qd, -self._allowed.velocity, self._allowed.velocity)
        lower, upper = np.minimum(self._allowed.lower, q), np.maximum(self._allowed.upper, q)

        def straight(s: float) -> tuple[Array, Array, Array]:
            ahead = q + speed * s
            free = ((ahead > lower) | (speed > 0)) & ((ahead < upper) | (speed < 0))
            return np.clip(ahead, lower, upper), np.where(free, speed, 0), np.zeros_like(q)

        self._path, self._began, self._brake = straight, now, now

    def reference(self, now: float) -> Reference | None:
        """
        Return the reference at a time, or None where there is none.

        Parameters
        ----------
        now : float
            Time of the same clock, s; it never goes back.

        Returns
        -------
        Reference or None
            None before the first start, and after an abort until `brake`.

        """
        self._advance(now)
        if self._path is None:
            return None
        if self._brake is None:
            return Reference(*self._path(now - self._began))
        T = self._braking_time
        u = float(np.clip((now - self._brake) / T, 0, 1))
        # Integral of one minus the quintic step.
        s = self._brake - self._began + T * (u - u**4 * (2.5 + u * (u - 3)))
        step, slope, _ = quintic_step(np.array(u))
        rate, change = 1 - float(step), -float(slope) / T
        q, qd, qdd = self._path(s)
        return Reference(q, rate * qd, rate**2 * qdd + change * qd)

    def course(self, now: float, lead: float, rate_hz: float) -> tuple[Array, Array, Array, Array]:
        """
        Sample the reference from a time on until the arm holds, and change nothing.

        Parameters
        ----------
        now : float
            Time of the same clock, s; the arm is moving.
        lead, rate_hz : float
            Time from now to the first sample, s, and samples a second.

        Returns
        -------
        t : (N,) ndarray
            Times from now, s.
        q, qd, qdd : (N, n) ndarray
            rad, rad/s, rad/s² (m for prismatic joints).

        """
        ahead = copy.copy(self)
        times: list[float] = []
        points: list[Reference] = []
        while ahead.active:
            times.append(lead + len(times) / rate_hz)
            wanted = ahead.reference(now + times[-1])
            assert wanted is not None
            points.append(wanted)
        q, qd, qdd = np.array(points).transpose(1, 0, 2)
        return np.array(times), q, qd, qdd

    def _advance(self, now: float) -> None:
        """Enter the next phase when this one has ended."""
        if self.phase is Phase.MOVING and now - self._began >= self._moving:
            self._enter(Event.ARRIVED, self.motion.evaluate, self._began + self._moving)
        since, motion = now - self._began, self.motion
        if isinstance(motion, MotionPair) and since >= motion.excitation.duration:
            self._change(Event.EXCITED)
        if since >= motion.duration:
            self._change(Event.ENDED)
        if (self.phase is Phase.STOPPING and self._brake is not None
                and now - self._brake >= self._braking_time):
            self._change(Event.RESTED)

    def _enter(self, event: Event, path: Path, began: float) -> None:
        """Follow a path from a time on."""
        if self._change(event):
            self._path, self._began, self._brake = path, began, None

    def _change(self, event: Event) -> bool:
        """Change the phase as the table says, and return whether it did."""
        after = TRANSITIONS.get((self.phase, event))
        if after is None:
            return False
        self.phase = after
        return True
