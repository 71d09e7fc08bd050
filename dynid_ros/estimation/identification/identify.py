# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
From recordings to an identified model.

The stages of `identify` in order, each with its input and output:

1. `divide`: recordings → `Division`, checked samples of a training set and a held-out set
2. `correct_zeros`, if asked: `Division` → `Division` with the zeros of the joints corrected
3. `relate_gains`, if a drive follows commands and no stiffness is stated: `Division` → `Division`
   with gains that the data and the stated masses give
4. `condition`: `Division` → `ConditionedData`, resampled, low-passed and differentiated
5. `fit_model`: `KeptRows` of the training set → `FittedModel`, with friction chosen and outliers
   left out
6. `estimate_parameters`: `FittedModel` → `Estimate`, physically possible, with error bars
7. `judge_model`: `Estimate` → `IdentifiedModel`, with held-out error and verdict
8. `compare_bandwidths`: `IdentifiedModel` → the same with its error by cut-off
9. `compare_parameters`: `IdentifiedModel` → the same with the error of possible and of stated
   parameters
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import about, InputError
from dynid_ros.estimation.blocks.row_methods import DIFFERENTIATED, METHODS
from dynid_ros.estimation.calibration.joint_offsets import recording_offsets
from dynid_ros.estimation.diagnosis.clipped_signals import clipped_findings
from dynid_ros.estimation.estimate.chosen_estimate import Estimate
from dynid_ros.estimation.identification.bandwidth import compare_bandwidths
from dynid_ros.estimation.identification.command_gains import relate_gains
from dynid_ros.estimation.identification.conditioned_data import condition, ConditionedData
from dynid_ros.estimation.identification.model_choice import (
    estimate_parameters,
    fit_model,
    FittedModel,
    residual_spread,
    unexplained,
    with_plain_friction,
)
from dynid_ros.estimation.identification.stated_parameters import compare_parameters
from dynid_ros.estimation.identification.train_test_split import divide, Division
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import metrics
from dynid_ros.estimation.verdict.judge import judge, single_files
from dynid_ros.utilities.inputs import SHARE
from dynid_ros.utilities.one_thread import one_thread
from dynid_ros.utilities.progress import progress

#: Stages whose computing time the result holds.
TIMED_STAGES = ('read', 'condition', 'regress', 'estimate')


@one_thread()
def identify(
    arm: ArmModel,
    recordings: Iterable[Recording],
    *,
    friction: Sequence[str] | None = None,
    holdout: float | None = None,
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
        Friction terms; by default all, with strengths chosen by cross-validation.
    holdout : float, optional
        Share of the motion at the end of each recording that is held out for validation; ignored
        if there are recordings for validation. By default `HOLDOUT`, or none of a recording that
        is too short.
    validation : iterable of Recording
        Further recordings, for validation only.
    method : str
        One of `METHODS`: how rows are made. Metrics always refer to torque.
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
    holdout = SHARE.take_given('holdout', holdout)
    laps = [perf_counter()]
    progress('read', 0.0)
    division = divide(arm, recordings, validation, holdout, friction)
    laps.append(perf_counter())
    if joint_offsets:
        division = correct_zeros(division)
    if stated is None and arm.inertial is not None:
        stated = arm
    division = relate_gains(division, stated, friction)
    progress('condition', 0.2)
    data = condition(division, thin=method == DIFFERENTIATED)
    laps.append(perf_counter())
    progress('fit', 0.3)
    with about(*division.paths):
        fitted = fit_model(
            division.arm, data.train.rows, method, division.source, choose=friction is None)
    fitted, estimate = estimate_parameters(fitted, division.source)
    plain = with_plain_friction(fitted, estimate)
    laps.append(perf_counter())
    progress('search for faults', 0.7)
    model = judge_model(fitted, estimate, data, arm)
    progress('error by bandwidth', 0.9)
    model = compare_bandwidths(model, data, plain)
    laps.append(perf_counter())
    model = compare_parameters(model, data, stated)
    stages = dict(zip(TIMED_STAGES, np.diff(laps).tolist(), strict=True))
    return replace(model, timing={**stages, 'total': perf_counter() - laps[0]})


def correct_zeros(division: Division) -> Division:
    """Correct positions by the zero offsets of joints, identified from the training set."""
    arm = division.arm
    with about(*division.paths):
        found = recording_offsets(arm, division.train)

    def corrected(recording: Recording) -> Recording:
        return replace(recording, q=recording.q + found.offset)

    return replace(
        division, train=[corrected(recording) for recording in division.train],
        unseen=[(source, corrected(recording)) for source, recording in division.unseen],
        arm=replace(arm, drive=replace(arm.drive, offset=arm.drive.offset + found.offset)),
        notes=(*division.notes, *found.sentences))


def judge_model(
    fitted: FittedModel, estimate: Estimate, data: ConditionedData, stated: ArmModel,
) -> IdentifiedModel:
    """Validate parameters on the held-out set, and judge them."""
    arm, in_sample, division = fitted.arm, fitted.in_sample, data.division
    unseen = [part for each in data.held_out for part in each.predict(arm, estimate.theta)]
    fit = metrics(arm.joint_names, in_sample)
    validation = metrics(arm.joint_names, unseen) if unseen else None
    verdict, remarks = judge(
        arm, estimate, in_sample, data.largest_acceleration, fit, validation, data.trial,
        gravity=stated.gravity, earlier=fitted.findings,
        clipped=clipped_findings(arm, data.levels), wider=data.wider)
    files = [metrics(arm.joint_names, [part for part in unseen if part.source == source])
             for source in dict.fromkeys(part.source for part in unseen)]
    verdict = replace(verdict, findings=(
        *verdict.findings, *single_files(fit, validation, files), *division.findings))
    notes = (*division.notes, *fitted.notes, *remarks,
             *unexplained(arm, in_sample, unseen, data.train.settings.cutoff_hz))
    return IdentifiedModel(
        arm=arm, **estimate.fields, sigma=residual_spread(in_sample),
        friction_strength=fitted.strengths,
        samples=data.samples, seconds=data.seconds, sources=division.paths,
        data_hash=data.data_hash, treatment=replace(data.train.settings, notes=notes), fit=fit,
        validation=validation, held_out=division.held_out, verdict=verdict,
        defects=division.defects, predictions=(*in_sample, *unseen), repeats=division.repeats,
        clocks=division.clocks)
