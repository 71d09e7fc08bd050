# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The band of a motion, from the spectrum of its velocity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.settings import LEAST_CUTOFF
from dynid_ros.utilities.arrays import Array

#: Share of the energy of a joint's velocity, above its noise floor, in its band.
BAND_ENERGY = 0.99
#: Cut-off as a multiple of the mean band, since dynamics and friction cause harmonics.
CUTOFF_PER_BAND = 5.0
#: Number of samples from which a stretch is padded for a fast transform.
PADDED_SAMPLES = 100_000
#: Most samples of a part for averaged spectra: nearly nine minutes at 1 kHz. A longer transform
#: does not fit the cache.
LONGEST_PART = 2**19


def hann(size: int) -> Array:
    """Periodic Hann window (size,) for spectra."""
    return np.asarray(np.hanning(size + 1)[:-1])


def one_sided(spectrum: NDArray[np.complex128], size: int) -> Array:
    """One-sided power (F, ...) from the transform of `size` samples."""
    power = np.abs(spectrum)**2
    # Zero and half the sample rate have no mirror image.
    power[1:len(power) - 1 + size % 2] *= 2
    return np.asarray(power)


def motion_cutoff(q: Array, rate_hz: float, highest_hz: float) -> float:
    """
    Find the cut-off that passes a motion and its harmonics.

    It is `CUTOFF_PER_BAND` times the band with `BAND_ENERGY` of the energy of a joint's velocity
    above its noise floor, averaged over the joints that move. Jitter of stamps raises it, so a fit
    uses the ladder of `dynid_ros.estimation.band` instead.

    Parameters
    ----------
    q : (N, n) ndarray
        Positions in a uniformly sampled stretch of the recording.
    rate_hz, highest_hz : float
        Sample rate, and the highest cut-off, which is returned if no joint moves.

    Returns
    -------
    float
        Hz, at least the lowest that ``arm.yaml`` may give.

    """
    from scipy.fft import next_fast_len

    steps = len(q) // -(-len(q) // LONGEST_PART) - 1
    # The transform of an unlucky number of samples takes ten times as long.
    size = next_fast_len(steps, real=True) if steps >= PADDED_SAMPLES else steps
    f, bands, window = np.fft.rfftfreq(size, 1 / rate_hz), [], hann(steps)
    for position in q.T:
        power = np.zeros(len(f))
        # Part by part: a transform of all samples takes four times the memory of the signal.
        for first in range(0, len(q) - steps, steps):
            moved = np.diff(position[first:first + steps + 1])
            power += one_sided(np.fft.rfft((moved - moved.mean()) * window, size), size)
        # The median of a periodogram lies at ln 2 of its mean.
        energy = np.cumsum(power - np.median(power[f > rate_hz / 4]) / np.log(2))
        if energy.max() > 0:
            bands.append(f[np.argmax(energy >= BAND_ENERGY * energy.max())])
    if not bands:
        return highest_hz
    return float(min(max(CUTOFF_PER_BAND * np.mean(bands), LEAST_CUTOFF), highest_hz))
