# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The unit of stamps: some tables hold ms or ns instead of seconds."""

from __future__ import annotations

from dynid_ros.data.recordings.recording import Defect

#: Units of stamps given by mistake, s.
STAMP_UNITS = {'ms': 1e-3, 'µs': 1e-6, 'ns': 1e-9}


# Bounds of the rates of recordings.

#: Rate below which accelerations are hardly seen, Hz: ten samples in a period of 2 Hz.
LOWEST_HZ = 20.0
#: Rates at which arms are sampled, Hz. Outside, the stamps have another unit than seconds. Stamps
#: in ms of a drive at 1 kHz make 1 Hz; below 2 Hz, no period of a motion is seen.
RANGE_HZ = (2.0, 50_000.0)


def rate_defects(usual_step: float) -> list[Defect]:
    """
    Report a rate that is too low, or implausible.

    Parameters
    ----------
    usual_step : float
        Median step of the stamps, s if they are in seconds.

    """
    rate, least = 1.0 / usual_step, LOWEST_HZ
    low, high = RANGE_HZ
    if not low <= rate <= high:
        unit = likely_unit(usual_step)
        other = '' if unit is None else (
            f', and of {rate / STAMP_UNITS[unit]:.4g} Hz if they are in {unit}')
        text = (f'The stamps step by {usual_step:.4g}: a sample rate of {rate:.4g} Hz if they are '
                f'in s{other}; stamps must be in seconds.')
        return [Defect('rate_implausible', 'error', text, value=rate,
                       threshold=high if rate > high else low)]
    # Jitter changes the median step; decide by the printed value.
    printed = f'{rate:.3g}'
    if float(printed) < least:
        text = (f'The sample rate of {printed} Hz is too low to resolve accelerations well; '
                f'record at {least:g} Hz or more.')
        return [Defect('rate_low', 'warning', text, value=rate, threshold=least)]
    return []


def likely_unit(step: float) -> str | None:
    """Return the unit in which a step makes a rate at which arms are recorded, if there is one."""
    for unit, seconds in STAMP_UNITS.items():
        if LOWEST_HZ <= 1.0 / (step * seconds) <= RANGE_HZ[1]:
            return unit
    return None
