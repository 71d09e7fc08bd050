"""Noise of the stream beyond the band of the identification, as a level by rate."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from dynid_ros.contact.alarm_levels import LEAST, PIECE, tail_level

Array = NDArray[np.float64]

#: Pieces that are remembered, ten minutes of them, and those that are needed, five seconds.
PIECES, NEEDED = 1200, 2 * LEAST


class StreamNoise:
    """
    Largest values of the last pieces of motion, and of those of rest.

    Motor torque ripples while an arm moves, and an encoder is quiet while it rests; what is
    learned of the one says nothing of the other.

    Parameters
    ----------
    joints : int
        n.
    rate : float
        Wanted rate at which a joint exceeds its level, 1/s.

    """

    def __init__(self, joints: int, rate: float) -> None:
        self._rate = rate
        self._peaks = [[deque[float](maxlen=PIECES) for _ in range(joints)] for _ in range(2)]
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
        for joint in np.flatnonzero(good).tolist():
            own = self._peaks[int(moving)][joint]
            own.append(float(peaks[joint]))
            if len(own) >= NEEDED:
                self._levels[int(moving), joint] = tail_level(np.array(own), PIECE, self._rate)
