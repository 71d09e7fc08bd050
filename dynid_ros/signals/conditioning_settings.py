"""Settings of the signal conditioning, shared by fit and validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ENERGY = 0.99
MARGIN = 5.0
HIGHEST = 0.4


@dataclass(frozen=True)
class ConditioningSettings:
    """
    Complete settings of the conditioning.

    Attributes
    ----------
    cutoff_hz : float
        Cut-off of the low-pass that every column of W and the torque pass; positions are filtered
        less (see ``position_cutoff``).
    cutoff_from_data : bool
        Whether it was chosen from the data.
    filter : str
        ``butterworth``, ``fir`` or ``periodic``.
    rate_hz : float
        Rate of the recording after resampling.
    decimation : int
        Number of samples for each kept row.
    delay : float
        Time by which the drive signal lags and is advanced, s.
    period : float or None
        Period, if the motion is averaged over periods, s.
    notes : tuple of str
        Further remarks, a sentence each.

    """

    cutoff_hz: float
    cutoff_from_data: bool
    filter: str
    rate_hz: float
    decimation: int
    delay: float = 0.0
    period: float | None = None
    notes: tuple[str, ...] = ()


def choose_cutoff(positions: Sequence[Array], rate_hz: float) -> float:
    """
    Choose the cut-off of the low-pass filters from the motion.

    It is `MARGIN` times the band that holds `ENERGY` of the energy of a joint's velocity above
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
