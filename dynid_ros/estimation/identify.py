"""The whole way from recordings to an identified, validated and judged model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.figures import figures
from dynid_ros.estimation.fit import without_load
from dynid_ros.estimation.method import METHODS
from dynid_ros.estimation.model_choice import fit_model, unexplained
from dynid_ros.estimation.offset_recordings import correct_joint_offsets
from dynid_ros.estimation.plausibility import question
from dynid_ros.estimation.prediction import predict, weighted_scores
from dynid_ros.estimation.preparation import (
    checked,
    data_hash,
    decide_treatment,
    fitted_to,
    motion_span,
    motions,
    split,
    take_motions,
)
from dynid_ros.estimation.result import Figures, Identification, Prediction
from dynid_ros.estimation.uncertainty import hac_covariance
from dynid_ros.estimation.verdict import judge
from dynid_ros.signals.log import Defect, JointLog
from dynid_ros.signals.treatment import Treatment

Array = NDArray[np.float64]


@dataclass
class Stopwatch:
    """Seconds by stage."""

    seconds: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=perf_counter)

    def lap(self, stage: str) -> None:
        """Add the time since the last lap to a stage."""
        now = perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self.last
        self.last = now


@dataclass(frozen=True)
class Division:
    """
    Recordings, divided into what is fitted and what is held out.

    Attributes
    ----------
    train : list of JointLog
        What is fitted.
    unseen : list of (str, JointLog)
        What is held out, with a name for it.
    source : str
        Name of what is fitted.
    paths : tuple of str
        Where what is fitted was read from.
    defects : tuple of Defect
        Of all recordings.

    """

    train: list[JointLog]
    unseen: list[tuple[str, JointLog]]
    source: str
    paths: tuple[str, ...]
    defects: tuple[Defect, ...]


def identify(
    arm: ArmModel,
    recordings: Iterable[JointLog],
    *,
    friction: Sequence[str] | None = None,
    holdout: float = 0.33,
    validation: Iterable[JointLog] = (),
    method: str = 'differentiated',
    joint_offsets: bool = False,
) -> Identification:
    """
    Identify the dynamics of an arm.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recordings : iterable of JointLog
        What to fit; an iterator that keeps nothing saves memory.
    friction : sequence of str, optional
        Friction terms; by default they are chosen by cross-validation.
    holdout : float
        Share of the motion in each recording, at its end, that is kept from fitting and used for
        validation; ignored if there are recordings for validation.
    validation : iterable of JointLog
        Further recordings, for validation only.
    method : str
        Key of `METHODS`: how rows are made. Figures are those of torque for each of them.
    joint_offsets : bool
        Whether to estimate joint zero offsets too, and to correct the positions by them.

    Returns
    -------
    Identification
        Parameters with error bars, figures and verdict.

    Raises
    ------
    RecordingError
        A recording is unusable, or too short.

    """
    watch = Stopwatch()
    data = _divide(arm, recordings, validation, holdout)
    stated = arm.gravity
    arm = _configured(arm, friction)
    notes: tuple[str, ...] = ()
    if joint_offsets:
        arm, data, notes = _with_offsets(arm, data)
    treatment = decide_treatment(without_load(arm), data.train)
    known: dict[str, Any] = {
        'samples': sum(len(log.t) for log in data.train), 'sources': data.paths,
        'seconds': sum(log.seconds for log in data.train), 'data_hash': data_hash(data.train)}
    prepared = take_motions(arm, data.train, treatment)
    watch.lap('condition')

    rows = METHODS[method]
    model = fit_model(arm, prepared, treatment, rows, data.source, choose=friction is None)
    arm, solution, own, theta = model.arm, model.solution, model.own, model.solution.theta
    doubts = question(arm, stated, model.motions, treatment, solution.sigma)
    watch.lap('regress')

    scores = weighted_scores(
        rows.blocks(arm, model.motions, treatment, theta), theta, solution.sigma)
    covariance = hac_covariance(scores, solution.bread, treatment.rate_hz / treatment.decimation)
    acceleration = np.max([np.abs(motion.qdd).max(axis=0) for motion in prepared], axis=0)
    trials, notes, reasons = (
        model.trials, (*notes, *model.notes, *doubts.notes), (*doubts.reasons, *model.reasons))
    del prepared, model
    unseen = [part for source, log in data.unseen
              for part in _predict_log(arm, log, treatment, theta, source)]
    fitted = figures(share_of(own), False, arm.joint_names, own)
    held_out = figures(share_of(unseen), True, arm.joint_names, unseen) if unseen else None
    verdict = judge(
        arm, solution, covariance, own, acceleration, fitted, held_out, reasons)
    watch.lap('estimate')
    return Identification(
        arm=arm, theta=theta, covariance=covariance, std_white=np.sqrt(np.diag(solution.bread)),
        sigma=_residual_spread(own), condition_number=solution.condition_number,
        treatment=replace(treatment, notes=(*notes, *unexplained(arm, own, unseen))), fit=fitted,
        validation=held_out, verdict=verdict, friction_trials=trials, defects=data.defects,
        timing=watch.seconds, predictions=(*own, *unseen), **known,
    )


def validate(result: Identification, log: JointLog) -> tuple[Figures, list[Prediction]]:
    """
    Predict the torque of another recording with an identified model.

    Parameters
    ----------
    result : Identification
        The model.
    log : JointLog
        A recording that was not used for fitting.

    Returns
    -------
    figures : Figures
        Per joint and in all.
    predictions : list of Prediction
        Torque over time.

    Raises
    ------
    RecordingError
        The recording is unusable.

    """
    log, _ = checked(log, result.arm)
    source = Path(log.source).name
    parts = _predict_log(result.arm, log, result.treatment, result.theta, source)
    return figures(source, True, result.arm.joint_names, parts), parts


def share_of(parts: Sequence[Prediction]) -> str:
    """Name the samples of several predictions."""
    return ', '.join(dict.fromkeys(part.source for part in parts))


def _divide(
    arm: ArmModel, recordings: Iterable[JointLog], validation: Iterable[JointLog], holdout: float
) -> Division:
    others = [checked(log, arm) for log in validation]
    holdout = 0.0 if others else holdout
    train: list[JointLog] = []
    defects: list[Defect] = []
    unseen = [(Path(log.source).name, log) for log, _ in others]
    for log, found in (checked(log, arm) for log in recordings):
        first, rest = split(log, holdout)
        train.append(first)
        defects += found
        if rest is not None:
            unseen.append((_last(holdout, rest), rest))
    paths = tuple(log.source for log in train)
    share = f'first {100 * (1 - holdout):.0f} % of ' if holdout else ''
    names = share + ', '.join(Path(path).name for path in paths)
    return Division(
        train, unseen, names, paths, (*defects, *(d for _, found in others for d in found)))


def _last(holdout: float, rest: JointLog) -> str:
    begin, end = motion_span(rest)
    name = Path(rest.source).name
    return f'last {100 * holdout:.0f} % of {name} ({begin:.1f} to {end:.1f} s)'


def _with_offsets(arm: ArmModel, data: Division) -> tuple[ArmModel, Division, tuple[str, ...]]:
    """Correct all recordings, and the arm with them, so that later recordings are too."""
    found = correct_joint_offsets(arm, data.train)
    offset = found.offsets.offset
    unseen = [(source, replace(log, q=log.q + offset)) for source, log in data.unseen]
    arm = replace(arm, drive=replace(arm.drive, offset=arm.drive.offset + offset))
    return arm, replace(data, train=list(found.logs), unseen=unseen), found.offsets.sentences


def _configured(arm: ArmModel, friction: Sequence[str] | None) -> ArmModel:
    if not arm.drive.includes_gravity:
        arm = replace(arm, gravity=np.zeros(3))
    return arm if friction is None else arm.with_friction(tuple(friction))


def _residual_spread(parts: Sequence[Prediction]) -> Array:
    residual = np.concatenate([part.tau - part.tau_hat for part in parts])
    seen = np.maximum(np.isfinite(residual).sum(axis=0), 1)
    return np.asarray(np.sqrt(np.nansum(residual**2, axis=0) / seen))


def _predict_log(
    arm: ArmModel, log: JointLog, treatment: Treatment, theta: Array, source: str
) -> list[Prediction]:
    treatment = fitted_to(treatment, log)
    parts = predict(arm, motions(arm, log, treatment), treatment, theta, source, True)
    if not parts:
        raise RecordingError(
            f'{log.source}: {log.seconds:.3g} s are too short for a cut-off of '
            f'{treatment.cutoff_hz:.3g} Hz; the low-pass alone reaches over '
            f'{3 / treatment.cutoff_hz:.2g} s'
        )
    return parts
