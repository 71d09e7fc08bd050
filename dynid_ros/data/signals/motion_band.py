"""The band of a motion, from the spectrum of its velocity, in which faults are looked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.settings import LEAST_CUTOFF
from dynid_ros.utilities.arrays import Array

#: Share of the energy of a joint's velocity, above its noise floor, that its band holds.
BAND_ENERGY = 0.99
#: Cut-off as a multiple of the mean band: dynamics and friction make harmonics of the motion.
CUTOFF_PER_BAND = 5.0
#: Samples from which on a stretch is padded for a fast transform.
LONG = 100_000
#: Samples of a part at most, over which spectra are averaged: nearly nine minutes at 1 kHz. A
#: longer transform does not fit the cache.
LONGEST = 2**19


def hann(size: int) -> Array:
    """Window (size,) of Hann for spectra, which goes on periodically."""
    return np.asarray(np.hanning(size + 1)[:-1])


def one_sided(spectrum: NDArray[np.complex128], size: int) -> Array:
    """Power (F, ...) at frequencies above zero and below, by the transform of `size` samples."""
    power = np.abs(spectrum)**2
    # Half of the sample rate is its own mirror image, as zero is.
    power[1:len(power) - 1 + size % 2] *= 2
    return np.asarray(power)


def motion_cutoff(q: Array, rate_hz: float, highest_hz: float) -> float:
    """
    Find the cut-off that holds a motion and its harmonics.

    It is `CUTOFF_PER_BAND` times the band that holds `BAND_ENERGY` of the energy of a joint's
    velocity above its noise floor, averaged over the joints that move. Stamps that jitter raise
    it, so that rows of a fit are bounded by the ladder of `dynid_ros.estimation.band` instead.

    Parameters
    ----------
    q : (N, n) ndarray
        Positions in a uniformly sampled stretch of the recording.
    rate_hz, highest_hz : float
        Sample rate, and the highest cut-off, which is returned where nothing moves.

    Returns
    -------
    float
        Hz, at least the lowest that ``arm.yaml`` may give.

    """
    from scipy.fft import next_fast_len

    steps = len(q) // -(-len(q) // LONGEST) - 1
    # The transform of an unlucky number of samples takes ten times as long.
    size = next_fast_len(steps, real=True) if steps >= LONG else steps
    f, bands, window = np.fft.rfftfreq(size, 1 / rate_hz), [], hann(steps)
    for position in q.T:
        power = np.zeros(len(f))
        # Part by part, as transforms of all take four times the memory of the signal.
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
