"""Noise of the stream beyond the band of the identification, as a level by rate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.contact.alarm_levels import LEAST, PIECE, tail_level

Array = NDArray[np.float64]

#: Pieces that are remembered, ten minutes of them, and those that are needed, five seconds.
PIECES, NEEDED = 1200, 2 * LEAST


class StreamNoise:
    """
    Largest values of the last pieces of motion, and of those of rest.

    Motor torque ripples while an arm moves, and an encoder is quiet while it rests: the noise
    of one does not predict that of the other. By the mean of its joint, the values of all
    joints make one tail, as in `alarm_levels`.

    Parameters
    ----------
    joints : int
        n.
    rate : float
        Wanted rate at which a joint exceeds its level, 1/s.

    """

    def __init__(self, joints: int, rate: float) -> None:
        self._rate = rate
        # Of rest and motion; NaN where a joint felt a contact.
        self._peaks = np.full((2, PIECES, joints), np.nan)
        self._count = [0, 0]
        self._levels = np.full((2, joints), np.inf)

    def level(self, moving: bool) -> Array:
        """Level of each joint, (n,), Nm; infinite until enough is known."""
        return np.asarray(self._levels[int(moving)])

    def add(self, moving: bool, peaks: Array, good: NDArray[np.bool_]) -> None:
        """
        Take in one piece of the stream.

        Parameters
        ----------
        moving : bool
            Whether the arm moved.
        peaks : (n,) ndarray
            Largest value of each joint, Nm.
        good : (n,) ndarray of bool
            Joints that felt no contact.

        """
        kind = int(moving)
        own = self._peaks[kind]
        own[self._count[kind] % PIECES] = np.where(good, peaks, np.nan)
        self._count[kind] += 1
        there = np.isfinite(own)
        enough = there.sum(axis=0) >= NEEDED
        if enough.any():
            usual = np.nanmean(own[:, enough], axis=0)
            relative = own[:, enough] / np.where(usual > 0, usual, 1.0)
            self._levels[kind, enough] = usual * tail_level(
                relative[there[:, enough]], PIECE, self._rate)
