"""An identified model against samples that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.repetition import REPEATS, repeats
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.identification.conditioned_data import HeldOut, take_unseen
from dynid_ros.estimation.identification.leakage_check import was_fitted
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import Metrics, metrics
from dynid_ros.estimation.model.torque_prediction import Prediction
from dynid_ros.estimation.regression.kept_rows import KeptRows
from dynid_ros.estimation.regression.preparation import checked_recording
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True, eq=False)
class Unseen:
    """
    Rows of one recording of the held-out set.

    Attributes
    ----------
    recording : HeldOut
        The recording.
    rows : KeptRows
        Rows of its stretches.

    """

    recording: HeldOut
    rows: KeptRows

    def predicted(self, arm: ArmModel, theta: Array) -> list[Prediction]:
        """Predict its torque with base parameters of an arm."""
        known = self.recording
        parts = predict(arm, self.rows, theta, known.source, True)
        if not parts:
            cutoff = known.stretches.settings.cutoff_hz
            raise RecordingError(
                f'{known.path}: {known.seconds:.3g} s are too short for a '
                f'cut-off of {cutoff:.3g} Hz; the low-pass alone reaches over {3 / cutoff:.2g} s')
        return parts


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
    held = unseen_rows(
        result.arm, take_unseen(result.arm, [(source, recording)], result.treatment))
    parts = predict_unseen(result.arm, held, result.theta)
    held_out = not was_fitted(result, recording, parts)
    fitted = [(part.t, part.q) for part in result.predictions if not part.held_out]
    if held_out and fitted and repeats(fitted, recording.t, recording.q):
        source = f'{source} ({REPEATS})'
    parts = [replace(part, held_out=held_out) for part in parts]
    return metrics(source, held_out, result.arm.joint_names, parts), parts


def unseen_rows(
    arm: ArmModel, recordings: Sequence[HeldOut], stated: ArmModel | None = None,
) -> list[Unseen]:
    """
    Make the rows of a held-out set.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the friction terms of its model.
    recordings : sequence of HeldOut
        Its recordings.
    stated : ArmModel, optional
        A description whose friction is to be compared, too.

    """
    terms = tuple(dict.fromkeys((*arm.friction, *(stated.friction_nominal if stated else ()))))
    return [Unseen(each, KeptRows(arm, each.stretches.motions, each.stretches.settings, terms))
            for each in recordings]


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
