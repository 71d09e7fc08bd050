# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The search for the best motion: several descents, each verified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.errors import InputError
from dynid_ros.motion.excitation.deadline import Deadline, OutOfTimeError
from dynid_ros.motion.excitation.descent import Descent
from dynid_ros.motion.excitation.design_cost import DesignCost
from dynid_ros.motion.excitation.design_objective import Task
from dynid_ros.motion.excitation.information_criteria import condition_of, Information
from dynid_ros.motion.excitation.initial_guess import initial_guess
from dynid_ros.motion.feasibility.margins import AllLimits, MotionMargins
from dynid_ros.motion.feasibility.planning_limits import move_duration
from dynid_ros.motion.feasibility.scene import Scene
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_file import write_motion
from dynid_ros.motion.trajectory.motion_pair import MotionPair
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.progress import progress
from dynid_ros.utilities.summarised import Summarised

#: Points in the period of the highest harmonic at which a result is scored.
RESULT_POINTS = 60
#: Sharpness of the smoothed condition number, factor of the barriers, and steps of each stage.
DESCENT_STAGES = ((2.0, 1e-2, 60), (4.0, 3e-3, 40), (8.0, 1e-3, 60), (20.0, 3e-4, 80))
#: Random motions, the best of which becomes a validation motion.
RANDOM = 8
#: First cut of the amplitude if a limit is violated, as a share; doubled until it is kept.
FIRST_CUT = 1e-3
#: Share of the velocity and acceleration limits on the way from one motion to another.
WAY_SPEED = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class Design(Summarised):
    """
    A designed motion.

    Attributes
    ----------
    motion : FourierMotion
        The best motion.
    score : float
        Value of the objective; see `DesignObjective.score`.
    condition_number : float
        Of the base regressor, unscaled.
    margins : MotionMargins
        Margin to each limit.
    starts : int
        Number of starts.
    complete : bool
        Whether the search was complete, so that the result depends on the seed alone.
    seconds : float
        Computing time.
    pair : MotionPair or None
        The motion followed by one for validation, from `design_excitation`, if the limits leave
        one.
    arm : ArmModel
        The arm that it was made for.
    notes : dict
        Criterion, margins and course of the design in plain values, for its file.

    """

    motion: FourierMotion
    score: float
    condition_number: float
    margins: MotionMargins
    starts: int
    complete: bool
    seconds: float
    arm: ArmModel
    pair: MotionPair | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    def facts(self) -> list[tuple[str, str]]:
        """Return length, condition number and limits, for a console or a notebook."""
        motion, pair = self.motion, self.pair
        return [
            ('Design', f'for {self.arm.name}: {motion.duration:.4g} s, {motion.periods} '
                       f'periods of {motion.period:.4g} s, {motion.harmonics} harmonics'),
            ('validation', 'no other motion' if pair is None else
             f'another motion of {pair.validation.duration:.4g} s behind it'),
            ('condition number', f'{self.condition_number:.4g}'),
            ('limits', 'kept at all times' if self.margins.kept else 'NOT kept'),
            ('search', f'{self.starts} starts in {self.seconds:.3g} s'
             + ('' if self.complete else ', ended by the time'))]

    def save(self, path: str | Path) -> None:
        """
        Write the motion, with that for validation, as ``dynid design -o`` does.

        Parameters
        ----------
        path : str or Path
            File to write, such as ``excitation.yaml``.

        Raises
        ------
        ResultError
            The file cannot be written.

        """
        write_motion(Path(path), self.pair or self.motion, self.arm, self.notes)


class Search:
    """
    Descents from one start after the other, and the best motion so far.

    Parameters
    ----------
    arm : ArmModel
        The arm with the columns that will be identified.
    task : Task
        Requested motion.
    scene : Scene or None
        Obstacles.

    """

    def __init__(self, arm: ArmModel, task: Task, scene: Scene | None) -> None:
        if not task.seconds > 0:
            raise InputError(
                f'{task.seconds:g} s leave no time for one iteration of a design for '
                f"'{arm.name}'; give it a second at least")
        self._given, self._arm = arm, arm.memoryless
        self._task = task
        self._limits = AllLimits(self._arm, scene)
        self.cost = DesignCost(
            self._arm, task, self._limits, lambda: self._deadline.check())
        # Compiles the kernels and finds the base parameters before the clock runs.
        still = np.zeros((1, arm.n))
        self.cost.information.matrix(regressor(self._arm, still, still, still))
        self._best: Design | None = None
        self._begin: Array | None = None
        self._begun = self._descended = 0
        self._deadline = Deadline(task.seconds)

    def first(self, start: int) -> Array:
        """Coordinates (n, m) from which a start begins."""
        rng = np.random.default_rng([self._task.seed, start])
        return initial_guess(self.cost, self._arm, rng, self._deadline)

    def run(self) -> Design:
        """
        Descend from all starts, or from as many as the time allows.

        After each stage the better half of the descents continues (successive halving; Jamieson
        and Talwalkar 2016, AISTATS), since a stage predicts the result of a complete descent well.
        """
        complete, best = self._within_time(self._race)
        if not np.isfinite(best.score):
            raise InputError(
                f"no motion of '{self._arm.name}' was found that determines all parameters; allow "
                'a faster one or wider limits, and check the given results')
        return replace(best, starts=self._begun, complete=complete, seconds=self._deadline.gone)

    def random(self, begin: Array | None = None) -> Design:
        """
        Take the best of several random motions, not optimised.

        Parameters
        ----------
        begin : (n,) ndarray, optional
            Position of rest from which the straight way to the motion must be free, rad or m.

        Raises
        ------
        InputError
            The limits leave no motion.

        """
        self._begin = begin
        return self._within_time(self._draw)[1]

    def _within_time(self, work: Callable[[], None]) -> tuple[bool, Design]:
        """Work until the time is over; return whether all was done, and the best motion."""
        complete, why = True, ''
        self._deadline = Deadline(self._task.seconds)
        try:
            work()
        except (KeyboardInterrupt, OutOfTimeError) as stopped:
            if self._best is None and isinstance(stopped, KeyboardInterrupt):
                raise
            complete, why = False, f' in {self._task.seconds:g} s: {stopped}'.rstrip(': ')
        if self._best is None:
            raise InputError(
                f"no motion was found within all limits of '{self._arm.name}', between samples "
                f'too{why}; give it more time or wider limits')
        return complete, self._best

    def _draw(self) -> None:
        for start in range(RANDOM):
            if self._best is not None:
                self._deadline.check()
            self._offer(self.first(start))

    def _race(self) -> None:
        racing = []
        for start in range(self._task.starts):
            if self._best is not None:
                self._deadline.check()
            self._begun = start + 1
            racing.append(self._entered(start))
            self._descend(racing[-1], *DESCENT_STAGES[0])
        for stage in DESCENT_STAGES[1:]:
            racing = sorted(racing, key=self._score)[:-(-len(racing) // 2)]
            for descent in racing:
                self._descend(descent, *stage)

    def _entered(self, start: int) -> Descent:
        """Begin a descent; there is a result however little time is left."""
        first = self.first(start)
        if self._best is None:
            self._offer(first)
            self._report()
        return Descent(self.cost, first)

    def _descend(self, descent: Descent, sharpness: float, wall: float, steps: int) -> None:
        try:
            descent.run(
                self._task.objective.smoothed(sharpness), wall, steps, self._deadline.check)
        finally:
            # After an interrupt too, since every point of the descent keeps the limits.
            if descent.steps and not self._offer(descent.X):
                self._offer(descent.first)
            self._descended += 1
            self._report()

    def _score(self, descent: Descent) -> float:
        return self._judge(self._motion(descent.X))[0]

    def _offer(self, X: Array) -> bool:
        """Keep a motion if it is the best within all limits, reduced in amplitude if necessary."""
        begin = self._deadline.gone
        # The first result may take any time.
        check = self._deadline.check_end if self._best is not None else lambda: None
        try:
            return self._verified(X, check)
        except OutOfTimeError:
            return True
        finally:
            self._deadline.reserve_for_motion(self._deadline.gone - begin)

    def _verified(self, X: Array, check: Callable[[], None]) -> bool:
        share, cut = 1.0, FIRST_CUT
        center = X * (np.arange(X.shape[1]) == 0)
        while share > 0:
            check()
            motion = self._motion(center + share * (X - center))
            score, condition = self._judge(motion)
            if self._best is not None and score >= self._best.score:
                return True
            margins = self._limits.margins(motion, check)
            if margins.kept and self._reached(motion):
                self._best = Design(motion, score, condition, margins, 0, False, 0.0, self._given)
                return True
            share, cut = share - cut, 2 * cut
        return False

    def _motion(self, X: Array) -> FourierMotion:
        """Make the motion of coordinates (n, m)."""
        task = self._task
        return FourierMotion.at_rest(task.period, X[:, 0], X[:, 1:], task.periods, task.ramp)

    def _reached(self, motion: FourierMotion) -> bool:
        """Whether all limits hold on the way to a motion."""
        if self._begin is None:
            return True
        seconds = move_duration(motion.start - self._begin, self._limits.allowed, WAY_SPEED)
        return self._limits.way(self._begin, motion.start, seconds).kept

    def _judge(self, motion: FourierMotion) -> tuple[float, float]:
        """Score, and condition number of the plain base regressor."""
        states = motion.one_period(RESULT_POINTS * motion.harmonics)
        Y = regressor(self._arm, *states)
        plain = Information(self._arm, np.ones(self._arm.n)).matrix(Y)
        return self._task.objective.score(self.cost.information.matrix(Y)), condition_of(plain)

    def _report(self) -> None:
        best = np.inf if self._best is None else self._best.score
        in_all = sum(-(-self._task.starts // 2**stage) for stage in range(len(DESCENT_STAGES)))
        progress(f'start {self._begun}, best {best:.4g}', self._descended / in_all)
