# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Result of a stream, in the form of a batch result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.history import presliding_of
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.signals.repetition import on_one_axis, repetition_shift
from dynid_ros.data.signals.trial_samples import torque_later, TrialSamples
from dynid_ros.errors import InputError
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.diagnosis.outliers import CAUSE, too_many
from dynid_ros.estimation.estimate.chosen_estimate import (
    chosen_estimate,
    dispersion_of,
    Estimate,
)
from dynid_ros.estimation.estimate.folds import CLEARLY_WORSE
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.metrics import (
    ANOTHER_MOTION,
    JointMetrics,
    Metrics,
    metrics,
    TINY,
)
from dynid_ros.estimation.online import innovation_statistics
from dynid_ros.estimation.online.recursive_least_squares import LiveEstimate
from dynid_ros.estimation.online.row_pipeline import conditioning_of, torque_lag
from dynid_ros.estimation.verdict.judge import judge
from dynid_ros.utilities.arrays import Array, joined
from dynid_ros.utilities.checkpoint import GrowingRows

if TYPE_CHECKING:
    from dynid_ros.estimation.online.online_identifier import OnlineIdentifier

#: Share of the rows, at the end, whose a-priori predictions validate.
VALIDATED_SHARE = 1 / 3
AHEAD = '{}, each sample predicted before it was used'
#: Names of the validating rows, and their description.
VALIDATING = 'validation motion of {}, not learned from', ANOTHER_MOTION
LAST_THIRD = f'last third of {AHEAD}', 'the last third of the samples before their use'
Mask = NDArray[np.bool_]


class RowHistory(GrowingRows):
    """
    Measured torque of all rows, and its prediction before each row was learned.

    Parameters
    ----------
    joints : int
        n.

    Attributes
    ----------
    rows : (N, 2 + 4 n) ndarray
        Segment, time, positions, velocities, measured and predicted torque.

    """

    saved = ('rows',)

    def __init__(self, joints: int) -> None:
        super().__init__(np.zeros((0, 2 + 4 * joints)))

    def add(self, learned: Iterable[tuple[RowBlock, Array]]) -> None:
        """Append the result of `OnlineIdentifier.push`, without the regressors."""
        for block, tau_hat in learned:
            segment = np.full(len(block.t), float(block.segment))
            torque = (np.where(block.moving, x, np.nan) for x in (block.tau, tau_hat))
            self.append(np.column_stack([segment, block.t, block.q, block.qd, *torque]))

    def predictions(self, source: str, chosen: Mask | None = None) -> tuple[Prediction, ...]:
        """Return the rows, or some of them, one `Prediction` for each stretch."""
        rows = self.rows if chosen is None else self.rows[chosen]
        stretches = np.split(rows, np.flatnonzero(np.diff(rows[:, 0])) + 1)
        return tuple(
            Prediction(source, True, part[:, 1], *np.split(part[:, 2:], 4, axis=1))
            for part in stretches if len(part))


def online_result(
    online: OnlineIdentifier, label: str, defects: Sequence[Defect] = (),
) -> IdentifiedModel:
    """
    Make the result of a session.

    Parameters
    ----------
    online : OnlineIdentifier
        Session, flushed, with at least one row.
    label : str
        Name of its source, for metrics.
    defects : sequence of Defect
        Known defects of the samples; those of the stream are added.

    Returns
    -------
    IdentifiedModel
        The last estimate: the possible parameters, unless the unconstrained ones predict clearly
        better. Its held-out metrics are those of validation motions, which are not fitted, else of
        the last third of the rows, each predicted before it was learned.

    """
    arm, estimate, history = online.arm, online.estimate(), online.history
    chosen = _chosen(online, estimate)
    ahead = AHEAD.format(label)
    learned, validating, (name, held_out) = _divided(online)
    predictions, fitted = history.predictions(ahead), history.predictions(ahead, learned)
    validation = metrics(
        arm.joint_names, history.predictions(name.format(label), validating))
    fit = _in_sample(online, chosen.theta, label, fitted)
    acceleration = np.max([_steepest(part) for part in fitted], axis=0)
    share = estimate.left_out / np.maximum(estimate.rows + estimate.left_out, 1)
    settings = conditioning_of(online.pipeline)
    lag = torque_lag(settings)
    verdict, remarks = judge(
        arm, chosen, fitted, acceleration, fit, validation,
        _trial_samples(predictions, lag),
        gravity=online.stated.gravity,
        earlier=(*online.dead_signals, *too_many(arm.joint_names, share)))
    settings = replace(settings, notes=(
        *settings.notes, *remarks, *_left_out(arm, estimate)))
    return IdentifiedModel(
        arm=arm, **chosen.fields, friction_strength=online.friction_strength,
        sigma=estimate.sigma, samples=online.samples, sources=(online.source,),
        seconds=float(np.ptp(online.intake.span)) * 1e-9,
        data_hash=online.intake.digest.hexdigest(), treatment=settings, fit=fit,
        validation=validation, held_out=held_out, verdict=verdict,
        defects=(*defects, *online.pipeline.counters.defects()), predictions=predictions)


def _chosen(online: OnlineIdentifier, free: Estimate) -> Estimate:
    """Choose between the unconstrained and the possible parameters."""
    parts = online.recursion.blocks.groups()
    try:
        if len(parts) > 1:
            return chosen_estimate(online.arm, online.prior, free, parts)
        return _by_fit(online, free)
    except InputError:
        # No body explains a signal that is zero throughout.
        return free


def _by_fit(online: OnlineIdentifier, free: Estimate) -> Estimate:
    """Choose by in-sample residuals, because forgetting keeps no groups for cross-validation."""
    possible, rows = free.possible_parameters(online.arm), online.recursion.data
    free = replace(free, dispersion=dispersion_of(free, possible.theta))
    bound, free_squares = (float((rows.residual_squares(theta) / free.sigma**2).sum())
                           for theta in (possible.theta, free.theta))
    if bound > CLEARLY_WORSE**2 * free_squares:
        return replace(free, excess=float(np.sqrt(bound / max(free_squares, TINY))))
    return replace(free, theta=possible.theta)


def _left_out(arm: ArmModel, estimate: LiveEstimate) -> tuple[str, ...]:
    limit = innovation_statistics.INNOVATION_DEVIATIONS
    return tuple(
        f"{count} torque samples of joint '{name}' are outliers, more than {limit:.0f} "
        f'standard deviations from their prediction: {CAUSE}; left out'
        for name, count in zip(arm.joint_names, estimate.left_out, strict=True) if count)


def _divided(online: OnlineIdentifier) -> tuple[Mask, Mask, tuple[str, str]]:
    """Return masks of the fitted and the validating rows (N,), and the name of the latter."""
    rows = online.history.rows
    unseen = online.unseen(rows[:, 1])
    moves = np.isfinite(np.split(rows[:, 2:], 4, axis=1)[2]).any(axis=1)
    if (moves & unseen).any() and (moves & ~unseen).any():
        return ~unseen, unseen, VALIDATING
    last = np.cumsum(moves) > int((1 - VALIDATED_SHARE) * moves.sum())
    return np.ones_like(moves), last if last.any() else ~last, LAST_THIRD


def _trial_samples(parts: Sequence[Prediction], lag: float) -> TrialSamples:
    """
    Make samples of all stretches for the table of suspects.

    The first-order filter of the rows delays torque by a lag, but not the motion. The lag is
    compensated, lest the table reports a late drive signal.
    """
    shift = repetition_shift(on_one_axis([(part.t, part.q) for part in parts]))
    return joined([_stretch(part, lag, shift) for part in parts])


def _stretch(part: Prediction, lag: float, shift: float | None) -> TrialSamples:
    moving, several = np.isfinite(part.tau), len(part.t) > 1
    tau, qdd = np.where(moving, part.tau, 0.0), np.zeros_like(part.qd)
    if several:
        # Rows keep no derivatives; they are dense enough to differentiate.
        from scipy.interpolate import CubicSpline

        qdd = CubicSpline(part.t, part.qd)(part.t, 1)
        tau = tau + lag * CubicSpline(part.t, tau)(part.t, 1)
    # Derivatives next to rows without torque are wrong.
    edges = np.pad(moving, ((1, 1), (0, 0)), constant_values=True)
    moving = moving & edges[:-2] & edges[2:]
    # Messages are stamped by a clock, and no rate is stated.
    return TrialSamples(
        part.t, part.q, part.qd, qdd, tau, moving, torque_later(part.t, tau),
        np.zeros(len(part.t)), presliding_of(part.q), shift, timed=True)


def _steepest(part: Prediction) -> Array:
    """Largest acceleration of each joint between rows, (n,), rad/s²."""
    if len(part.t) < 2:
        return np.zeros(part.qd.shape[1])
    slope = np.diff(part.qd, axis=0) / np.diff(part.t)[:, None]
    return np.asarray(np.abs(slope).max(axis=0))


def _in_sample(
    online: OnlineIdentifier, theta: Array, source: str, predictions: Sequence[Prediction],
) -> Metrics:
    """In-sample metrics of the parameters, from the factors of the rows."""
    rows = online.recursion.data
    squares, torque = rows.residual_squares(theta), np.maximum(rows.torque_squares(), TINY)
    # Metrics of a prediction of zero give the torque and its variance.
    zero = metrics(online.arm.joint_names, [
        replace(part, source=source, held_out=False, tau_hat=np.zeros_like(part.tau))
        for part in predictions])
    # Relative to a torque of zero, a residual is infinite.
    with np.errstate(over='ignore', invalid='ignore'):
        share = np.sqrt(squares / torque)
        joints = tuple(
            JointMetrics(each.name, float(s * each.rmse), float(s * each.relative_error_percent),
                         float(1 - s**2 * (1 - each.r2)))
            for each, s in zip(zero.joints, share, strict=True))
        overall = float(np.sqrt(squares.sum() / torque.sum()) * zero.relative_error_percent)
    return replace(zero, relative_error_percent=overall, joints=joints)
