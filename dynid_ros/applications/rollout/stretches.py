# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Stretches of a recording, or of the rows of a result, along which arms are simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid_ros.applications.export.format_friction import is_live, RowMotion, SPLINE_ROWS
from dynid_ros.applications.rollout.noise import sensor_noise
from dynid_ros.applications.rollout.restarts import MOST_RESTARTS, Restarts, restarts
from dynid_ros.arm.drive import damping_torque
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.recordings.warmth import warmth_of
from dynid_ros.data.signals.conditioning import (
    ConditionedMotion,
    ConditioningSettings,
    POSITION_CUTOFF,
)
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.estimation.identification.conditioned_data import ConditionedSet, unseen_set
from dynid_ros.estimation.identification.leakage_check import was_fitted
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.simulation.mjcf import has_servos
from dynid_ros.utilities.arrays import Array, runs_of

#: Horizons, s.
HORIZONS = (0.1, 0.5, 2.0)
#: Horizon of the summary line, s.
HEADLINE_SECONDS = 0.5
#: Restarts along the rows of a model: few, since each takes `identify` a millisecond for each arm,
#: and the error still has a standard error of a quarter or less.
ROW_RESTARTS = 10
#: Rows are even to within the rounding of their times; a gap is longer by more than this share.
ROW_JITTER = 0.1
#: Relative difference of positions up to which two sets of samples are the same: the filters of a
#: part see other samples near its ends.
SAME_POSITIONS = 1e-3


@dataclass(frozen=True, eq=False)
class Stretches:
    """
    Motion with the signal of its drives, from which restarts are cut.

    Attributes
    ----------
    motions : sequence of ConditionedMotion
        Stretches of it.
    source : str
        Name of the recording.
    held_out : bool
        Whether none of it was fitted.
    horizons : tuple of float
        Horizons to simulate, s.
    most : int
        Restarts at most for each of them.
    noise : sequence of (N, n) ndarray
        Draw of the torque's noise for each stretch, Nm.
    edge : int
        Samples at either end of a stretch that its filters spoil.
    spans : sequence of (float, float) or None
        Times that count, s; None for all.

    """

    motions: Sequence[ConditionedMotion]
    source: str
    held_out: bool
    horizons: tuple[float, ...]
    most: int
    noise: Sequence[Array]
    edge: int = 0
    spans: Sequence[tuple[float, float]] | None = None

    def restarts(self, drive: Sequence[Array], horizon: float, timestep: float) -> Restarts | None:
        """Cut the stretches into parts of a horizon, as `restarts.restarts` does."""
        return restarts(self.motions, drive, horizon, timestep, self.edge, self.spans, self.most)


def of_recording(model: IdentifiedModel, recording: Recording) -> Stretches:
    """
    Condition a recording; only the held-out part of a fitted one counts.

    Raises
    ------
    RecordingError
        The recording is unusable.

    """
    own, spans, held_out = unseen_part(model, recording)
    level, rng = sensor_noise(model, own.motions), np.random.default_rng(0)
    noise = [level * rng.normal(size=each.q.shape) for each in own.motions]
    return Stretches(own.motions, own.source, held_out, HORIZONS, MOST_RESTARTS, noise,
                     usable_edge(own.settings), spans)


def kept_rows(model: IdentifiedModel) -> Stretches:
    """
    Return the motion between the held-out rows that a model keeps, where all joints move.

    The low-pass of the fit has rounded the steps of friction at reversals in the torque of rows.
    The torque of a joint at rest is not kept.

    Raises
    ------
    RecordingError
        The model keeps no such rows, or predicted them live.

    """
    from scipy.interpolate import CubicSpline

    parts = [] if is_live(model) else [part for part in model.predictions if part.held_out]
    runs = [run for part in parts for run in _even_runs(part, model.row_rate_hz)]
    if not runs:
        raise RecordingError(f"the result of '{model.arm.name}' keeps no held-out motion; give a "
                             'recording')
    fine = [RowMotion(run, model) for run in runs]
    motions = [ConditionedMotion(
        each.t, each.q, each.qd, each.qdd, CubicSpline(run.t, run.tau)(each.t),
        np.ones_like(each.q, dtype=np.bool_), warmth_of(each.t, each.q), source=run.source)
        for run, each in zip(runs, fine, strict=True)]
    return Stretches(
        motions, '; '.join(part.source for part in parts), True, (HEADLINE_SECONDS,), ROW_RESTARTS,
        [CubicSpline(run.t, own)(each.t)
         for run, each, own in zip(runs, fine, _row_noise(fine), strict=True)])


def _even_runs(part: Prediction, rate_hz: float) -> list[Prediction]:
    """Return rows without gaps in which all joints move, for `HEADLINE_SECONDS` at least."""
    known = np.asarray(np.isfinite(part.tau).all(axis=1))
    even = np.abs(rate_hz * np.diff(part.t) - 1) < ROW_JITTER
    # A run of steps ends at the row after its last one.
    runs = runs_of(even & known[1:] & known[:-1])
    return [replace(part, **{name: getattr(part, name)[first:last + 1] for name in (
        't', 'q', 'qd', 'tau', 'tau_hat')}) for first, last in runs.tolist()
        if last - first >= max(rate_hz * HEADLINE_SECONDS, SPLINE_ROWS)]


def _row_noise(motions: Sequence[RowMotion]) -> list[Array]:
    """
    Draw noise of the torque of rows, (N, n) for each motion, Nm.

    It is low-passed white noise with the second differences of the residual, which exclude the
    smooth error of the model; see `sensor_noise`.
    """
    rng = np.random.default_rng(0)
    unit = [each.at_rows(rng.normal(size=each.q.shape)) for each in motions]
    residual = [each.part.tau - each.part.tau_hat for each in motions]
    found, drawn = (np.concatenate([np.diff(each, 2, axis=0)**2 for each in rows]).mean(axis=0)
                    for rows in (residual, unit))
    return [np.sqrt(found / drawn) * each for each in unit]


def unseen_part(
    model: IdentifiedModel, recording: Recording,
) -> tuple[ConditionedSet, list[tuple[float, float]] | None, bool]:
    """
    Condition a recording as for its validation.

    Returns
    -------
    own : ConditionedSet
        All of it.
    spans : list of (float, float) or None
        Times that were held out of a fitted recording, s; None for all.
    held_out : bool
        Whether none of these samples were fitted.

    """
    log, _ = checked_recording(recording, model.arm)
    own = unseen_set(model.arm, log, model.treatment)
    if not was_fitted(model, log, own.predict(model.arm, model.theta)):
        return own, None, True
    spans = [(float(part.t[0]), float(part.t[-1])) for part in model.predictions
             if part.held_out and any(_holds(motion, part.t, part.q) for motion in own.motions)]
    return own, spans or None, bool(spans)


def usable_edge(settings: ConditioningSettings) -> int:
    """Count the samples at the ends of a stretch that the low-pass of the positions distorts."""
    return settings.decimator().reach // int(POSITION_CUTOFF)


def _holds(motion: ConditionedMotion, t: Array, q: Array) -> bool:
    """Whether a stretch holds samples (N,), (N, n) at the same times."""
    if len(t) < 2 or t[0] < motion.t[0] or t[-1] > motion.t[-1]:
        return False
    own = np.stack([np.interp(t, motion.t, each) for each in motion.q.T], axis=-1)
    return bool((np.median(np.abs(own - q), axis=0) <= SAME_POSITIONS * np.ptp(q, axis=0)).all())


def driven(model: IdentifiedModel, motions: Sequence[ConditionedMotion]) -> list[Array]:
    """Return torque, Nm, or commands, rad, of the drives, (N, n) for each stretch."""
    arm = model.arm
    if has_servos(arm):
        return [each.q + (each.tau + damping_torque(each.qd, arm.drive)) / arm.drive.gain
                for each in motions]
    # The offset of the torque sensor is no torque, and no simulator has it.
    offset = model.possible_arm.friction_nominal.get('offset', np.zeros(arm.n))
    return [each.tau - offset for each in motions]
