"""The cut-off frequency, where nobody gives one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ENERGY = 0.99
MARGIN = 2.5
HIGHEST = 0.4


def choose_cutoff(signals: Sequence[Array], rate_hz: float) -> float:
    """
    Choose the cut-off of the low-pass filters from the drive signal.

    It is `MARGIN` times the band that holds `ENERGY` of the signal's energy above its noise
    floor, for the median joint: high enough for the edges that friction makes, low enough to
    keep out what no rigid-body model explains.

    Parameters
    ----------
    signals : sequence of (N, n) ndarray
        Drive signal of each uniformly sampled stretch of the recording.
    rate_hz : float
        Sample rate.

    Returns
    -------
    float
        Hz, at most `HIGHEST` of the sample rate.

    """
    from scipy.signal import periodogram

    longest = max(signals, key=len)
    f, power = periodogram(longest, rate_hz, window='hann', axis=0)
    # The floor of white noise; the median of a periodogram lies at ln 2 of its mean.
    floor = np.median(power[f > rate_hz / 4], axis=0) / np.log(2)
    energy = np.cumsum(power - floor, axis=0)
    alive = energy.max(axis=0) > 0
    if not alive.any():
        return HIGHEST * rate_hz
    reached = energy[:, alive] >= ENERGY * energy[:, alive].max(axis=0)
    band = f[np.argmax(reached, axis=0)]
    return float(min(MARGIN * np.median(band), HIGHEST * rate_hz))
