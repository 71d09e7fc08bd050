"""The whole way from recordings to an identified, validated and judged model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import InputError, RecordingError
from dynid_ros.estimation.calibration.joint_offsets import recording_offsets
from dynid_ros.estimation.diagnosis.cause import with_cause
from dynid_ros.estimation.diagnosis.clipped_signals import (
    clip_levels,
    ClipLevels,
    clipped_findings,
)
from dynid_ros.estimation.identification.bandwidth import (
    beginning,
    CUTOFFS_HZ,
    error_by_bandwidth,
    with_unrepeated,
)
from dynid_ros.estimation.identification.conditioned_data import conditioned, ConditionedData
from dynid_ros.estimation.identification.fit_and_validate import fit_and_validate, Fitted
from dynid_ros.estimation.identification.gain_findings import with_gains
from dynid_ros.estimation.identification.model_choice import unexplained
from dynid_ros.estimation.identification.repeatability import unrepeated_torque
from dynid_ros.estimation.identification.stated_parameters import stated_errors
from dynid_ros.estimation.identification.train_test_split import divide, Division
from dynid_ros.estimation.identification.validation import held_out_metrics
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict import Verdict
from dynid_ros.estimation.regression.preparation import (
    choose_conditioning,
    data_hash,
    released,
    widened,
)
from dynid_ros.estimation.regression.row_methods import METHODS
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.one_thread import one_thread
from dynid_ros.utilities.progress import progress

#: Stages of which the result has the seconds.
STAGES = ('condition', 'regress', 'estimate')


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
        Friction terms; by default all, as strong as they predict blocks that were not fitted.
    holdout : float, optional
        Share of the motion in each recording, at its end, that is kept from fitting and used for
        validation; ignored if there are recordings for validation. By default `HOLDOUT`, and
        nothing of a recording that is too short for it.
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
    if holdout is not None and not 0 <= holdout < 1:
        raise InputError(f'holdout must be a share from 0 to below 1, not {holdout:g}')
    laps = [perf_counter()]
    progress('read', 0.0)
    data = divide(arm, recordings, validation, holdout)
    if not data.train:
        raise RecordingError('recordings must hold at least one Recording, but holds none')
    gravity = arm.gravity
    if stated is None and arm.inertial is not None:
        stated = arm
    arm = _configured(arm, friction)
    notes = data.notes
    if joint_offsets:
        arm, data, found = _with_offsets(arm, data)
        notes += found
    progress('condition', 0.2)
    band = choose_conditioning(arm.memoryless, data.train)
    known: dict[str, Any] = {
        'samples': sum(len(recording.t) for recording in data.train), 'sources': data.paths,
        'seconds': sum(recording.seconds for recording in data.train),
        'data_hash': data_hash(data.train)}
    levels = clip_levels([*data.train, *(recording for _, recording in data.unseen)])
    raw = beginning(recording for _, recording in data.unseen)
    settings = widened(band, [recording for _, recording in data.unseen])
    # As recorded they would fill memory: from here on, whoever conditions them holds them alone.
    train, unseen = released(data.train), released(data.unseen)
    data = replace(data, train=[], unseen=[])
    wide = conditioned(arm, train, unseen, settings, levels)
    narrow = wide if settings == band else wide.narrowed(band.cutoff_hz)
    laps.append(perf_counter())

    progress('fit and validate', 0.3)
    fastest = (narrow if narrow.train.motions else wide).largest_acceleration
    fitted = fit_and_validate(
        arm, wide, data.source, method, friction is None, stated, fastest,
        defects=data.defects, repeats=data.repeats, **known)
    laps.append(perf_counter())

    progress('search for faults', 0.7)
    # Faults show below the cut-off that the motion calls for, friction above it.
    verdict, remarks = _verdict(
        fitted, narrow if narrow.train.motions else wide, levels, gravity)
    model = fitted.model
    arm, theta, settings = model.arm, model.theta, model.treatment
    progress('error by bandwidth', 0.9)
    unrepeated = unrepeated_torque(
        arm, theta,
        [*wide.train.motions, *(motion for each in wide.held_out if data.repeats
                                for motion in each.stretches.motions)],
        (settings.cutoff_hz, *CUTOFFS_HZ, None))
    floor = unrepeated.get(settings.cutoff_hz)
    laps.append(perf_counter())
    result = replace(
        model, verdict=verdict, treatment=replace(
            settings, notes=(*notes, *settings.notes, *remarks)),
        timing=dict(zip(STAGES, np.diff(laps).tolist(), strict=True)),
        error_by_bandwidth=with_unrepeated(
            error_by_bandwidth((arm, theta), raw, settings, fitted.plain), model.validation,
            unrepeated),
        unrepeated=None if floor is None else tuple(floor.tolist()))
    held = fitted.held
    if not held:
        return result
    possible = base_parameters(arm).grouping @ result.standard_parameters().values
    return replace(
        result, consistent=result.validation if result.possible else held_out_metrics(
            arm, held, possible),
        stated={} if stated is None else stated_errors(result, stated, held))


def _verdict(
    fitted: Fitted, data: ConditionedData, levels: ClipLevels, gravity: Array,
) -> tuple[Verdict, tuple[str, ...]]:
    """Open the verdict of a model with the cause of what speaks against it, and add remarks."""
    model = fitted.model
    # A wrong model leaves out as outliers what would show its cause.
    verdict, remarks = with_cause(
        model.verdict, replace(model.arm.memoryless, gravity=gravity), data.trial_samples(),
        clipped_findings(model.arm, levels))
    own, unseen = ([part for part in model.predictions if part.held_out == held]
                   for held in (False, True))
    return (with_gains(verdict, fitted.refuted),
            (*remarks, *unexplained(model.arm, own, unseen)))


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
