# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
First-order filters for regression without acceleration.

With f(s) = lambda / (s + lambda) applied to ``d/dt(P theta) + F theta = tau``, the derivative of
P becomes s f(s) P, so no signal is differentiated. The discrete versions of s f(s) and f(s) must
match; a common error of both cancels.
"""

from __future__ import annotations

import numpy as np

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed
from dynid_ros.utilities.compiled import kernel

REACH = 2


class FirstOrderFilter(Checkpointed):
    """
    ``f x + s f p`` of a stream of samples, block by block.

    The result does not depend on the lengths of blocks. The filter starts from zero at the third
    sample. As this holds for both sides of the regression, all rows are valid, whatever the
    motion.

    The change of momentum over two samples is the integral of the forces by Simpson's rule,
    ``P[k+1] - P[k-1] = T / 3 (x[k+1] + 4 x[k] + x[k-1])`` with x = tau - F theta; one exponential
    average follows on both sides. They match up to (w T)⁴ / 180 at the angular frequency w, and
    lag by one sample in addition to the average.

    Parameters
    ----------
    bandwidth : float
        lambda, rad/s.
    period : float
        T, s.
    columns : int
        Number of signals c.

    Attributes
    ----------
    pole : float
        Of the average.
    before : (0 to 2, 2 c) ndarray
        The last samples of x and of p.
    average : (1, c) ndarray
        State of the average after the last sample.

    """

    saved = ('before', 'average')

    def __init__(self, bandwidth: float, period: float, columns: int) -> None:
        self.pole, self._period = float(np.exp(-bandwidth * period)), period
        self.before, self.average = np.zeros((0, 2 * columns)), np.zeros((1, columns))

    def reset(self) -> None:
        """Forget all samples, as after a gap."""
        self.before, self.average = self.before[:0], np.zeros_like(self.average)

    def apply(self, x: Array, p: Array | None = None) -> Array:
        """
        Filter the next block.

        Parameters
        ----------
        x : (k, c) ndarray
            Signals for f(s).
        p : (k, c) ndarray, optional
            Signals for s f(s).

        Returns
        -------
        (k, c) ndarray
            Output, which the first `REACH` samples of a stream do not have.

        """
        block = np.concatenate([x, np.zeros_like(x) if p is None else p], axis=1)
        whole = np.concatenate([self.before, block])
        self.before = whole[-REACH:]
        if len(whole) <= REACH:
            return x[:0]
        x, p = np.split(whole, 2, axis=1)
        gained = ((p[2:] - p[:-2]) / self._period + (x[2:] + 4 * x[1:-1] + x[:-2]) / 3) / 2
        self.average = self.average.copy()
        average_on(self.pole, gained, self.average[0])
        return np.asarray(gained)


# `scipy.signal.lfilter` does the same, but takes longer to import than a node to start.
@kernel
def average_on(pole: float, x: Array, average: Array) -> None:
    """
    Replace samples by their exponential average.

    Parameters
    ----------
    pole : float
        Weight of the average before.
    x : (k, c) ndarray
        Samples, the averages on return.
    average : (c,) ndarray
        Average before times the pole, of the last sample on return.

    """
    for k in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[k, j] = (1.0 - pole) * x[k, j] + average[j]
            average[j] = pole * x[k, j]
