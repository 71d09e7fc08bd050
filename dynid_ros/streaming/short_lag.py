"""Positions and velocities of a stream with little lag, for decisions that cannot wait."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.streaming.causal_conditioning import convolve, DIFFERENCE, REACH

Array = NDArray[np.float64]

#: Half of the window over which positions are averaged, s. With encoders of 2^16 counts, 10 ms
#: let twice as much noise into the external torque of the first joint of a Panda.
HALF_WINDOW = 0.015


class ShortLag:
    """
    Average positions over a short window, differentiate them, and delay torque as much.

    The window is Hann's, whose weights are positive: a step does not ring. `CausalConditioner`
    separates the band of the identification and lags by one and a half periods of its cut-off;
    this filter lags by `HALF_WINDOW` and two samples.

    Parameters
    ----------
    rate_hz : float
        Rate of the samples.
    joints : int
        n.
    delay : float
        Time by which the drive signal lags behind the motion, s.

    Attributes
    ----------
    lag : int
        Samples by which the output is behind the input.

    """

    def __init__(self, rate_hz: float, joints: int, delay: float = 0.0) -> None:
        half = int(HALF_WINDOW * rate_hz)
        window = np.hanning(2 * half + 3)[1:-1]
        window /= window.sum()
        ahead = max(delay * rate_hz, -half)
        late = max(0, int(np.ceil(ahead)))
        # Zeros on the side of the newest samples delay the motion by as much as its torque.
        self._taps = np.pad(window, (REACH, REACH + late))
        self._slope = rate_hz * np.pad(np.convolve(window, DIFFERENCE[::-1]), (0, late))
        self._middle = half + REACH
        self._torque = self._middle + int(np.floor(ahead))
        self._part = ahead - np.floor(ahead)
        self.lag = len(self._taps) - 1 - self._middle
        self._n = joints
        self.reset()

    def reset(self) -> None:
        """Forget all samples, as after a gap."""
        self._buffer = np.zeros((0, 1 + 2 * self._n))

    def apply(self, samples: Array) -> tuple[Array, Array, Array, Array]:
        """
        Filter the next samples.

        Parameters
        ----------
        samples : (k, 1 + 2 n) ndarray
            Stamps, positions and torque at a uniform rate.

        Returns
        -------
        t : (m,) ndarray
            s.
        q, qd, tau : (m, n) ndarray
            rad, rad/s, Nm; fewer samples at the start of a stretch.

        """
        whole = np.concatenate([self._buffer, samples])
        n, reach = self._n, len(self._taps) - 1
        count = max(0, len(whole) - reach)
        self._buffer = whole[len(whole) - min(len(whole), reach):]
        q, qd = np.zeros((n, count)), np.zeros((n, count))
        convolve(np.ascontiguousarray(whole[:, 1:1 + n].T), self._taps, self._slope, q, qd)
        motion = slice(self._middle, self._middle + count)
        first, torque = self._torque, whole[:, 1 + n:]
        tau = (1 - self._part) * torque[first:first + count]
        tau += self._part * torque[first + 1:first + 1 + count]
        return (whole[motion, 0], np.ascontiguousarray(q.T), np.ascontiguousarray(qd.T), tau)
