"""The torque error of a model at other bandwidths than that of its fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dynid_ros.errors import InputError
from dynid_ros.identification.validation import Division, predict_unseen, take_unseen
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.model.metrics import Metrics, metrics
from dynid_ros.recordings.recording import Recording
from dynid_ros.regression.preparation import checked_recording
from dynid_ros.signals import conditioning
from dynid_ros.signals.filters import decimation_step
from dynid_ros.signals.segments import sample_rate


def error_at(
    model: IdentifiedModel, recording: Recording, cutoff_hz: float, held_out: bool = True,
) -> Metrics:
    """
    Predict the torque of a recording below another cut-off.

    A low-pass takes noise out of the torque, and vibration that no rigid body explains: errors of
    two models compare at one bandwidth only.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    recording : Recording
        A recording of its arm.
    cutoff_hz : float
        Cut-off of the low-pass that measured and predicted torque pass, Hz.
    held_out : bool
        False if the recording was used for fitting.

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
    highest = conditioning.THRESHOLDS.highest * rate
    if cutoff_hz > highest:
        raise InputError(
            f'{recording.source}: its rate of {rate:.4g} Hz allows a cut-off of {highest:.4g} Hz '
            f'at most, not {cutoff_hz:g} Hz')
    settings = replace(
        model.treatment, cutoff_hz=cutoff_hz, cutoff_from_data=False, rate_hz=rate,
        decimation=decimation_step(rate, cutoff_hz))
    source = Path(recording.source).name
    data = Division([], [(source, recording)], '', (), ())
    parts = predict_unseen(model.arm, take_unseen(model.arm, data, settings), model.theta)
    return metrics(source, held_out, model.arm.joint_names, parts)
