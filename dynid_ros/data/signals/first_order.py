"""
First-order filters for regression without acceleration.

With f(s) = lambda / (s + lambda) applied to ``d/dt(P theta) + F theta = tau``, the derivative of
P becomes s f(s) P: no signal is differentiated. s f(s) and f(s) must match in
discrete time; a common error of both sides cancels.
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

    Blocks of any lengths give the same numbers as one of all samples. The filter starts with the
    first sample that has its two predecessors, from zero: as both sides of the regression start
    alike, rows are valid from the first one on, for any motion of the arm.

    The momentum gained over two samples is the integral of the forces by Simpson's rule,
    ``P[k+1] - P[k-1] = T / 3 (x[k+1] + 4 x[k] + x[k-1])`` with x = tau - F theta; one exponential
    average follows on both sides. They match up to (w T)⁴ / 180 at the angular frequency w, and
    lag by one sample besides the average.

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
    state_rows : (6, c) ndarray
        The last two samples of p, those of x, the output, and in its last row the number of
        samples seen, up to `REACH`.

    """

    saved = ('state_rows',)

    def __init__(self, bandwidth: float, period: float, columns: int) -> None:
        self.pole = float(np.exp(-bandwidth * period))
        half, sixth = (1.0 - self.pole) / (2.0 * period), (1.0 - self.pole) / 6.0
        self._taps = np.array([[half, 0.0, -half], [sixth, 4.0 * sixth, sixth]])
        self.state_rows = np.zeros((6, columns))

    def reset(self) -> None:
        """Forget all samples, as after a gap."""
        self.state_rows[:] = 0.0

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
            Output; the first `REACH` samples of a stream have none and are left out.

        """
        taps = self._taps
        if p is None:
            taps, p = taps * [[0.0], [1.0]], x
        missing = min(len(x), REACH - int(self.state_rows[5, 0]))
        out = np.empty((len(x) - missing, x.shape[1]))
        filter_block(self.pole, taps, x, p, self.state_rows, missing, out)
        return out


@kernel
def filter_block(
    pole: float, taps: Array, x: Array, p: Array, state: Array, missing: int, out: Array
) -> None:
    """
    Run both filters over one block.

    Parameters
    ----------
    pole : float
        Pole.
    taps : (2, 3) ndarray
        Numerators of s f(s) and f(s).
    x, p : (k, c) ndarray
        Signals.
    state : (6, c) ndarray
        As in `FirstOrderFilter`; updated.
    missing : int
        Number of samples that only fill the state.
    out : (k - missing, c) ndarray
        Output.

    """
    for k in range(x.shape[0]):
        for c in range(x.shape[1]):
            if k >= missing:
                state[4, c] = (
                    pole * state[4, c]
                    + taps[0, 0] * p[k, c] + taps[0, 1] * state[0, c] + taps[0, 2] * state[1, c]
                    + taps[1, 0] * x[k, c] + taps[1, 1] * state[2, c] + taps[1, 2] * state[3, c]
                )
                out[k - missing, c] = state[4, c]
            state[1, c] = state[0, c]
            state[0, c] = p[k, c]
            state[3, c] = state[2, c]
            state[2, c] = x[k, c]
    state[5] += missing
