"""What is done to the signals before a fit, and again before a validation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Treatment:
    """
    Settings of the conditioning, all of them decided.

    Attributes
    ----------
    cutoff_hz : float
        Cut-off of the low-pass that every column of W and the torque pass; positions are filtered
        less (see ``position_cutoff``).
    cutoff_from_data : bool
        Whether the data decided it.
    filter : str
        ``butterworth``, ``fir`` or ``periodic``.
    rate_hz : float
        Rate of the recording after resampling.
    decimation : int
        Every how many samples a row is kept.
    delay : float
        Time by which the drive signal lags and is advanced, s.
    period : float or None
        Period, if the motion is averaged over periods, s.
    notes : tuple of str
        What else was done, a sentence each.

    """

    cutoff_hz: float
    cutoff_from_data: bool
    filter: str
    rate_hz: float
    decimation: int
    delay: float = 0.0
    period: float | None = None
    notes: tuple[str, ...] = ()
