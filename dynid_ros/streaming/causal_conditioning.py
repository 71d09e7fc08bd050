"""Conditioning of a stream: one pass, the same lag for all signals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.checkpoint import Checkpointed
from dynid_ros.compiled import kernel
from dynid_ros.signals.conditioning import ConditioningSettings

Array = NDArray[np.float64]

#: Derivative over five samples in units of their rate, newest first, and its reach to either side.
DIFFERENCE = np.array([-1.0, 8.0, 0.0, -8.0, 1.0]) / 12.0
REACH = 2


class CausalConditioner(Checkpointed):
    """
    Low-pass and differentiate positions by a symmetric FIR filter, and delay torque as much.

    The filter is that of `Decimator`, the difference that of `differentiate`. A symmetric filter
    delays all frequencies alike, so that positions, velocities and torque keep the same time;
    its memory is its length.

    Parameters
    ----------
    settings : ConditioningSettings
        Rate, cut-off, and delay of the drive signal.
    joints : int
        n.

    Attributes
    ----------
    buffer : (m, 1 + 2 n) ndarray
        Last uniform samples: stamp, positions, torque.

    """

    saved = ('buffer',)

    def __init__(self, settings: ConditioningSettings, joints: int) -> None:
        smooth = settings.decimator().taps
        self._taps = np.pad(smooth, REACH)
        # Taps run from the oldest sample on.
        self._slope = np.convolve(smooth, DIFFERENCE[::-1]) * settings.rate_hz
        self.lag = len(self._taps) // 2
        ahead = np.clip(settings.delay * settings.rate_hz, -self.lag, self.lag - 1)
        self._ahead = int(np.floor(ahead))
        self._part = float(ahead - self._ahead)
        self.buffer = np.zeros((0, 1 + 2 * joints))

    def reset(self) -> None:
        """Forget all samples, as after a gap."""
        self.buffer = self.buffer[:0]

    def apply(self, samples: Array) -> tuple[Array, Array, Array, Array]:
        """
        Condition the next samples.

        Parameters
        ----------
        samples : (k, 1 + 2 n) ndarray
            Stamps, positions and torque at a uniform rate.

        Returns
        -------
        t : (m,) ndarray
            s.
        q, qd, tau : (m, n) ndarray
            rad, rad/s, Nm; fewer samples at the start of a stretch, until the filter is filled.

        """
        whole = np.concatenate([self.buffer, samples])
        n = (whole.shape[1] - 1) // 2
        count = max(0, len(whole) - 2 * self.lag)
        self.buffer = whole[-2 * self.lag:]
        positions = np.ascontiguousarray(whole[:, 1:1 + n].T)
        q, qd = np.zeros((n, count)), np.zeros((n, count))
        convolve(positions, self._taps, self._slope, q, qd)
        first = self.lag + self._ahead
        torque = whole[:, 1 + n:]
        tau = (1.0 - self._part) * torque[first:first + count]
        tau += self._part * torque[first + 1:first + 1 + count]
        t = whole[self.lag:self.lag + count, 0]
        return t, np.ascontiguousarray(q.T), np.ascontiguousarray(qd.T), tau


@kernel
def convolve(x: Array, taps: Array, slope: Array, smooth: Array, derivative: Array) -> None:
    """
    Apply two FIR filters to signals in rows.

    Parameters
    ----------
    x : (n, k + L - 1) ndarray
        Signals.
    taps, slope : (L,) ndarray
        Filters, oldest sample first.
    smooth, derivative : (n, k) ndarray
        Outputs, zero at first.

    """
    for j in range(x.shape[0]):
        for c in range(taps.size):
            for k in range(smooth.shape[1]):
                smooth[j, k] += taps[c] * x[j, k + c]
                derivative[j, k] += slope[c] * x[j, k + c]
