# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Choose the settings of the conditioning, from the arm or its recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals import conditioning
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.data.signals.filters import decimation_step
from dynid_ros.data.signals.motion_band import motion_cutoff
from dynid_ros.data.signals.periodic import find_period
from dynid_ros.data.signals.segments import longest_segment, sample_rate
from dynid_ros.errors import about, RecordingError
from dynid_ros.estimation.band.delay import estimate_delay
from dynid_ros.estimation.band.ladder import climb, USUAL_HZ
from dynid_ros.estimation.band.trial_blocks import FEWEST_BLOCKS, TrialMotions


def choose_conditioning(
    arm: ArmModel, recordings: Sequence[Recording], held_out: Sequence[Recording] = (),
) -> ConditioningSettings:
    """
    Choose all settings of the conditioning; estimate from the data those that are not given.

    Parameters
    ----------
    arm : ArmModel
        The arm; its ``conditioning`` may give some settings.
    recordings : sequence of Recording
        Recordings that are fitted.
    held_out : sequence of Recording
        Recordings to be conditioned with the same settings; their rates bound the cut-off, too.

    Returns
    -------
    ConditioningSettings
        Settings for the recordings that are fitted.

    Raises
    ------
    RecordingError
        A given cut-off is too high for a recording.

    """
    wanted, delay = arm.conditioning, arm.stated_delay
    slowest = min(recordings, key=sample_rate)
    rate = sample_rate(slowest)
    if wanted.cutoff_hz is not None and wanted.cutoff_hz >= rate / 2:
        raise RecordingError(
            f'{slowest.source}: the cut-off of {wanted.cutoff_hz:g} Hz is not below half the '
            f'sample rate of {rate:.4g} Hz')
    highest = conditioning.HIGHEST_CUTOFF * min(rate, *map(sample_rate, held_out), rate)
    period = wanted.period
    if wanted.filter == 'periodic' and period is None:
        longest = longest_segment(recordings, rate)
        with about(longest.source):
            period = find_period(longest.q, rate)
    settings = ConditioningSettings(
        wanted.cutoff_hz or highest, wanted.cutoff_hz is None, wanted.filter, rate, 1,
        period=period if wanted.filter == 'periodic' else None, delay=delay or 0.0)
    if wanted.cutoff_hz is None or delay is None:
        settings = _from_data(arm, recordings, settings, highest)
    return replace(settings, decimation=decimation_step(rate, settings.cutoff_hz))


def band_of_motion(
    settings: ConditioningSettings, recordings: Sequence[Recording],
) -> ConditioningSettings:
    """Return the settings for the band of the motion, where faults are visible."""
    if not settings.cutoff_from_data:
        return settings
    longest = longest_segment(recordings, settings.rate_hz)
    return settings.at(motion_cutoff(longest.q, settings.rate_hz, settings.cutoff_hz))


def wider_band(
    settings: ConditioningSettings, recordings: Sequence[Recording],
    held_out: Sequence[Recording],
) -> ConditioningSettings | None:
    """
    Return the settings for the band of the motion at the usual cut-off, if the chosen is lower.

    Noise lowers the cut-off, and so does a fault that spoils the rows of the usual one, such as a
    signal that is late on a fast motion. It may not show below the lower one.

    Parameters
    ----------
    settings : ConditioningSettings
        Settings of the fit.
    recordings, held_out : sequence of Recording
        Recordings that are fitted, and those that are conditioned with the same settings.

    Returns
    -------
    ConditioningSettings or None
        None if the band of the motion lies below the chosen cut-off, or the cut-off was given.

    """
    usual = min(USUAL_HZ, conditioning.HIGHEST_CUTOFF * min(
        [settings.rate_hz, *map(sample_rate, held_out)]))
    if settings.cutoff_hz >= usual or not settings.cutoff_from_data:
        return None
    band = band_of_motion(settings.at(usual), recordings)
    return band if band.cutoff_hz > settings.cutoff_hz else None


def _from_data(
    arm: ArmModel, recordings: Sequence[Recording], settings: ConditioningSettings,
    highest: float,
) -> ConditioningSettings:
    """Choose the cut-off, then the delay in the lowest band; with a delay, the cut-off again."""
    motions = TrialMotions(arm, recordings, settings.rate_hz, settings.delay)
    delay = None
    if settings.cutoff_from_data:
        settings, lowest = climb(motions, settings, highest)
    else:
        count = motions.count(settings.cutoff_hz)
        lowest = motions.below(settings.cutoff_hz, count) if count >= FEWEST_BLOCKS else None
    if arm.stated_delay is None and lowest is not None:
        delay = estimate_delay(lowest)
    if not delay:
        return settings
    if settings.cutoff_from_data:
        motions = TrialMotions(arm, recordings, settings.rate_hz, delay)
        settings, _ = climb(motions, settings, highest)
    return replace(settings, delay=delay)
