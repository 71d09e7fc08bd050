# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The source of a file: motions, recordings and stored predictions, with outliers and defects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dynid_ros.arm.description.schema import read_yaml
from dynid_ros.arm.drive import damping_torque, joint_torque
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.history import history_of
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import check_possible, nominal_parameters
from dynid_ros.errors import ArmError, InputError, RecordingError, ResultError
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
from dynid_ros.motion.trajectory.motion_file import read_motion
from dynid_ros.motion.trajectory.trajectory_file import read_trajectory
from dynid_ros.pages.viewer.sources.track import at_times, frame_times, Moment, Track
from dynid_ros.utilities.arrays import Array, joined

#: Residual at which a joint is red, as a share of the smallest outlier: residuals of good
#: recordings span half of the colours.
RED_RESIDUAL = 0.4


def motion_track(path: Path, arm: ArmModel, model: IdentifiedModel | None = None) -> Track:
    """
    Read a motion.

    Parameters
    ----------
    path : Path
        excitation.yaml of ``dynid design``, or a JointTrajectory as YAML.
    arm : ArmModel
        The arm to move.
    model : IdentifiedModel, optional
        Model that predicts the torque; by default the nominal parameters of the arm do.

    Raises
    ------
    InputError
        The file is not a motion, or is of another arm.

    """
    content = read_yaml(path)
    if isinstance(content, dict) and 'points' in content:
        t, q, qd, qdd = _points(path, arm)
    else:
        excitation = read_motion(path, arm)
        t = frame_times(excitation.motion.duration)
        q, qd, qdd = excitation.motion.evaluate(t)
    return Track(f'{arm.name}: {path.name}', arm, t, q, qd, _torque(arm, model, t, q, qd, qdd))


def _points(path: Path, arm: ArmModel) -> tuple[Array, Array, Array, Array]:
    """Points of a trajectory, in the order of the arm, at the times of frames."""
    found = read_trajectory(path)
    if sorted(found.joint_names) != sorted(arm.joint_names):
        raise InputError(
            f"{path} moves the joints {', '.join(found.joint_names)}, but the arm "
            f"'{arm.name}' has {', '.join(arm.joint_names)}; choose the arm that it was made for")
    order = [found.joint_names.index(name) for name in arm.joint_names]
    start = found.t[0]
    t = frame_times(float(found.t[-1] - start))
    q, qd, qdd = (at_times(t + start, found.t, x[:, order])
                  for x in (found.q, found.qd, found.qdd))
    return t, q, qd, qdd


def _torque(
    arm: ArmModel, model: IdentifiedModel | None, t: Array, q: Array, qd: Array, qdd: Array,
) -> Array | None:
    """Torque (N, n) by a model, or by nominal parameters if they are possible."""
    if model is not None:
        return model.predict_torque(q, qd, qdd, history=history_of(t, q))
    # Friction that depends on load or history needs an estimate.
    plain = arm.memoryless
    try:
        check_possible(plain)
        return np.asarray(regressor(plain, q, qd, qdd) @ nominal_parameters(plain))
    except ArmError:
        return None


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
    Prepare the predictions of a result: held-out ones, otherwise others.

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
    whole = joined(parts)
    known, first = np.unique(whole.t, return_index=True)
    t = frame_times(float(known[-1]))
    q, qd = (at_times(t, known, each[first]) for each in (whole.q, whole.qd))
    return with_prediction(Track(f'{arm.name}: {parts[0].source}', arm, t, q, qd), parts, model)


def with_prediction(track: Track, parts: Sequence[Prediction], model: IdentifiedModel) -> Track:
    """Add measured and predicted torque, residuals as colours, and outliers as moments."""
    far = far_samples(parts, model.treatment.cutoff_hz, model.sigma)
    found = merged(describe(model.arm.joint_names, parts, far, model.sigma))
    whole = joined(parts)
    known, first = np.unique(whole.t, return_index=True)
    inside = np.any([(track.t >= part.t[0]) & (track.t <= part.t[-1]) for part in parts], axis=0)
    tau, tau_hat = (np.where(inside[:, None], at_times(track.t, known, each[first]), np.nan)
                    for each in (whole.tau, whole.tau_hat))
    limit = RED_RESIDUAL * OUTLIER_DEVIATIONS * np.maximum(model.sigma, np.finfo(float).tiny)
    return track.with_moments(
        (Moment(each.begin, 'outlier', each.sentence) for each in found), tau=tau,
        tau_hat=tau_hat, heat=np.clip(np.abs(tau - tau_hat) / limit, 0, 1))


def check_joints(model: IdentifiedModel, arm: ArmModel, path: Path) -> None:
    """
    Make sure that a model has the joints of an arm.

    Raises
    ------
    RecordingError
        Their joints differ.

    """
    if model.arm.joint_names != arm.joint_names:
        raise RecordingError(
            f"{path} is a model of the joints {', '.join(model.arm.joint_names)}, but the arm "
            f"'{arm.name}' has {', '.join(arm.joint_names)}; give the arm that was identified")
