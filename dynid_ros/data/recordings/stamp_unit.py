"""The unit of stamps: tables hold ms or ns now and then, where seconds are meant."""

from __future__ import annotations

from dataclasses import dataclass

from dynid_ros.data.recordings.recording import Defect

#: Units that stamps are given in by mistake, s.
UNITS = {'ms': 1e-3, 'µs': 1e-6, 'ns': 1e-9}


@dataclass(frozen=True)
class RateThresholds:
    """
    Bounds of the rates of recordings.

    Attributes
    ----------
    lowest_hz : float
        Rate below which accelerations are hardly seen, Hz: ten samples in a period of 2 Hz.
    range_hz : (float, float)
        Rates at which arms are sampled, Hz. Outside, the stamps have another unit than seconds.
        Stamps in ms of a drive at 1 kHz make 1 Hz; below 2 Hz, no period of a motion is seen.

    """

    lowest_hz: float = 20.0
    range_hz: tuple[float, float] = (2.0, 50_000.0)


THRESHOLDS = RateThresholds()


def rate_defects(usual_step: float) -> list[Defect]:
    """
    Report a rate that is too low, or that no recording has.

    Parameters
    ----------
    usual_step : float
        Median step of the stamps, s if they are in seconds.

    """
    rate, least = 1.0 / usual_step, THRESHOLDS.lowest_hz
    low, high = THRESHOLDS.range_hz
    if not low <= rate <= high:
        unit = likely_unit(usual_step)
        other = '' if unit is None else (
            f', and of {rate / UNITS[unit]:.4g} Hz if they are in {unit}')
        text = (f'The stamps step by {usual_step:.4g}: a sample rate of {rate:.4g} Hz if they are '
                f'in s{other}; stamps must be in seconds.')
        return [Defect('rate_implausible', 'error', text, value=rate,
                       threshold=high if rate > high else low)]
    if rate < least:
        text = (f'The sample rate of {rate:.3g} Hz is too low to resolve accelerations well; '
                f'record at {least:g} Hz or more.')
        return [Defect('rate_low', 'warning', text, value=rate, threshold=least)]
    return []


def likely_unit(step: float) -> str | None:
    """Return the unit in which a step makes a rate at which arms are recorded, if there is one."""
    for unit, seconds in UNITS.items():
        if THRESHOLDS.lowest_hz <= 1.0 / (step * seconds) <= THRESHOLDS.range_hz[1]:
            return unit
    return None
