"""The whole way from recordings to an identified, validated and judged model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.calibration.joint_offsets import recording_offsets
from dynid_ros.cross_validation.unseen_residual import unseen_sigma
from dynid_ros.diagnosis.cause import with_cause
from dynid_ros.diagnosis.clipped_signals import (
    clip_levels,
    clipped_findings,
    clipped_samples,
)
from dynid_ros.diagnosis.verdict import judge
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import InputError, RecordingError
from dynid_ros.identification.bandwidth import beginning, error_by_bandwidth
from dynid_ros.identification.gain_findings import refuted_gains, with_gains
from dynid_ros.identification.model_choice import fit_model, plain_fit, unexplained
from dynid_ros.identification.stated_parameters import stated_errors
from dynid_ros.identification.validation import (
    divide,
    Division,
    held_out_metrics,
    predict_unseen,
    share_of,
    take_unseen,
)
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.model.metrics import metrics
from dynid_ros.model.torque_prediction import Prediction
from dynid_ros.recordings.in_blocks import finite_span
from dynid_ros.recordings.recording import Recording
from dynid_ros.regression.covariance import hac_covariance, weighted_scores
from dynid_ros.regression.kept_rows import KeptRows
from dynid_ros.regression.preparation import choose_conditioning, data_hash, take_motions
from dynid_ros.regression.row_methods import METHODS
from dynid_ros.signals.trial_samples import joined, trial_samples

Array = NDArray[np.float64]

#: Stages of which the result has the seconds.
STAGES = ('condition', 'regress', 'estimate')


def identify(
    arm: ArmModel,
    recordings: Iterable[Recording],
    *,
    friction: Sequence[str] | None = None,
    holdout: float = 0.33,
    validation: Iterable[Recording] = (),
    method: str = 'differentiated',
    joint_offsets: bool = False,
    stated: ArmModel | None = None,
) -> IdentifiedModel:
    """
    Identify the dynamics of an arm.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recordings : iterable of Recording
        Recordings to fit; an iterator that keeps nothing saves memory.
    friction : sequence of str, optional
        Friction terms; by default they are chosen by cross-validation.
    holdout : float
        Share of the motion in each recording, at its end, that is kept from fitting and used for
        validation; ignored if there are recordings for validation.
    validation : iterable of Recording
        Further recordings, for validation only.
    method : str
        One of `METHODS`: how rows are made. Figures are those of torque for each of them.
    joint_offsets : bool
        Whether to estimate joint zero offsets too, and to correct the positions by them.
    stated : ArmModel, optional
        The same joints by another description, whose parameters are compared on the held-out set;
        by default those that `arm` states, if it states any.

    Returns
    -------
    IdentifiedModel
        Parameters with error bars, figures and verdict.

    Raises
    ------
    InputError
        An argument is out of its range.
    RecordingError
        There is no recording, or one is unusable or too short.

    """
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, not '{method}'")
    if isinstance(recordings, Recording):
        raise InputError('recordings must be a list of Recording; give [recording]')
    if not 0 <= holdout < 1:
        raise InputError(f'holdout must be a share from 0 to below 1, not {holdout:g}')
    laps = [perf_counter()]
    data = divide(arm, recordings, validation, holdout)
    if not data.train:
        raise RecordingError('recordings must hold at least one Recording, but holds none')
    gravity = arm.gravity
    if stated is None and arm.inertial is not None:
        stated = arm
    arm = _configured(arm, friction)
    notes: tuple[str, ...] = ()
    if joint_offsets:
        arm, data, notes = _with_offsets(arm, data)
    settings = choose_conditioning(arm.memoryless, data.train)
    known: dict[str, Any] = {
        'samples': sum(len(recording.t) for recording in data.train), 'sources': data.paths,
        'seconds': sum(recording.seconds for recording in data.train),
        'data_hash': data_hash(data.train)}
    levels = clip_levels([*data.train, *(recording for _, recording in data.unseen)])
    prepared = take_motions(arm, data.train, settings)
    laps.append(perf_counter())

    kept = KeptRows(arm, prepared, settings)
    model = fit_model(arm, kept, method, data.source, choose=friction is None)
    arm, solution, own, theta = model.arm, model.solution, model.own, model.solution.theta
    laps.append(perf_counter())

    scores = weighted_scores(
        model.rows.blocks(arm, theta), theta, solution.sigma)
    covariance = hac_covariance(
        scores, solution.white_covariance, settings.rate_hz / settings.decimation)
    spans = [finite_span(motion.qdd) for motion in prepared]
    acceleration = np.max([np.maximum(-low, high) for low, high in spans], axis=0)
    sigma = _residual_spread(own)
    unseen_error = unseen_sigma(arm, kept.masked(model.rows.motions), theta, covariance, sigma)
    # A wrong model leaves out as outliers what would show its cause.
    samples = [trial_samples(prepared, settings, clipped_samples(arm, prepared, levels))]
    trials, notes, findings = model.trials, (*notes, *model.notes), model.findings
    refuted = refuted_gains(arm, kept.masked(model.rows.motions), theta)
    plain = plain_fit(model)
    del prepared, model, kept
    raw = beginning(recording for _, recording in data.unseen)
    held = take_unseen(arm, data, settings, stated)
    unseen = predict_unseen(arm, held, theta)
    samples += [
        trial_samples(each.motions, each.settings, clipped_samples(arm, each.motions, levels))
        for each in (unseen_set.rows for unseen_set in held)]
    fitted = metrics(share_of(own), False, arm.joint_names, own)
    held_out = metrics(share_of(unseen), True, arm.joint_names, unseen) if unseen else None
    verdict = judge(
        arm, solution, covariance, own, acceleration, fitted, held_out, findings)
    verdict, remarks = with_cause(
        verdict, replace(arm.memoryless, gravity=gravity), joined(samples),
        clipped_findings(arm, levels))
    verdict = with_gains(verdict, refuted)
    notes = (*notes, *remarks, *unexplained(arm, own, unseen))
    laps.append(perf_counter())
    result = IdentifiedModel(
        arm=arm, theta=theta, covariance=covariance,
        std_white=np.sqrt(np.diag(solution.white_covariance)),
        root_information=solution.root_information,
        sigma=sigma, unseen_sigma=unseen_error, condition_number=solution.condition_number,
        treatment=replace(settings, notes=notes), fit=fitted,
        validation=held_out, verdict=verdict, friction_trials=trials, defects=data.defects,
        timing=dict(zip(STAGES, np.diff(laps).tolist(), strict=True)),
        predictions=(*own, *unseen), **known,
        error_by_bandwidth=error_by_bandwidth((arm, theta), raw, settings, plain),
    )
    if not held:
        return result
    possible = base_parameters(arm).grouping @ result.standard_parameters().values
    return replace(
        result, consistent=held_out_metrics(arm, held, possible),
        stated={} if stated is None else stated_errors(result, stated, held))


def _with_offsets(arm: ArmModel, data: Division) -> tuple[ArmModel, Division, tuple[str, ...]]:
    """Correct all recordings, and the arm with them, so that later recordings are too."""
    found = recording_offsets(arm, data.train)
    train = [replace(recording, q=recording.q + found.offset) for recording in data.train]
    unseen = [(source, replace(recording, q=recording.q + found.offset))
              for source, recording in data.unseen]
    arm = replace(arm, drive=replace(arm.drive, offset=arm.drive.offset + found.offset))
    return arm, replace(data, train=train, unseen=unseen), found.sentences


def _configured(arm: ArmModel, friction: Sequence[str] | None) -> ArmModel:
    arm = arm.as_measured
    return arm if friction is None else arm.with_friction(tuple(friction))


def _residual_spread(parts: Sequence[Prediction]) -> Array:
    residual = np.concatenate([part.tau - part.tau_hat for part in parts])
    seen = np.maximum(np.isfinite(residual).sum(axis=0), 1)
    return np.asarray(np.sqrt(np.nansum(residual**2, axis=0) / seen))
