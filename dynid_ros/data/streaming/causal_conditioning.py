# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Conditioning of a stream in one pass: the same lag for all signals, or little of it."""

from __future__ import annotations

import numpy as np

from dynid_ros.data.signals.conditioning import ConditioningSettings, position_cutoffs
from dynid_ros.data.signals.filters import Decimator
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed

#: Derivative over five samples in units of their rate, newest first, and its reach to either side.
DIFFERENCE = np.array([-1.0, 8.0, 0.0, -8.0, 1.0]) / 12.0
REACH = 2
#: Speed due to rounding, rad/s or m/s, whose sign would give Coulomb friction.
SPEED_ROUNDING = 1e-9
#: Half of the window over which positions are averaged, s. With encoders of 2^16 counts, 10 ms
#: pass twice as much noise into the external torque of the first joint of a Panda.
HALF_WINDOW = 0.015


class StreamFilter(Checkpointed):
    """
    Smooth and differentiate positions by two FIR filters, and delay torque as much.

    Parameters
    ----------
    taps, slope : (n, L) ndarray
        Filters of the positions of each joint and of their derivatives, oldest sample first.
    middle : int
        Index among the L samples of the time of the output.
    ahead : float
        Samples by which the drive signal lags behind the motion.
    joints : int
        n.

    Attributes
    ----------
    lag : int
        Lag of the output, in samples.
    buffer : (m, 1 + 2 n) ndarray
        Last uniform samples: stamp, positions, torque.

    """

    saved = ('buffer',)

    def __init__(
        self, taps: Array, slope: Array, middle: int, ahead: float, joints: int,
    ) -> None:
        self._taps, self._slope, self._middle = taps, slope, middle
        self.lag = taps.shape[1] - 1 - middle
        self._torque = middle + int(np.floor(ahead))
        self._part = float(ahead - np.floor(ahead))
        self.buffer = np.zeros((0, 1 + 2 * joints))

    def reset(self) -> None:
        """Forget all samples, as after a gap."""
        self.buffer = self.buffer[:0]

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
            rad, rad/s, Nm; fewer samples at the start of a stretch, until the filter is filled.

        """
        whole = np.concatenate([self.buffer, samples])
        n, reach = (whole.shape[1] - 1) // 2, self._taps.shape[1] - 1
        count = max(0, len(whole) - reach)
        self.buffer = whole[count:]
        if not count:
            empty = np.zeros((0, n))
            return whole[:0, 0], empty, empty, empty
        windows = np.lib.stride_tricks.sliding_window_view(whole[:, 1:1 + n], reach + 1, axis=0)
        q, qd = (np.einsum('knl,nl->kn', windows, taps) for taps in (self._taps, self._slope))
        qd[np.abs(qd) < SPEED_ROUNDING] = 0.0
        first, torque = self._torque, whole[:, 1 + n:]
        tau = (1.0 - self._part) * torque[first:first + count]
        tau += self._part * torque[first + 1:first + 1 + count]
        t = whole[self._middle:self._middle + count, 0]
        return t, q, qd, tau


class CausalConditioner(StreamFilter):
    """
    Condition a stream as the batch conditions a recording.

    The filter is the one of `Decimator` with the cut-off of the positions; differences are taken
    as by `differentiate`. A symmetric filter delays all frequencies alike, so that positions,
    velocities and torque keep the same time; its memory is its length.

    Parameters
    ----------
    settings : ConditioningSettings
        Rate, cut-off, and delay of the drive signal.
    joints : int
        n.

    """

    def __init__(self, settings: ConditioningSettings, joints: int) -> None:
        filters = [Decimator(settings.rate_hz, cutoff, 1)
                   for cutoff in position_cutoffs(settings, joints).tolist()]
        ahead = settings.delay * settings.rate_hz
        # Zeros at both ends allow later torque, and give all filters one length.
        reach = max(int(np.ceil(abs(ahead))), *(each.reach for each in filters))
        smooth = [np.pad(each.taps, reach - each.reach) for each in filters]
        # Taps begin with the oldest sample.
        slope = [np.convolve(each, DIFFERENCE[::-1]) * settings.rate_hz for each in smooth]
        super().__init__(np.array([np.pad(each, REACH) for each in smooth]), np.array(slope),
                         reach + REACH, ahead, joints)


class ShortLag(StreamFilter):
    """
    Average positions over a short window, differentiate them, and delay torque as much.

    The window is Hann's, whose weights are positive: a step does not ring. `CausalConditioner`
    keeps the band of the positions and lags by one and a half periods of its cut-off; this filter
    lags by `HALF_WINDOW` and two samples.

    Parameters
    ----------
    rate_hz : float
        Rate of the samples.
    joints : int
        n.
    delay : float
        Time by which the drive signal lags behind the motion, s.

    """

    def __init__(self, rate_hz: float, joints: int, delay: float = 0.0) -> None:
        half = int(HALF_WINDOW * rate_hz)
        window = np.hanning(2 * half + 3)[1:-1]
        window /= window.sum()
        ahead = max(delay * rate_hz, -half)
        late = max(0, int(np.ceil(ahead)))
        # Zeros at the newest samples delay the motion as much as its torque.
        taps = np.pad(window, (REACH, REACH + late))
        slope = rate_hz * np.pad(np.convolve(window, DIFFERENCE[::-1]), (0, late))
        super().__init__(np.tile(taps, (joints, 1)), np.tile(slope, (joints, 1)), half + REACH,
                         ahead, joints)
