# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Time limit of a search, checked in each of its phases."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

#: Share of the time by which the verification of the last motion may exceed it.
OVERRUN = 0.15
#: Share of the time after which the search starts from the first motion found. If finding it takes
#: longer, no descent ends in time.
FIRST_MOTION_SHARE = 0.2
#: Largest share of the time that is kept for that verification.
LARGEST_RESERVE = 0.5


class OutOfTimeError(Exception):
    """End a phase of a search; it never leaves the search."""


def now() -> float:
    """Return the time of the clock of searches, s."""
    return perf_counter()


@dataclass
class Deadline:
    """
    End of a search.

    Attributes
    ----------
    seconds : float
        Time from its start to its end, s.

    """

    seconds: float
    _motion: float = 0.0
    _begin: float = field(default_factory=lambda: now())

    @property
    def gone(self) -> float:
        """Time since the start, s."""
        return now() - self._begin

    @property
    def late(self) -> bool:
        """Whether no further step may begin."""
        reserve = min(self._motion, LARGEST_RESERVE * self.seconds)
        return self.gone + reserve > self.seconds

    @property
    def far_gone(self) -> bool:
        """Whether it is late enough to continue with the first motion found."""
        return self.gone > FIRST_MOTION_SHARE * self.seconds

    def reserve_for_motion(self, seconds: float) -> None:
        """Reserve the longest verification of a motion so far for the last one, s."""
        self._motion = max(self._motion, seconds)

    def check(self) -> None:
        """Raise where no further step may begin."""
        if self.late:
            raise OutOfTimeError

    def check_end(self) -> None:
        """Raise where not even the verification of a motion may go on."""
        if self.gone > (1 + OVERRUN) * self.seconds:
            raise OutOfTimeError
