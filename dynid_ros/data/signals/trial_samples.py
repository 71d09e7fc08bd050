# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Samples spread over recordings, on which suspects are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.data.signals.repetition import on_one_axis, repetition_shift
from dynid_ros.utilities.arrays import Array, joined

#: Number of samples taken from a recording, and number to which each suspect is fitted.
TRIAL_SAMPLES, FITTED = 2000, 600
#: Candidate delays of a drive signal, s, and that of a slow driver. Friction that is late, too,
#: may explain a signal that is made later, but none that is made earlier.
CANDIDATE_DELAYS, TYPICAL = np.array([-0.06, 0.06, 0.12]), 0.06
#: Assumed break between recordings, longer than the reach of any low-pass, s.
BREAK = 1e3
#: Periods of the cut-off around a reversal in which noise determines the sign of friction.
REVERSAL_PERIODS = 0.05


@dataclass(frozen=True, eq=False)
class TrialSamples:
    """
    Some samples of one or more recordings.

    Attributes
    ----------
    t : (k,) ndarray
        Time since the start of the recording, s.
    q, qd, qdd : (k, n) ndarray
        Conditioned positions and their derivatives.
    tau : (k, n) ndarray
        Torque after the low-pass, Nm.
    moving : (k, n) ndarray of bool
        False where a joint stands still, or its torque is excluded.
    later : (k, n, d) ndarray
        Torque later by each of `CANDIDATE_DELAYS`, Nm.
    period : (k,) ndarray
        Period of the cut-off of the torque, s; 0 for unfiltered torque.
    bend : (k, n) ndarray
        Bend of the contact of each joint, see `JointHistory`, low-passed as the torque.
    shift : float or None
        Time after which the motion repeats, s; None if it does not.
    source : (k,) ndarray of str or None
        File of the recording; None if all samples are of one.
    timed : bool
        Whether a clock stamped the samples while they were taken.

    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    moving: NDArray[np.bool_]
    later: Array
    period: Array
    bend: Array
    shift: float | None = None
    source: NDArray[np.object_] | None = None
    timed: bool = False

    @cached_property
    def elapsed(self) -> Array:
        """Time along all recordings (k,), as if they followed each other after a break, s."""
        if self.source is None or not len(self.t):
            return self.t
        files = list(dict.fromkeys(self.source))
        number = np.array([files.index(each) for each in self.source])
        return np.asarray(self.t + (self.t.max() + BREAK) * number)

    def at(self, chosen: slice) -> TrialSamples:
        """Return some of the samples."""
        arrays: dict[str, Any] = {
            field.name: values[chosen] for field in fields(self)
            if isinstance(values := getattr(self, field.name), np.ndarray)}
        return replace(self, **arrays)


def trial_samples(
    motions: Sequence[ConditionedMotion], settings: ConditioningSettings,
    left_out: Sequence[NDArray[np.bool_]] | None = None, most: int = TRIAL_SAMPLES,
) -> TrialSamples:
    """
    Select samples spread over a recording.

    The low-pass of the rows is applied to the torque only: positions are filtered already, and
    friction columns are computed as filtered, see `fill_filtered_friction`. The bend of the
    contacts depends on the motion between the samples, so it passes the low-pass here.

    Parameters
    ----------
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    settings : ConditioningSettings
        Cut-off and decimation.
    left_out : sequence of (N, n) ndarray of bool
        Samples of each stretch whose torque is excluded, together with all rows within the reach
        of the low-pass; none by default.
    most : int
        Largest number of samples; less than twice as many are not thinned.

    """
    decimator = settings.decimator()
    stride = max(1, sum(decimator.outputs(len(motion.t)) for motion in motions) // most)
    parts, shift = [], repetition_shift(on_one_axis([(motion.t, motion.q) for motion in motions]))
    if left_out is None:
        left_out = [np.zeros(motion.q.shape, dtype=np.bool_) for motion in motions]
    for motion, marks in zip(motions, left_out, strict=True):
        tau = decimator.whole(motion.tau)
        rows = decimator.reach + decimator.step * np.arange(len(tau))
        chosen, period = rows[::stride], 1 / settings.cutoff_hz
        t, q, qd, qdd = (x[chosen] for x in (motion.t, motion.q, motion.qd, motion.qdd))
        used = motion.moving[chosen] & ~_near(marks, chosen, decimator.reach)
        fast = np.abs(qd) >= REVERSAL_PERIODS * period * np.abs(qdd)
        parts.append(TrialSamples(
            t, q, qd, qdd, tau[::stride], used & fast,
            torque_later(motion.t[rows], tau, stride), np.full(len(chosen), period),
            decimator.whole(motion.presliding)[::stride], shift,
            np.full(len(chosen), motion.source, dtype=object)))
    return joined(parts)


def torque_later(t: Array, tau: Array, every: int = 1) -> Array:
    """Return the torque later by each of `CANDIDATE_DELAYS`, at every n-th sample, (k, n, d)."""
    from scipy.interpolate import CubicSpline

    if len(t) < 2:
        return np.repeat(tau[:, :, None], len(CANDIDATE_DELAYS), axis=2)
    # Beyond the end, the last value is held.
    times = np.clip(t[::every, None] + CANDIDATE_DELAYS, t[0], t[-1])
    return np.asarray(CubicSpline(t, tau)(times)).swapaxes(1, 2)


def _near(marks: NDArray[np.bool_], chosen: NDArray[np.intp], reach: int) -> NDArray[np.bool_]:
    """Whether a marked sample lies within the reach of the low-pass of chosen ones, (k, n)."""
    if not len(chosen) or not marks.any():
        return np.zeros((len(chosen), marks.shape[1]), dtype=np.bool_)
    return np.array([marks[max(k - reach, 0):k + reach + 1].any(axis=0) for k in chosen.tolist()])


def thinned(samples: TrialSamples) -> TrialSamples:
    """Return at most `FITTED` of the samples, spread over all of them."""
    return samples.at(slice(None, None, -(-len(samples.t) // FITTED) or 1))
