"""The division of recordings into a training set and a held-out set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import RecordingError
from dynid_ros.identification.seen_data import KnownSamples
from dynid_ros.recordings import quality
from dynid_ros.recordings.recording import Defect, Recording
from dynid_ros.regression.preparation import checked_recording
from dynid_ros.signals.standstill import time_in_motion


def split(recording: Recording, holdout: float) -> tuple[Recording, Recording | None]:
    """
    Split a recording in time.

    Parameters
    ----------
    recording : Recording
        Recording.
    holdout : float
        Share to hold out, of the time in which anything moves: nothing can be learned or
        validated while the arm waits for somebody to end the recording.

    Returns
    -------
    first : Recording
        Training set.
    last : Recording or None
        Held-out set.

    Raises
    ------
    RecordingError
        One of them is too short.

    """
    if holdout == 0:
        return recording, None
    clock = time_in_motion(recording.t, recording.q)
    seconds = float(clock[-1])
    shortest = min(holdout, 1 - holdout) * seconds
    if shortest < quality.THRESHOLDS.shortest:
        raise RecordingError(
            f'{recording.source}: to hold out a share of {holdout:g} of its {seconds:.3g} s of '
            f'motion leaves a part of only {shortest:.3g} s; choose another share')
    cut = int(np.searchsorted(clock, (1 - holdout) * seconds))
    return recording.part(0, cut), recording.part(cut, len(recording.t))


def motion_span(recording: Recording) -> tuple[float, float]:
    """From when to when anything moves in a recording, s since its start."""
    clock = time_in_motion(recording.t, recording.q)
    begin = np.searchsorted(clock, 0.0, side='right') - 1
    return float(recording.t[begin]), float(recording.t[np.searchsorted(clock, clock[-1])])


@dataclass(frozen=True)
class Division:
    """
    Recordings, divided into a training set and a held-out set.

    Attributes
    ----------
    train : list of Recording
        Training set.
    unseen : list of (str, Recording)
        Held-out set, each recording with a name.
    source : str
        Name of the training set.
    paths : tuple of str
        Files of the training set.
    defects : tuple of Defect
        Of all recordings.

    """

    train: list[Recording]
    unseen: list[tuple[str, Recording]]
    source: str
    paths: tuple[str, ...]
    defects: tuple[Defect, ...]


def divide(
    arm: ArmModel, recordings: Iterable[Recording], validation: Iterable[Recording], holdout: float
) -> Division:
    """Hold out the end of each recording, or nothing if there are others for validation."""
    others = [checked_recording(recording, arm) for recording in validation]
    holdout = 0.0 if others else holdout
    train: list[Recording] = []
    defects: list[Defect] = []
    unseen = [(Path(recording.source).name, recording) for recording, _ in others]
    known = KnownSamples(recording for recording, _ in others)
    for recording, found in (checked_recording(recording, arm) for recording in recordings):
        known.add(recording)
        first, rest = split(recording, holdout)
        train.append(first)
        defects += found
        if rest is not None:
            unseen.append((_last(holdout, rest), rest))
    paths = tuple(recording.source for recording in train)
    share = f'first {100 * (1 - holdout):.0f} % of ' if holdout else ''
    names = share + ', '.join(Path(path).name for path in paths)
    return Division(
        train, unseen, names, paths, (*defects, *(d for _, found in others for d in found)))


def _last(holdout: float, rest: Recording) -> str:
    begin, end = motion_span(rest)
    name = Path(rest.source).name
    return f'last {100 * holdout:.0f} % of {name} ({begin:.1f} to {end:.1f} s)'
