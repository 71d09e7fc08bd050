# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Torque that differs between repetitions of a motion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals import filters
from dynid_ros.data.signals.conditioning import ConditionedMotion
from dynid_ros.data.signals.repetition import (
    alike,
    at,
    on_one_axis,
    repetition_shift,
    spread_of,
    Stretch,
)
from dynid_ros.estimation.blocks.prediction import torque_rows
from dynid_ros.utilities.arrays import Array, rms

#: Most samples that are compared: more cost time without adding information.
MOST_COMPARED = 2**15
#: Steps of Newton's method that align positions within a sample.
ALIGNMENT_STEPS = 2


def unrepeated_torque(
    arm: ArmModel, theta: Array, motions: Sequence[ConditionedMotion],
    cutoffs: Iterable[float | None],
) -> dict[float | None, Array]:
    """
    Estimate the torque that differs between repetitions, a lower bound on the error of any model.

    Parameters
    ----------
    arm : ArmModel
        The arm, with its friction terms.
    theta : (b,) ndarray
        Its base parameters, to subtract the torque due to differences of the motion.
    motions : sequence of ConditionedMotion
        Stretches of recordings.
    cutoffs : iterable of float or None
        Cut-offs of the low-pass, Hz; None for the torque as recorded.

    Returns
    -------
    dict of (float or None) to (n,) ndarray
        Root mean square for each cut-off, Nm; NaN for a joint at rest. Empty if no motion
        repeats; cut-offs whose low-pass leaves no sample are missing.

    Notes
    -----
    The variance of the difference of two runs is the sum of theirs, hence the factor 1/√2.

    """
    axis, remaining = list[Stretch](), MOST_COMPARED
    for motion in motions:
        if remaining > 1:
            axis.append((motion.t[:remaining], motion.q[:remaining]))
            remaining -= len(motion.t)
    axis = on_one_axis(axis)
    shift = repetition_shift(axis) if axis else None
    if shift is None:
        return {}
    used = [(motion, slice(len(t))) for motion, (t, _) in zip(motions, axis, strict=False)]
    t, q = (np.concatenate(parts) for parts in zip(*axis, strict=True))
    qd = np.concatenate([motion.qd[part] for motion, part in used])
    near = np.zeros(len(t), dtype=np.bool_)
    for _ in range(ALIGNMENT_STEPS):
        ahead = at(axis, t + shift)
        near = alike(ahead, q, spread_of(axis))
        shift -= float(np.sum((ahead - q)[near] * qd[near]) / np.sum(qd[near] ** 2))
    moving = [np.where(motion.moving[part], 1.0, np.nan) for motion, part in used]
    residual = [np.asarray(motion.tau[part] - motion_torque(arm, theta, motion, part))
                for motion, part in used]
    times = [each for each, _ in axis]

    def differences(values: Sequence[Array], by: float) -> Array:
        there = at(list(zip(times, values, strict=True)), t + by)
        return np.where(near[:, None], there - np.concatenate(values), np.nan)

    still = differences(moving, shift)
    result: dict[float | None, Array] = {}
    for cutoff in cutoffs:
        values, by = residual, shift
        rate = (len(times[0]) - 1) / (times[0][-1] - times[0][0])
        if cutoff is None:
            # A shift by whole samples, because interpolation would reduce the noise.
            by = round(shift * rate) / rate
        else:
            values = [_low_passed(each, rate, cutoff) for each in residual]
        difference = differences(values, by) + still
        compared = np.isfinite(difference).any(axis=0)
        if compared.any():
            result[cutoff] = np.where(compared, rms(difference) / np.sqrt(2), np.nan)
    return result


def motion_torque(arm: ArmModel, theta: Array, motion: ConditionedMotion, part: slice) -> Array:
    """Predict the unfiltered torque of some samples of a motion, (k, n)."""
    q, qd, qdd = motion.q[part], motion.qd[part], motion.qdd[part]
    rows = torque_rows(arm, theta, q, qd, qdd, motion.history(part))
    return np.concatenate([Y @ theta for _, Y in rows])


def _low_passed(x: Array, rate_hz: float, cutoff_hz: float) -> Array:
    """Low-pass a signal; the ends that the low-pass of rows drops are NaN."""
    smooth = filters.butterworth(x, rate_hz, cutoff_hz)
    reach = int(filters.REACH_PERIODS * rate_hz / cutoff_hz)
    smooth[:reach] = smooth[max(0, len(x) - reach):] = np.nan
    return smooth
