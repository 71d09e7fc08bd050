"""Time that a search may take, looked at in every phase of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

#: Share of the time by which the verification of the last motion may exceed it.
OVERRUN = 0.15
#: Largest share of the time that is kept for that verification.
LARGEST_RESERVE = 0.5


class OutOfTimeError(Exception):
    """Ends a phase of a search; it never leaves the search."""


def now() -> float:
    """Return the time of the clock that searches look at, s."""
    return perf_counter()


@dataclass
class Deadline:
    """
    End of a search.

    Attributes
    ----------
    seconds : float
        Time from its start to its end, s.
    reserve : float
        Part at the end that is kept for the verification of the last motion, s.

    """

    seconds: float
    reserve: float = 0.0
    _begin: float = field(default_factory=lambda: now())

    @property
    def gone(self) -> float:
        """Time since the start, s."""
        return now() - self._begin

    @property
    def late(self) -> bool:
        """Whether no further step may begin."""
        return self.gone + min(self.reserve, LARGEST_RESERVE * self.seconds) > self.seconds

    def check(self) -> None:
        """Raise where no further step may begin."""
        if self.late:
            raise OutOfTimeError

    def check_end(self) -> None:
        """Raise where not even the verification of a motion may go on."""
        if self.gone > (1 + OVERRUN) * self.seconds:
            raise OutOfTimeError
