"""The cut-off that a motion calls for, chosen from the spectrum of its velocity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.settings import LEAST_CUTOFF
from dynid_ros.data.signals import conditioning
from dynid_ros.utilities.arrays import Array

#: Samples from which on a stretch is cut for a fast transform: by a thousandth at most.
LONG = 100_000
#: Samples of a part at most, over which spectra are averaged: nearly nine minutes at 1 kHz. A
#: longer transform does not fit the cache.
LONGEST = 2**19


def choose_cutoff(positions: Sequence[Array], rate_hz: float) -> float:
    """
    Choose the cut-off of the low-pass filters from the motion.

    It is `margin` times the band that holds `energy` of the energy of a joint's velocity above
    its noise floor, averaged over the joints that move: high enough for the harmonics that
    dynamics and friction generate, low enough to reject signals that no rigid-body model
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
        Hz, at least the lowest that ``arm.yaml`` may give, and at most `highest` of the sample
        rate.

    """
    longest = max(positions, key=len)
    parts = -(-len(longest) // LONGEST)
    steps = len(longest) // parts - 1
    if steps >= LONG:
        # The transform of an unlucky number of samples takes ten times as long.
        steps = _fast_length(steps)
    f = np.fft.rfftfreq(steps, 1 / rate_hz)
    window = 0.5 - 0.5 * np.cos(2 * np.pi / steps * np.arange(steps))
    bands = []
    for position in longest.T:
        power = np.zeros(len(f))
        for start in np.arange(parts) * (len(longest) // parts):
            change = np.diff(position[start:start + steps + 1])
            power += _above_noise(change, window, f > rate_hz / 4)
        energy = np.cumsum(power, out=power)
        if energy.max() > 0:
            bands.append(f[np.argmax(energy >= conditioning.BAND_ENERGY * energy.max())])
    highest = conditioning.HIGHEST_CUTOFF * rate_hz
    if not bands:
        return highest
    return float(min(max(conditioning.CUTOFF_PER_BAND * np.mean(bands), LEAST_CUTOFF), highest))


def _above_noise(change: Array, window: Array, high: NDArray[np.bool_]) -> Array:
    """Compute the spectrum of steps (N,), less the floor of white noise at high frequencies."""
    # In place: fresh memory costs as much time as the arithmetic.
    change -= change.mean()
    change *= window
    power: Array = np.abs(np.fft.rfft(change))
    power *= power
    # Of the two halves of the spectrum; zero and half the rate have no other half.
    power[1:(len(change) + 1) // 2] *= 2
    # The median of a periodogram lies at ln 2 of its mean.
    floor = np.median(power[high]) / np.log(2)
    power -= floor
    return power


def _fast_length(samples: int) -> int:
    """Find the largest product of 2, 3 and 5 up to a number of samples."""
    from scipy.fft import next_fast_len

    # SciPy's prev_fast_len came with 1.12, and Humble has 1.8.
    return next(n for n in range(samples, 0, -1) if next_fast_len(n, real=True) == n)
