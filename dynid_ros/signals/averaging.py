"""Averages over a fixed number of samples of a stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.compiled import kernel
from dynid_ros.signals.saved import Saved

Array = NDArray[np.float64]


class Averager(Saved):
    """
    Keep one sample of so many: their mean.

    Parameters
    ----------
    step : int
        Samples to average.
    columns : int
        Number of signals c.

    Attributes
    ----------
    total : (c,) ndarray
        Sum of the samples since the last mean.
    count : int
        Their number.

    """

    saved = ('total', 'count')

    def __init__(self, step: int, columns: int) -> None:
        self._step = step
        self.total = np.zeros(columns)
        self.count = 0

    def reset(self) -> None:
        """Forget all samples, as after a gap."""
        self.total[:] = 0.0
        self.count = 0

    def apply(self, x: Array) -> Array:
        """
        Average the next samples.

        Parameters
        ----------
        x : (k, c) ndarray
            Signals.

        Returns
        -------
        (m, c) ndarray
            Means that are complete.

        """
        out = np.empty(((self.count + len(x)) // self._step, x.shape[1]))
        self.count = average(x, self._step, self.total, self.count, out)
        return out


@kernel
def average(x: Array, step: int, total: Array, count: int, out: Array) -> int:
    """Average blocks of `step` rows; see `Averager`. Returns the rows left over."""
    done = 0
    for k in range(x.shape[0]):
        total += x[k]
        count += 1
        if count == step:
            out[done] = total / step
            total[:] = 0.0
            done += 1
            count = 0
    return count
