"""The cut-off frequency, where nobody gives one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ENERGY = 0.99
MARGIN = 5.0
HIGHEST = 0.4


def choose_cutoff(positions: Sequence[Array], rate_hz: float) -> float:
    """
    Choose the cut-off of the low-pass filters from the motion.

    It is `MARGIN` times the band that holds `ENERGY` of the energy of a joint's velocity above
    its noise floor, averaged over the joints that move: high enough for the harmonics that
    dynamics and friction make of the motion, low enough to keep out what no rigid-body model
    explains.

    Parameters
    ----------
    positions : sequence of (N, n) ndarray
        Positions in each uniformly sampled stretch of the recording.
    rate_hz : float
        Sample rate.

    Returns
    -------
    float
        Hz, at most `HIGHEST` of the sample rate.

    """
    from scipy.signal import periodogram

    longest = max(positions, key=len)
    bands = []
    for position in longest.T:
        f, power = periodogram(np.diff(position), rate_hz, window='hann')
        # The floor of white noise; the median of a periodogram lies at ln 2 of its mean.
        floor = np.median(power[f > rate_hz / 4]) / np.log(2)
        energy = np.cumsum(power - floor)
        if energy.max() > 0:
            bands.append(f[np.argmax(energy >= ENERGY * energy.max())])
    highest = HIGHEST * rate_hz
    return float(min(MARGIN * np.mean(bands), highest)) if bands else highest
