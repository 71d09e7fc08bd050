# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Outliers of torque: collisions, contact and sensor faults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.signals.conditioning import ConditionedMotion, ConditioningSettings
from dynid_ros.data.signals.filters import REACH_PERIODS
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.utilities.arrays import Array, rms, runs_of
from dynid_ros.utilities.text import span

CAUSE = 'a collision, contact or a sensor fault'
#: Median absolute value of a normal distribution, relative to its standard deviation.
_MEDIAN = 0.6745

# Bounds of outliers. Measured figures come from
# benchmarks/thresholds.py: real arms (UR10, Panda, TX40), simulated arms, and planted defects.
#: Distance of an outlier from the model, in robust standard deviations of the residual of its
#: joint. Good recordings reach 12; the usual torque, added for a tenth of a second, starts at 21,
#: and half of it at 11 in the slowest recording, where it stays hidden.
OUTLIER_DEVIATIONS = 15.0
#: Smallest outlier relative to the root mean square torque of the joint, live and in batch, since
#: data without noise have no spread.
TORQUE_SHARE = 0.05
#: Share of outliers of a joint beyond which the model is wrong instead. A collision as above takes
#: 2 % of the samples at most.
LARGEST_SHARE = 0.1
#: Least time between two separate outliers of a joint, s.
APART_SECONDS = 3.0


@dataclass(frozen=True)
class Outlier:
    """
    Interval in which the torque of one joint is an outlier.

    Attributes
    ----------
    joint : str
        Name.
    begin, end : float
        First and last sample of it, s since the start of the recording.
    deviations : float
        Largest distance from the model, in standard deviations of the usual residual.

    """

    joint: str
    begin: float
    end: float
    deviations: float

    @property
    def sentence(self) -> str:
        """One sentence for the user."""
        when = span(f'{self.begin:.1f}', f'{self.end:.1f}')
        return (
            f"torque outlier of joint '{self.joint}' at {when} s, up "
            f'to {self.deviations:.0f} standard deviations from the model: {CAUSE}')


def far_samples(
    parts: Sequence[Prediction], cutoff_hz: float, sigma: Array | None = None,
) -> list[NDArray[np.bool_]]:
    """
    Mark outliers: samples far from the model.

    The moment of a reversal, and so the sign of friction, is uncertain, and the low-pass spreads
    this over its reach. So if a joint reverses within that reach, torque between the smallest and
    the largest prediction there is no outlier.

    Parameters
    ----------
    parts : sequence of Prediction
        Measured and predicted torque.
    cutoff_hz : float
        Cut-off of the low-pass that both have passed, Hz.
    sigma : (n,) ndarray, optional
        Usual residual of each joint, Nm; from these samples if not given.

    Returns
    -------
    list of (N, n) ndarray of bool
        One for each of `parts`.

    """
    usual = usual_residual(parts) if sigma is None else sigma
    torque = rms(np.concatenate([part.tau for part in parts]))
    limit = np.maximum(OUTLIER_DEVIATIONS * usual, TORQUE_SHARE * torque)
    reach, result = REACH_PERIODS / cutoff_hz, []
    for part in parts:
        far = np.abs(part.tau - part.tau_hat) > limit
        for k, j in np.argwhere(far).tolist():
            near = slice(*np.searchsorted(part.t, [part.t[k] - reach, part.t[k] + reach]))
            if part.qd[near, j].min() < 0 < part.qd[near, j].max():
                least, most = np.nanmin(part.tau_hat[near, j]), np.nanmax(part.tau_hat[near, j])
                far[k, j] = not least - limit[j] <= part.tau[k, j] <= most + limit[j]
        result.append(far)
    return result


def usual_residual(parts: Sequence[Prediction]) -> Array:
    """Return the robust standard deviation of each joint's residual, (n,), Nm."""
    residual = np.abs(np.concatenate([part.tau - part.tau_hat for part in parts]))
    moves = np.isfinite(residual).any(axis=0)
    usual = np.zeros(residual.shape[1])
    usual[moves] = np.nanmedian(residual[:, moves], axis=0) / _MEDIAN
    return usual


def describe(
    names: Sequence[str], parts: Sequence[Prediction], far: Sequence[NDArray[np.bool_]],
    sigma: Array,
) -> Iterator[Outlier]:
    """Join neighbouring samples from `far_samples` into outliers."""
    for part, marks in zip(parts, far, strict=True):
        residual = np.abs(part.tau - part.tau_hat)
        for j, name in enumerate(names):
            for first, stop in runs_of(marks[:, j]):
                most = residual[first:stop, j].max() / max(sigma[j], TINY)
                yield Outlier(name, float(part.t[first]), float(part.t[stop - 1]), float(most))


def merged(outliers: Iterable[Outlier]) -> list[Outlier]:
    """Merge outliers of one joint that are closer than `APART_SECONDS`; sort by time."""
    result: list[Outlier] = []
    for outlier in sorted(outliers, key=lambda each: (each.joint, each.begin)):
        before = result[-1] if result else None
        if (before and before.joint == outlier.joint
                and outlier.begin < before.end + APART_SECONDS):
            most = max(before, outlier, key=lambda each: each.deviations)
            result[-1] = replace(most, begin=before.begin, end=max(before.end, outlier.end))
        else:
            result.append(outlier)
    return sorted(result, key=lambda each: each.begin)


def exclude_outliers(
    motions: Sequence[ConditionedMotion], settings: ConditioningSettings,
    far: Sequence[NDArray[np.bool_]],
    parts: Sequence[Prediction],
) -> list[ConditionedMotion]:
    """
    Exclude outliers, and their neighbours within the reach of the low-pass.

    Parameters
    ----------
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    settings : ConditioningSettings
        Cut-off and decimation.
    far : list of (N, n) ndarray of bool
        From `far_samples` of `parts`.
    parts : sequence of Prediction
        From `dynid_ros.estimation.identification.validation.predict` of the motions.

    Returns
    -------
    list of ConditionedMotion
        With the joint marked as at rest in these intervals.

    """
    decimator = settings.decimator()
    kept = iter(zip(parts, far, strict=True))
    result = []
    for motion in motions:
        if not decimator.outputs(len(motion.t)):
            result.append(motion)
            continue
        part, marks = next(kept)
        moving = motion.moving.copy()
        for k, j in np.argwhere(marks):
            at = int(np.searchsorted(motion.t, part.t[k]))
            moving[max(at - decimator.reach, 0):at + decimator.reach + 1, j] = False
        result.append(replace(motion, moving=moving))
    return result


def too_many(names: Sequence[str], share: Array) -> tuple[Finding, ...]:
    """Report joints with more outliers than a valid model leaves."""
    return tuple(
        Finding('outliers', f"{100 * part:.0f} % of the torque samples of joint '{name}' are "
                'outliers and were left out', 'check its signal', (name,))
        for name, part in zip(names, share, strict=True) if part > LARGEST_SHARE)


def outlier_share(far: Sequence[NDArray[np.bool_]], parts: Sequence[Prediction]) -> Array:
    """Return the share of outliers among the samples of each joint, (n,)."""
    seen = np.sum([np.isfinite(part.tau).sum(axis=0) for part in parts], axis=0)
    return np.asarray(np.sum([marks.sum(axis=0) for marks in far], axis=0) / np.maximum(seen, 1))
