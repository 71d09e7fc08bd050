"""Searches for the number with which an assumption predicts best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from dynid_ros.estimation.diagnosis.hypothesis import Hypothesis


def nearest(
    make: Callable[[float], Hypothesis], x: float, first: Hypothesis, step: float, settled: float,
) -> tuple[float, Hypothesis]:
    """
    Search for the number with which an explanation fits best, by halving steps.

    Parameters
    ----------
    make : callable
        Makes the explanation with a number.
    x, first : float, Hypothesis
        Where to begin, and the explanation there.
    step, settled : float
        Twice the first step, and the step after which the search ends.

    """
    while step > settled:
        step /= 2
        beside = [(y, make(y)) for y in (x - step, x + step)]
        x, first = min([(x, first), *beside], key=lambda each: each[1].cost)
    return x, first


@dataclass(frozen=True)
class Search:
    """
    Search for the number in each joint by which an assumption predicts best.

    Attributes
    ----------
    make : callable
        Makes the assumption from a hypothesis, a joint and a number; zero changes nothing.
    able : callable
        Joints of a hypothesis that it can be made of.
    coarse : tuple of float
        Numbers that are planted into a good recording, to see whether it would show them.
    starts : tuple of float
        Numbers of which the best is improved; zero if there are none.
    step, settled, band : float
        First step, where halving it ends, and below which a number is no fault.

    """

    make: Callable[[Hypothesis, int, float], Hypothesis]
    able: Callable[[Hypothesis], Sequence[int]]
    coarse: tuple[float, ...]
    starts: tuple[float, ...]
    step: float
    settled: float
    band: float

    def planted(self, base: Hypothesis) -> list[Hypothesis]:
        """Assume the coarse numbers in each joint."""
        return [self.make(base, joint, x) for joint in self.able(base) for x in self.coarse]

    def best(self, base: Hypothesis, joints: Iterable[int]) -> Iterator[Hypothesis]:
        """Assume the number that fits best in each of some joints."""
        for joint in sorted({*joints} & {*self.able(base)}):
            make = partial(self.make, base, joint)
            tried = [(x, make(x)) for x in self.starts] or [(0.0, base)]
            first = min(tried, key=lambda each: each[1].cost)
            x, found = nearest(make, *first, self.step, self.settled)
            if abs(x) > self.band:
                yield found
