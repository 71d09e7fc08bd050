"""What motion is wanted, and what a design gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dynid_ros.excitation.fourier import FourierMotion
from dynid_ros.excitation.goal import Goal
from dynid_ros.excitation.margins import Margins

#: Told the start, the seconds gone and the best score so far.
Progress = Callable[[int, float, float], None]


@dataclass(frozen=True)
class Task:
    """
    What motion is wanted, and how long its design may take.

    Attributes
    ----------
    period : float
        Period of the fundamental, s.
    harmonics : int
        Number of harmonics.
    periods : int
        Periods at full amplitude.
    ramp : float
        Time in which the amplitude grows and shrinks, s.
    goal : Goal
        What is to be achieved.
    starts : int
        Random motions from which the design starts; the best result counts.
    seconds : float
        Time after which the best so far is taken. Where it does not cut in, the same seed gives
        the same motion.
    seed : int
        Of the random motions.

    """

    period: float = 10.0
    harmonics: int = 8
    periods: int = 3
    ramp: float = 0.0
    goal: Goal = field(default_factory=Goal)
    starts: int = 3
    seconds: float = 20.0
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Design:
    """
    A designed motion.

    Attributes
    ----------
    motion : FourierMotion
        The best motion.
    score : float
        What the goal makes of it; see `Goal.score`.
    condition_number : float
        Of the base regressor, columns as they are.
    margins : Margins
        What it leaves of each limit.
    starts : int
        Starts that were made.
    complete : bool
        Whether all starts were descended to their end, so that the seed alone decides.
    seconds : float
        Time that it took.

    """

    motion: FourierMotion
    score: float
    condition_number: float
    margins: Margins
    starts: int
    complete: bool
    seconds: float
