"""Series that a page draws, in bounded memory however long the nodes run."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class History:
    """
    Rows over time.

    Parameters
    ----------
    columns : int
        Values of a row.
    capacity : int
        Rows that are kept.
    whole : bool
        Whether the series reaches back to the first row, ever more coarsely, instead of holding
        the newest rows.

    """

    def __init__(self, columns: int, capacity: int, whole: bool = False) -> None:
        self._rows = np.zeros((2 * capacity, 1 + columns))
        self._capacity = capacity
        self._whole = whole
        self._step, self._skipped, self._count = 1, 0, 0

    def add(self, t: float, values: ArrayLike) -> None:
        """Append a row; one of a clock that was set back begins the series anew."""
        if self._count and t < self._rows[self._count - 1, 0]:
            self._step, self._skipped, self._count = 1, 0, 0
        row = np.append(t, values)
        # The newest row is always there, and stays if it is its turn.
        if self._skipped:
            self._rows[self._count - 1] = row
        else:
            self._make_room()
            self._rows[self._count] = row
            self._count += 1
        self._skipped = (self._skipped + 1) % self._step

    def series(self) -> tuple[Array, Array]:
        """Return copies of the times (k,) and the values (k, columns)."""
        rows = self._rows[max(0, self._count - (2 if self._whole else 1) * self._capacity):
                          self._count].copy()
        return rows[:, 0], rows[:, 1:]

    def _make_room(self) -> None:
        if self._count < len(self._rows):
            return
        if self._whole:
            kept = self._rows[::2].copy()
            self._step *= 2
        else:
            kept = self._rows[self._capacity:].copy()
        self._count = len(kept)
        self._rows[:self._count] = kept
