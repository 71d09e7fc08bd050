# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Validate an identified model on a recording that was not fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals import conditioning
from dynid_ros.data.signals.segments import sample_rate
from dynid_ros.errors import InputError
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.estimation.identification.conditioned_data import ConditionedSet, unseen_set
from dynid_ros.estimation.identification.leakage_check import marked_repeat, was_fitted
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import Metrics, metrics
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
        Per joint and overall; in-sample metrics if the model was fitted to the recording.
    predictions : list of Prediction
        Torque over time.

    Raises
    ------
    RecordingError
        The recording is unusable.

    """
    recording, _ = checked_recording(recording, result.arm)
    parts = unseen_set(result.arm, recording, result.treatment).predict(result.arm, result.theta)
    held_out = not was_fitted(result, recording, parts)
    parts = [replace(part, held_out=held_out) for part in parts]
    found = metrics(result.arm.joint_names, parts)
    if held_out:
        fitted = [part for part in result.predictions if not part.held_out]
        found = replace(found, source=marked_repeat(found.source, fitted, recording))
    return found, parts


def error_at(model: IdentifiedModel, recording: Recording, cutoff_hz: float) -> Metrics:
    """
    Predict the torque of a recording below another cut-off.

    A low-pass removes noise, and vibration that no rigid body explains, from the torque. So errors
    of two models are comparable only at one bandwidth.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    recording : Recording
        A recording of its arm.
    cutoff_hz : float
        Cut-off of the low-pass that measured and predicted torque pass, Hz.

    Returns
    -------
    Metrics
        Per joint and in all.

    Raises
    ------
    InputError
        The recording is sampled too slowly for the cut-off.
    RecordingError
        The recording is unusable.

    """
    recording, _ = checked_recording(recording, model.arm)
    rate = sample_rate(recording)
    highest = conditioning.HIGHEST_CUTOFF * rate
    if cutoff_hz > highest:
        raise InputError(
            f'{recording.source}: its rate of {rate:.4g} Hz allows a cut-off of {highest:.4g} Hz '
            f'at most, not {cutoff_hz:g} Hz')
    settings = replace(model.treatment, rate_hz=rate).at(cutoff_hz)
    return held_out_metrics(model.arm, [unseen_set(model.arm, recording, settings)], model.theta)


def held_out_metrics(arm: ArmModel, held_out: Sequence[ConditionedSet], theta: Array) -> Metrics:
    """Return the metrics of base parameters on a held-out set."""
    parts = [part for each in held_out for part in each.predict(arm, theta)]
    return metrics(arm.joint_names, parts)
