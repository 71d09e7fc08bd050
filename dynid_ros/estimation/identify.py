"""The whole way from recordings to an identified, validated and judged model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.figures import figures
from dynid_ros.estimation.fit import fit, fit_friction, without_load
from dynid_ros.estimation.prediction import predict, predict_and_score
from dynid_ros.estimation.preparation import (
    checked,
    data_hash,
    decide_treatment,
    fitted_to,
    motions,
    split,
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


def identify(
    arm: ArmModel,
    recordings: Sequence[JointLog],
    *,
    friction: Sequence[str] | None = None,
    holdout: float = 0.33,
    validation: Sequence[JointLog] = (),
) -> Identification:
    """
    Identify the dynamics of an arm.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recordings : sequence of JointLog
        What to fit.
    friction : sequence of str, optional
        Friction terms; by default they are chosen by cross-validation.
    holdout : float
        Share of each recording, at its end, that is kept from fitting and used for validation;
        ignored if there are recordings for validation.
    validation : sequence of JointLog
        Further recordings, for validation only.

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
    logs, defects = _checked(recordings, arm)
    others, further = _checked(validation, arm)
    parts = [split(log, 0.0 if others else holdout) for log in logs]
    train = [part for part, _ in parts]
    if not arm.drive.includes_gravity:
        arm = replace(arm, gravity=np.zeros(3))
    if friction is not None:
        arm = arm.with_friction(tuple(friction))
    treatment = decide_treatment(without_load(arm), train)
    prepared = [motion for log in train for motion in motions(arm, log, treatment)]
    watch.lap('condition')

    trials: dict[str, float] = {}
    if friction is None:
        arm, trials = fit_friction(arm, prepared, treatment)
    solution = fit(arm, prepared, treatment)
    watch.lap('regress')

    names = ', '.join(Path(log.source).name for log in logs)
    share = '' if others or not holdout else f'first {100 * (1 - holdout):.0f} % of '
    own, scores = predict_and_score(
        arm, prepared, treatment, solution.theta, solution.sigma, share + names)
    covariance = hac_covariance(scores, solution.bread, treatment.rate_hz / treatment.decimation)
    acceleration = np.max([np.abs(motion.qdd).max(axis=0) for motion in prepared], axis=0)
    del prepared
    unseen: list[Prediction] = []
    for log in others or [rest for _, rest in parts if rest is not None]:
        share = '' if others else f'last {100 * holdout:.0f} % of '
        source = share + Path(log.source).name
        unseen += _predict_log(arm, log, treatment, solution.theta, source)
    fitted = figures(share_of(own), False, arm.joint_names, own)
    held_out = figures(share_of(unseen), True, arm.joint_names, unseen) if unseen else None
    verdict = judge(arm, solution, covariance, own, acceleration, fitted, held_out)
    watch.lap('estimate')
    return Identification(
        arm=arm, theta=solution.theta, covariance=covariance,
        std_white=np.sqrt(np.diag(solution.bread)), sigma=solution.sigma,
        condition_number=solution.condition_number,
        samples=sum(len(log.t) for log in train), seconds=sum(log.seconds for log in train),
        sources=tuple(log.source for log in logs), data_hash=data_hash(train),
        treatment=treatment, fit=fitted, validation=held_out, verdict=verdict,
        friction_trials=trials, defects=defects + further, timing=watch.seconds,
        predictions=(*own, *unseen),
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


def _checked(
    logs: Sequence[JointLog], arm: ArmModel
) -> tuple[list[JointLog], tuple[Defect, ...]]:
    pairs = [checked(log, arm) for log in logs]
    return [log for log, _ in pairs], tuple(d for _, defects in pairs for d in defects)


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
