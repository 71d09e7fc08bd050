"""Predicted torque of recordings, and an identified model against those it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import RecordingError
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.model.metrics import Metrics, metrics
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.recordings.recording import Recording
from dynid_ros.regression.preparation import checked_recording, fitted_to, motions
from dynid_ros.regression.rows import regression_blocks, RowBlock
from dynid_ros.signals.conditioning import ConditionedMotion, ConditioningSettings

Array = NDArray[np.float64]


def predict(
    arm: ArmModel,
    motions: Sequence[ConditionedMotion],
    treatment: ConditioningSettings,
    theta: Array,
    source: str,
    held_out: bool,
) -> list[Prediction]:
    """
    Predict the torque of each stretch of a recording.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    treatment : ConditioningSettings
        Cut-off and decimation.
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
    blocks = regression_blocks(arm, motions, treatment, theta)
    stretches = groupby(blocks, key=lambda block: block.segment)
    return [
        _joined([_predicted(b, theta) for b in group], source, held_out) for _, group in stretches
    ]


def _predicted(block: RowBlock, theta: Array) -> tuple[Array, ...]:
    torques = (np.where(block.moving, x, np.nan) for x in (block.tau, block.W @ theta))
    return (block.t, block.q, block.qd, *torques)


def _joined(parts: Sequence[tuple[Array, ...]], source: str, held_out: bool) -> Prediction:
    t, q, qd, tau, tau_hat = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Prediction(source, held_out, t, q, qd, tau, tau_hat)


def validate(result: IdentifiedModel, log: Recording) -> tuple[Metrics, list[Prediction]]:
    """
    Predict the torque of another recording with an identified model.

    Parameters
    ----------
    result : IdentifiedModel
        The model.
    log : Recording
        A recording that was not used for fitting.

    Returns
    -------
    metrics : Metrics
        Per joint and in all.
    predictions : list of Prediction
        Torque over time.

    Raises
    ------
    RecordingError
        The recording is unusable.

    """
    log, _ = checked_recording(log, result.arm)
    source = Path(log.source).name
    parts = predict_recording(result.arm, log, result.treatment, result.theta, source)
    return metrics(source, True, result.arm.joint_names, parts), parts


def share_of(parts: Sequence[Prediction]) -> str:
    """Name the samples of several predictions."""
    return ', '.join(dict.fromkeys(part.source for part in parts))


def predict_recording(
    arm: ArmModel, log: Recording, treatment: ConditioningSettings, theta: Array, source: str
) -> list[Prediction]:
    """Predict the torque of a whole recording, whatever its rate."""
    treatment = fitted_to(treatment, log)
    parts = predict(arm, motions(arm, log, treatment), treatment, theta, source, True)
    if not parts:
        raise RecordingError(
            f'{log.source}: {log.seconds:.3g} s are too short for a cut-off of '
            f'{treatment.cutoff_hz:.3g} Hz; the low-pass alone reaches over '
            f'{3 / treatment.cutoff_hz:.2g} s'
        )
    return parts
