"""An identified model against samples that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.estimation.identification.conditioned_data import ConditionedSet, unseen_set
from dynid_ros.estimation.identification.leakage_check import marked_repeat, was_fitted
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import Metrics, metrics
from dynid_ros.estimation.model.torque_prediction import Prediction
from dynid_ros.estimation.regression.preparation import checked_recording
from dynid_ros.utilities.arrays import Array


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
    parts = unseen_set(result.arm, source, recording, result.treatment).predict(
        result.arm, result.theta)
    held_out = not was_fitted(result, recording, parts)
    if held_out:
        source = marked_repeat(
            source, [part for part in result.predictions if not part.held_out], recording)
    parts = [replace(part, held_out=held_out) for part in parts]
    return metrics(source, held_out, result.arm.joint_names, parts), parts


def held_out_metrics(arm: ArmModel, held_out: Sequence[ConditionedSet], theta: Array) -> Metrics:
    """Return the figures of base parameters on a held-out set."""
    return metrics_of(arm, [part for each in held_out for part in each.predict(arm, theta)])


def metrics_of(arm: ArmModel, parts: Sequence[Prediction]) -> Metrics:
    """Return the figures of predictions, with the names of all of their samples."""
    sources = ', '.join(dict.fromkeys(part.source for part in parts))
    return metrics(sources, parts[0].held_out, arm.joint_names, parts)
