"""Held-out recordings, and an identified model against samples that it has not seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import RecordingError
from dynid_ros.identification.seen_data import KnownSamples, was_fitted
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.model.metrics import Metrics, metrics
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.recordings import quality
from dynid_ros.recordings.recording import Defect, Recording
from dynid_ros.regression.kept_rows import KeptRows
from dynid_ros.regression.preparation import checked_recording, fitted_to, take_motions
from dynid_ros.signals.conditioning import ConditioningSettings
from dynid_ros.signals.standstill import time_in_motion

Array = NDArray[np.float64]


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


@dataclass(frozen=True, eq=False)
class Unseen:
    """
    One recording of the held-out set, conditioned.

    Attributes
    ----------
    source : str
        Name of the samples.
    path : str
        Where they were read from.
    seconds : float
        Their length, s.
    rows : KeptRows
        Rows of its stretches.

    """

    source: str
    path: str
    seconds: float
    rows: KeptRows

    def predicted(self, arm: ArmModel, theta: Array) -> list[Prediction]:
        """Predict its torque with base parameters of an arm."""
        parts = predict(arm, self.rows, theta, self.source, True)
        if not parts:
            raise RecordingError(
                f'{self.path}: {self.seconds:.3g} s are too short for a '
                f'cut-off of {self.rows.settings.cutoff_hz:.3g} Hz; the low-pass alone reaches '
                f'over {3 / self.rows.settings.cutoff_hz:.2g} s')
        return parts


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


def predict(
    arm: ArmModel, rows: KeptRows, theta: Array, source: str, held_out: bool,
) -> list[Prediction]:
    """
    Predict the torque of each stretch of a recording.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    rows : KeptRows
        Rows of its motions.
    theta : (b,) ndarray
        Base parameters.
    source : str
        Name of the samples.
    held_out : bool
        False if they were used for fitting.

    Returns
    -------
    list of Prediction
        One for each stretch that is long enough.

    """
    result = []
    for _, parts in groupby(rows.torque(arm, theta), key=lambda part: part[0]):
        columns = zip(*(part[1:] for part in parts), strict=True)
        result.append(Prediction(source, held_out, *map(np.concatenate, columns)))
    return result


def validate(result: IdentifiedModel, recording: Recording) -> tuple[Metrics, list[Prediction]]:
    """
    Predict the torque of another recording with an identified model.

    Parameters
    ----------
    result : IdentifiedModel
        The model.
    recording : Recording
        A recording that was not used for fitting.

    Returns
    -------
    metrics : Metrics
        Per joint and in all; in-sample figures if the model was fitted to it after all.
    predictions : list of Prediction
        Torque over time.

    Raises
    ------
    RecordingError
        The recording is unusable.

    """
    recording, _ = checked_recording(recording, result.arm)
    source = Path(recording.source).name
    data = Division([], [(source, recording)], '', (), ())
    parts = predict_unseen(
        result.arm, take_unseen(result.arm, data, result.treatment), result.theta)
    held_out = not was_fitted(result, recording, parts)
    parts = [replace(part, held_out=held_out) for part in parts]
    return metrics(source, held_out, result.arm.joint_names, parts), parts


def take_unseen(
    arm: ArmModel, data: Division, settings: ConditioningSettings, stated: ArmModel | None = None,
) -> list[Unseen]:
    """
    Condition the held-out set, whatever the rates of its recordings, and empty it.

    The positions as recorded would fill memory.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the friction terms of its model.
    data : Division
        Its recordings.
    settings : ConditioningSettings
        How the training set was conditioned.
    stated : ArmModel, optional
        A description whose friction is to be compared, too.

    """
    terms = tuple(dict.fromkeys((*arm.friction, *(stated.friction_nominal if stated else ()))))
    taken = []
    while data.unseen:
        source, recording = data.unseen.pop(0)
        own = fitted_to(settings, recording)
        path, seconds, stretches = recording.source, recording.seconds, [recording]
        del recording
        rows = KeptRows(arm, take_motions(arm, stretches, own), own, terms)
        taken.append(Unseen(source, path, seconds, rows))
    return taken


def predict_unseen(arm: ArmModel, unseen: Sequence[Unseen], theta: Array) -> list[Prediction]:
    """
    Predict the torque of a held-out set.

    Raises
    ------
    RecordingError
        A recording is too short.

    """
    return [part for each in unseen for part in each.predicted(arm, theta)]


def held_out_metrics(arm: ArmModel, unseen: Sequence[Unseen], theta: Array) -> Metrics:
    """Return the figures of base parameters on a held-out set."""
    parts = predict_unseen(arm, unseen, theta)
    return metrics(share_of(parts), True, arm.joint_names, parts)


def share_of(parts: Sequence[Prediction]) -> str:
    """Name the samples of several predictions."""
    return ', '.join(dict.fromkeys(part.source for part in parts))
