# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Preparation of recordings: cleaning and conditioning, for fitting and validation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
import hashlib
from typing import TypeVar

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.quality import clean, defects_of
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.data.recordings.warmth import warmth_of
from dynid_ros.data.signals import conditioning
from dynid_ros.data.signals.conditioning import (
    condition,
    ConditionedMotion,
    ConditioningSettings,
)
from dynid_ros.data.signals.filters import Decimator
from dynid_ros.data.signals.narrow_band import thinned, thinning
from dynid_ros.data.signals.segments import sample_rate, Segment, uniform_segments
from dynid_ros.errors import RecordingError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import blocks

#: Number of samples from which recordings are decimated to the rate that the cut-off needs: two
#: minutes at 1 kHz.
DECIMATED_SAMPLES = 2**17

Item = TypeVar('Item')


def checked_recording(
    recording: Recording, arm: ArmModel, *, stamped: bool = False,
) -> tuple[Recording, tuple[Defect, ...]]:
    """
    Clean a recording and check it for defects.

    Parameters
    ----------
    recording : Recording
        Recording.
    arm : ArmModel
        The arm.
    stamped : bool
        Whether samples keep their stamps, as in a stream.

    Returns
    -------
    recording : Recording
        The cleaned recording.
    defects : tuple of Defect
        All defects found.

    Raises
    ------
    RecordingError
        A defect makes the recording unusable.

    """
    recording = clean(recording, arm, stamped=stamped)
    defects = defects_of(recording, arm)
    for defect in defects:
        if defect.severity == 'error':
            raise RecordingError(f'{recording.source}: {defect.message}')
    # Velocities are differentiated from positions; recorded ones would only take memory.
    return replace(
        recording, qd=None, warmth=warmth_of(recording.t, recording.q)), defects


def settings_for(
    settings: ConditioningSettings, recording: Recording, *, identified: bool = False,
) -> ConditioningSettings:
    """
    Adapt settings to the sample rate of a recording.

    Parameters
    ----------
    settings : ConditioningSettings
        Settings chosen for the recordings to fit.
    recording : Recording
        Another recording.
    identified : bool
        Whether a model was identified with these settings already.

    Raises
    ------
    RecordingError
        Its rate is too low for the cut-off.

    """
    rate = sample_rate(recording)
    if abs(rate / settings.rate_hz - 1) < conditioning.SAME_RATE:
        return settings
    highest = conditioning.HIGHEST_CUTOFF * rate
    if highest < settings.cutoff_hz:
        # Rounded down: a higher cut-off is refused.
        most = f'a cut-off of {np.floor(100 * highest) / 100:.4g} Hz at most'
        origin, remedy = (
            ('that the model was identified with', f'record faster, or identify with {most}')
            if identified else
            ('that was chosen from the recordings to be fitted',
             f'give {most} (--cutoff, cutoff_hz in Python), or leave this recording out')
            if settings.cutoff_from_data else
            ('that --cutoff (cutoff_hz in Python) or arm.yaml gives',
             f'give {most}, or leave this recording out'))
        raise RecordingError(
            f'{recording.source}: its rate of {rate:.4g} Hz is too low for the cut-off of '
            f'{settings.cutoff_hz:.3g} Hz {origin}; {remedy}')
    return replace(settings, rate_hz=rate).at(settings.cutoff_hz)


def condition_recording(
    arm: ArmModel, recording: Recording, settings: ConditioningSettings
) -> list[ConditionedMotion]:
    """Condition all stretches of a recording."""
    return condition_recordings(arm, [recording], settings)


def condition_recordings(
    arm: ArmModel, recordings: Iterable[Recording], settings: ConditioningSettings
) -> list[ConditionedMotion]:
    """Condition recordings, which should come from `released` to save memory."""
    return _conditioned(arm, _segments(recordings, settings), settings)


def condition_thinned(
    arm: ArmModel, recordings: list[Recording], settings: ConditioningSettings,
) -> tuple[ConditioningSettings, list[ConditionedMotion]]:
    """
    Condition recordings, and decimate them first if they are long.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recordings : list of Recording
        Recordings, removed from the list: all before the first is conditioned if they are long,
        else one by one.
    settings : ConditioningSettings
        For the rate of the recordings.

    Returns
    -------
    settings : ConditioningSettings
        For the rate of the result.
    motions : list of ConditionedMotion
        Their stretches.

    """
    samples = sum(len(recording.t) for recording in recordings)
    segments = _segments(released(recordings), settings)
    # Other filters are defined by the rate of the recording.
    if samples <= DECIMATED_SAMPLES or settings.filter != 'butterworth':
        return settings, _conditioned(arm, segments, settings)
    narrow, low_pass = thinning(settings, settings.cutoff_hz)
    fewer = [*filter(None, [thinned(segment, low_pass) for segment in segments])]
    return narrow, _conditioned(arm, released(fewer), narrow, low_pass)


def _conditioned(
    arm: ArmModel, segments: Iterable[Segment], settings: ConditioningSettings,
    low_pass: Decimator | None = None,
) -> list[ConditionedMotion]:
    """Condition stretches, given the filter that decimated them, and drop them as recorded."""
    return [replace(condition(segment, settings, arm.drive), low_pass=low_pass,
                    source=segment.source) for segment in segments]


def _segments(
    recordings: Iterable[Recording], settings: ConditioningSettings,
) -> Iterator[Segment]:
    """Yield the stretches of recordings without keeping a reference to any."""
    for recording in recordings:
        segments = released([*uniform_segments(recording, settings.rate_hz, settings.delay)])
        del recording
        yield from segments


def released(items: list[Item]) -> Iterator[Item]:
    """Yield and remove the items of a list, so that the caller holds the only reference."""
    while items:
        yield items.pop(0)


def data_hash(recordings: Sequence[Recording]) -> str:
    """SHA-256 of stamps, positions and drive signals, sample by sample."""
    digest = hashlib.sha256()
    for recording in recordings:
        for part in blocks(len(recording.t)):
            digest.update(sample_bytes(recording.t[part], recording.q[part], recording.u[part]))
    return digest.hexdigest()


def sample_bytes(t: Array, q: Array, u: Array) -> memoryview:
    """Return the bytes to hash of N samples, in an order that gives a stream the same hash."""
    # Columns that were chosen from others lie one after another.
    return np.ascontiguousarray(np.column_stack([t, q, u])).data
