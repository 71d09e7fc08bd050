# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Control of a motion: states, faults and requests in, commands out; no clock, no topics.

The stages from the file of a motion to a command, each with its input and output:

1. `load_motion`: excitation.yaml → `MotionExecutor`, with a motion that keeps all limits
2. `StateWatch`: joint state → `MotionState`, whose publisher is known
3. `SafetyMonitor` and `LimitWatch`: `MotionState` → `Violation`, which aborts, or None
4. `MotionExecutor`: time → `Reference`
5. `Output`: `MotionState` and `Reference` → torque, or a goal of a controller
"""

from __future__ import annotations

from collections import deque

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.motion.execution.motion_executor import MotionExecutor, Reference
from dynid_ros.motion.execution.motion_output import MotionState, Output
from dynid_ros.motion.execution.phases import Phase, WATCHED
from dynid_ros.motion.execution.safety_monitor import Bound, LimitWatch, SafetyMonitor, Violation
from dynid_ros.motion.execution.start_checks import check_start
from dynid_ros.motion.feasibility.scene import Scene
from dynid_ros.utilities.arrays import Array

#: Most and fewest intervals between states, whose median is the period.
INTERVALS, FEWEST_INTERVALS = 50, 5


class MotionControl:
    """
    Take states, faults and requests, and command an arm through its output.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    executor : MotionExecutor
        Its motion.
    output : Output
        Way of the commands.
    scene : Scene or None
        Bodies that must not touch, where known.
    tracking : float
        Largest distance from where the arm should be, rad or m.
    timeout : float
        Age from which the last state counts as unknown, s.
    dry : bool
        Whether the output commands nothing, so that the arm does not have to follow.

    Attributes
    ----------
    last : MotionState or None
        The last usable state.
    violation : Violation or None
        Why the motion was aborted last.

    """

    def __init__(
        self, arm: ArmModel, executor: MotionExecutor, output: Output, scene: Scene | None,
        tracking: float, timeout: float, dry: bool = False,
    ) -> None:
        self._arm = arm
        self._executor = executor
        self._output = output
        self._scene = scene
        self._monitor = SafetyMonitor(arm, tracking)
        self._limits = LimitWatch(arm)
        self._timeout = timeout
        self._dry = dry
        self._newest = self._seen = 0.0
        self._read: float | None = None
        self._intervals: deque[float] = deque(maxlen=INTERVALS)
        self.last: MotionState | None = None
        self.violation: Violation | None = None

    @property
    def phase(self) -> Phase:
        """Return the current phase."""
        return self._executor.phase

    @property
    def watched(self) -> bool:
        """Whether a violated bound aborts the motion."""
        return self.phase in WATCHED

    @property
    def active(self) -> bool:
        """Whether the arm is moving."""
        return self._executor.active

    @property
    def period(self) -> float | None:
        """Return the usual period of usable states, s; None before there were some."""
        measured = [interval for interval in self._intervals if interval > 0]
        return float(np.median(measured)) if len(measured) >= FEWEST_INTERVALS else None

    def age(self, now: float) -> float:
        """Age of the last usable state at a time, s; infinite if there was none."""
        return self._tick(now) - self._seen if self.last is not None else np.inf

    def stale(self, now: float) -> bool:
        """Whether the last usable state is too old to act on, or none has come."""
        return self.age(now) > self._timeout

    def start(self, now: float) -> float:
        """
        Begin with the move to the start.

        Parameters
        ----------
        now : float
            Time of the caller's clock, s. A step back of it counts as no time.

        Returns
        -------
        float
            Time that the move and the motion take, s.

        Raises
        ------
        InputError
            The arm is moving, was aborted and not reset, or may not start where it is.

        """
        self.check_free()
        assert self.last is not None, 'the caller makes sure that states come'
        check_start(
            self._arm, self.last.q, self.last.qd, self._executor.motion.start, self._scene)
        time = self._time(now)
        seconds = self._executor.start(time, self.last.q)
        self._output.begin(self._executor, time)
        return seconds

    def check_free(self) -> None:
        """Raise InputError where no motion may start: moving, or aborted and not reset."""
        self._executor.check_free()

    def leave(self) -> None:
        """Leave an arm that was moved with a command to hold its last position."""
        if self.last is not None and self.phase is not Phase.IDLE:
            self._output.hold(self.last)

    def stop(self, now: float) -> None:
        """Slow down along the path and hold; after an abort, allow another start."""
        before, time = self.phase, self._time(now)
        self._executor.stop(time)
        if self.phase is Phase.STOPPING and before is not Phase.STOPPING:
            self._output.begin(self._executor, time)

    def fault(self, violation: Violation) -> None:
        """Abort the motion, if there is one, and hold the last position of the arm."""
        if not self.watched:
            return
        self.violation = violation
        self._executor.abort(violation.text)
        if self.last is not None:
            self._output.hold(self.last)

    def notice_silence(self, now: float, why: str = '') -> None:
        """Abort the motion if the last state is too old; `why` may name the reason."""
        if self.watched and self.stale(now):
            self.fault(Violation(
                Bound.SILENCE,
                why or f'no usable joint state has come for {1000 * self.age(now):.0f} ms'))

    def take(
        self, now: float, state: MotionState, mixed: bool = False,
    ) -> tuple[Reference, Array] | None:
        """
        Take in a state, and send the next command.

        Parameters
        ----------
        now : float
            Time of the caller's clock, s. A step back of it counts as no time.
        state : MotionState
            Measured.
        mixed : bool
            Whether several nodes publish states. The state may then be of another arm, so that it
            can only abort a motion.

        Returns
        -------
        tuple of Reference and (n,) ndarray, or None
            Where the arm should be, and the torque that was commanded, Nm; None if there is no
            reference.

        """
        time = self._time(now)
        following = self.watched and not self._dry
        problem = (
            self._monitor.violation(
                state.q, state.qd, self._executor.reference(time) if following else None,
                self._output.ahead)
            or self._limits.violation(state.qd, state.tau))
        if problem and self.watched:
            # Act on this state only if the next one confirms it.
            self.fault(problem)
            return None
        if mixed or (problem and problem.bound is Bound.NUMBER):
            return None
        if self.last is not None:
            self._intervals.append(self._newest - self._seen)
        self.last, self._seen = state, self._newest
        wanted = self._executor.reference(time)
        if wanted is None and self.phase is not Phase.IDLE:
            self._executor.brake(time, state.q, state.qd)
            wanted = self._executor.reference(time)
        if wanted is None:
            return None
        tau, problem = self._output.follow(time, state, wanted)
        if problem and self.watched and not self._dry:
            self.fault(problem)
            return None
        return wanted, tau

    def _time(self, now: float) -> float:
        """Time of the motion, s."""
        return self._output.clock(self._tick(now))

    def _tick(self, now: float) -> float:
        """Time that starts with the clock and adds its forward steps, s."""
        self._newest = now if self._read is None else self._newest + max(now - self._read, 0.0)
        self._read = now
        return self._newest
