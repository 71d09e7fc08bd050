"""Recordings and stored predictions over time, with outliers and defects as moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dynid_ros.arm.drive import damping_torque, joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import RecordingError, ResultError
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.estimation.diagnosis.outliers import (
    describe,
    far_samples,
    merged,
    OUTLIER_DEVIATIONS,
)
from dynid_ros.estimation.identification.validation import validate
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.pages.view.track import at_times, frame_times, Moment, Track
from dynid_ros.utilities.arrays import Array

#: Residual at which a joint is red, as share of the smallest outlier: residuals of good
#: recordings then span half of the colours.
RED = 0.4


def recording_track(
    recording: Recording, arm: ArmModel, model: IdentifiedModel | None = None,
) -> Track:
    """
    Prepare a recording for a page.

    Parameters
    ----------
    recording : Recording
        As read.
    arm : ArmModel
        The arm.
    model : IdentifiedModel, optional
        Model that predicts its torque.

    Raises
    ------
    RecordingError
        It is unusable.

    """
    known, defects = checked_recording(recording, arm)
    start = float(known.t[0])
    t = frame_times(float(known.t[-1]) - start)
    q = at_times(t + start, known.t, known.q)
    qd = np.gradient(q, t, axis=0)
    track = Track(
        f'{arm.name}: {Path(recording.source).name}', arm, t, q, qd,
        at_times(t + start, known.t, joint_torque(known.u, arm.drive))
        - damping_torque(qd, arm.drive),
        moments=tuple(Moment(each.first_stamp, 'defect', each.message)
                      for each in defects if each.first_stamp is not None),
        notes=tuple(each.message for each in defects if each.first_stamp is None))
    if model is None:
        return track
    _, parts = validate(model, recording)
    return with_prediction(track, [replace(part, t=part.t - start) for part in parts], model)


def result_track(model: IdentifiedModel, arm: ArmModel) -> Track:
    """
    Prepare the predictions that are stored with a result: held-out ones, or else others.

    Raises
    ------
    ResultError
        The result holds none.

    """
    parts = [part for part in model.predictions if part.held_out] or list(model.predictions)
    parts = [part for part in parts if part.source == parts[0].source and len(part.t) > 1]
    if not parts:
        raise ResultError(
            'the result holds no predictions over time: prediction.npz is missing beside '
            'result.yaml; identify again')
    start = float(parts[0].t[0])
    parts = [replace(part, t=part.t - start) for part in parts]
    times, q, qd = (np.concatenate([getattr(part, name) for part in parts])
                    for name in ('t', 'q', 'qd'))
    known, first = np.unique(times, return_index=True)
    t = frame_times(float(known[-1]))
    q, qd = (at_times(t, known, each[first]) for each in (q, qd))
    return with_prediction(Track(f'{arm.name}: {parts[0].source}', arm, t, q, qd), parts, model)


def with_prediction(track: Track, parts: Sequence[Prediction], model: IdentifiedModel) -> Track:
    """Add measured and predicted torque, residuals as colours, and outliers as moments."""
    far = far_samples(parts, model.treatment.cutoff_hz, model.sigma)
    found = merged(describe(model.arm.joint_names, parts, far, model.sigma))
    tau, tau_hat = (_resampled(track.t, parts, name) for name in ('tau', 'tau_hat'))
    limit = RED * OUTLIER_DEVIATIONS * np.maximum(model.sigma, np.finfo(float).tiny)
    return track.with_moments(
        (Moment(each.begin, 'outlier', each.sentence) for each in found), tau=tau,
        tau_hat=tau_hat, heat=np.clip(np.abs(tau - tau_hat) / limit, 0, 1))


def _resampled(t: Array, parts: Sequence[Prediction], name: str) -> Array:
    """Values at times (N,), not a number outside of the parts."""
    result = np.full((len(t), getattr(parts[0], name).shape[1]), np.nan)
    for part in parts:
        inside = (t >= part.t[0]) & (t <= part.t[-1])
        if inside.any():
            result[inside] = at_times(t[inside], part.t, getattr(part, name))
    return result


def check_joints(model: IdentifiedModel, arm: ArmModel, path: Path) -> None:
    """
    Make sure that a model is one of an arm.

    Raises
    ------
    RecordingError
        Their joints differ.

    """
    if model.arm.joint_names != arm.joint_names:
        raise RecordingError(
            f"{path} is a model of the joints {', '.join(model.arm.joint_names)}, but the arm "
            f"'{arm.name}' has {', '.join(arm.joint_names)}; give the arm that was identified")
