"""Positions and velocities of a stream with little lag, for decisions that cannot wait."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.streaming.causal_conditioning import DIFFERENCE, REACH, StreamFilter

Array = NDArray[np.float64]

#: Half of the window over which positions are averaged, s. With encoders of 2^16 counts, 10 ms
#: let twice as much noise into the external torque of the first joint of a Panda.
HALF_WINDOW = 0.015


class ShortLag(StreamFilter):
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

    """

    def __init__(self, rate_hz: float, joints: int, delay: float = 0.0) -> None:
        half = int(HALF_WINDOW * rate_hz)
        window = np.hanning(2 * half + 3)[1:-1]
        window /= window.sum()
        ahead = max(delay * rate_hz, -half)
        late = max(0, int(np.ceil(ahead)))
        # Zeros on the side of the newest samples delay the motion by as much as its torque.
        super().__init__(
            np.pad(window, (REACH, REACH + late)),
            rate_hz * np.pad(np.convolve(window, DIFFERENCE[::-1]), (0, late)),
            half + REACH, ahead, joints)
