"""Settings of the signal conditioning, shared by fit and validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CutoffThresholds:
    """
    Bounds of the cut-offs and of the rate that they were chosen for.

    Measured figures are those of benchmarks/thresholds.py: real arms (UR10, Panda, TX40),
    simulated arms, and planted defects.

    Attributes
    ----------
    energy : float
        Share of the energy of a joint's velocity, above its noise floor, that its band holds. The
        band is 0.28 to 3.2 Hz on good recordings; 0.9 and 0.999 change held-out errors by 0.2 %.
    margin : float
        Cut-off of the rows as a multiple of the mean band. Dynamics and friction make harmonics of
        the motion, which have to come through. Half of it and twice of it give held-out errors of
        4.0 and 2.9 % instead of 2.4 %.
    highest : float
        Highest cut-off as a share of the sample rate, live and in batch. A filter needs room below
        half the rate to fall off. No good recording comes near it.
    position_margin : float
        Cut-off of the positions as a multiple of that of the rows. Friction changes the motion
        when a joint turns round, which has to come through; the decimating filter takes noise of
        the derivatives out together with that of the torque. Half and twice of it change the
        larger held-out error of UR10 and Panda by less than 0.01 %.
    same_rate : float
        Largest deviation of the rate of another recording, relative to it, up to which the same
        filters serve. It moves the cut-off by as much.

    """

    energy: float = 0.99
    margin: float = 5.0
    highest: float = 0.4
    position_margin: float = 3.0
    same_rate: float = 0.01


THRESHOLDS = CutoffThresholds()


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
        Hz, at most `highest` of the sample rate.

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
            bands.append(f[np.argmax(energy >= THRESHOLDS.energy * energy.max())])
    highest = THRESHOLDS.highest * rate_hz
    return float(min(THRESHOLDS.margin * np.mean(bands), highest)) if bands else highest
