"""The torque that an arm does not repeat where its motion repeats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals import filters
from dynid_ros.data.signals.conditioning import ConditionedMotion
from dynid_ros.data.signals.repetition import alike, at, on_one_axis, own_shift, spread_of, Stretch
from dynid_ros.estimation.blocks.prediction import torque_rows
from dynid_ros.utilities.arrays import Array, rms

#: Samples that are compared at most: more cost time without information.
MOST = 2**15
#: Steps of Newton's method that align positions within a sample.
STEPS = 2


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
        Its base parameters, which take out the torque of different positions.
    motions : sequence of ConditionedMotion
        Stretches of recordings.
    cutoffs : iterable of float or None
        Cut-offs of the low-pass, Hz; None for the torque as recorded.

    Returns
    -------
    dict of (float or None) to (n,) ndarray
        Root mean square for each cut-off, Nm; NaN for a joint that does not move. Empty where no
        motion repeats, and without cut-offs whose low-pass leaves nothing.

    Notes
    -----
    Of two runs, each has a part of its own, and their difference the sum of both variances.

    """
    axis, left = list[Stretch](), MOST
    for motion in motions:
        if left > 1:
            axis.append((motion.t[:left], motion.q[:left]))
            left -= len(motion.t)
    axis = on_one_axis(axis)
    shift = own_shift(axis) if axis else None
    if shift is None:
        return {}
    used = [(motion, slice(len(t))) for motion, (t, _) in zip(motions, axis, strict=False)]
    t, q = (np.concatenate(parts) for parts in zip(*axis, strict=True))
    qd = np.concatenate([motion.qd[part] for motion, part in used])
    near = np.zeros(len(t), dtype=np.bool_)
    for _ in range(STEPS):
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
    found: dict[float | None, Array] = {}
    for cutoff in cutoffs:
        values, by = residual, shift
        rate = (len(times[0]) - 1) / (times[0][-1] - times[0][0])
        if cutoff is None:
            # Between samples the mean of two would have less noise.
            by = round(shift * rate) / rate
        else:
            values = [_low_passed(each, rate, cutoff) for each in residual]
        apart = differences(values, by) + still
        known = np.isfinite(apart).any(axis=0)
        if known.any():
            found[cutoff] = np.where(known, rms(apart) / np.sqrt(2), np.nan)
    return found


def motion_torque(arm: ArmModel, theta: Array, motion: ConditionedMotion, part: slice) -> Array:
    """Predict the torque of some samples of a motion, which no low-pass spreads, (k, n)."""
    q, qd, qdd = motion.q[part], motion.qd[part], motion.qdd[part]
    rows = torque_rows(arm, theta, q, qd, qdd, motion.history(part))
    return np.concatenate([Y @ theta for _, Y in rows])


def _low_passed(x: Array, rate_hz: float, cutoff_hz: float) -> Array:
    """Low-pass, but for the ends that the low-pass of rows leaves out, too."""
    smooth = filters.butterworth(x, rate_hz, cutoff_hz)
    reach = int(filters.REACH_PERIODS * rate_hz / cutoff_hz)
    smooth[:reach] = smooth[max(0, len(x) - reach):] = np.nan
    return smooth
