"""The cut-off that a motion calls for, chosen from the spectrum of its velocity."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.settings import LEAST_CUTOFF
from dynid_ros.data.signals import conditioning
from dynid_ros.utilities.arrays import Array

#: Samples from which on a stretch is padded for a fast transform.
LONG = 100_000
#: Samples of a part at most, over which spectra are averaged: nearly nine minutes at 1 kHz. A
#: longer transform does not fit the cache.
LONGEST = 2**19


def choose_cutoff(q: Array, rate_hz: float) -> float:
    """
    Choose the cut-off of the low-pass filters from the motion.

    It is `CUTOFF_PER_BAND` times the band that holds `BAND_ENERGY` of the energy of a joint's
    velocity above its noise floor, averaged over the joints that move: high enough for the
    harmonics that dynamics and friction generate, low enough to reject signals that no rigid-body
    model explains.

    Parameters
    ----------
    q : (N, n) ndarray
        Positions in a uniformly sampled stretch of the recording.
    rate_hz : float
        Sample rate.

    Returns
    -------
    float
        Hz, at least the lowest that ``arm.yaml`` may give, and at most `HIGHEST_CUTOFF`
        of the sample rate.

    """
    from scipy.fft import next_fast_len
    from scipy.signal import welch

    steps = len(q) // -(-len(q) // LONGEST) - 1
    # The transform of an unlucky number of samples takes ten times as long.
    size = next_fast_len(steps, real=True) if steps >= LONG else steps
    bands = []
    for position in q.T:
        f, power = welch(
            np.diff(position), rate_hz, nperseg=steps, noverlap=0, nfft=size, detrend='constant')
        # The median of a periodogram lies at ln 2 of its mean.
        energy = np.cumsum(power - np.median(power[f > rate_hz / 4]) / np.log(2))
        if energy.max() > 0:
            bands.append(f[np.argmax(energy >= conditioning.BAND_ENERGY * energy.max())])
    highest = conditioning.HIGHEST_CUTOFF * rate_hz
    if not bands:
        return highest
    return float(min(max(conditioning.CUTOFF_PER_BAND * np.mean(bands), LEAST_CUTOFF), highest))
