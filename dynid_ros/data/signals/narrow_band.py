"""Motions in a narrower band, with as many samples as that needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.signals.conditioning import (
    ConditionedMotion,
    ConditioningSettings,
    low_passed,
    of_positions,
)
from dynid_ros.data.signals.filters import decimation_step, Decimator
from dynid_ros.data.signals.segments import Segment

#: Band of positions and torque that is kept, by the cut-off: far above it, so that the filters for
#: the cut-off alone decide what comes through.
KEPT = 10.0
#: Fewest samples that have derivatives.
FEWEST = 5


def thinning(
    settings: ConditioningSettings, cutoff_hz: float,
) -> tuple[ConditioningSettings, Decimator]:
    """Return the settings for a cut-off at the rate that it needs, and the low-pass to there."""
    rate, top = settings.rate_hz, KEPT * cutoff_hz
    low_pass = Decimator(rate, top, decimation_step(rate, top))
    return replace(settings, rate_hz=rate / low_pass.step).at(cutoff_hz), low_pass


def thinned(segment: Segment, low_pass: Decimator) -> Segment | None:
    """Return a stretch as recorded with fewer samples; None of one that is too short."""
    kept = _kept(low_pass, len(segment.t))
    if len(kept) < FEWEST:
        return None
    return replace(segment, t=segment.t[kept], q=low_pass.whole(segment.q),
                   u=low_pass.whole(segment.u))


def _kept(low_pass: Decimator, samples: int) -> NDArray[np.intp]:
    return low_pass.reach + low_pass.step * np.arange(low_pass.outputs(samples))


def narrowed(
    settings: ConditioningSettings, cutoff_hz: float, motions: Sequence[ConditionedMotion],
    marks: Sequence[NDArray[np.bool_]],
) -> tuple[ConditioningSettings, list[ConditionedMotion], list[NDArray[np.bool_]]]:
    """
    Filter stretches further, for a lower cut-off, and take their marks along.

    Parameters
    ----------
    settings : ConditioningSettings
        Those for which the Butterworth filter has conditioned the stretches.
    cutoff_hz : float
        The lower cut-off, Hz.
    motions : sequence of ConditionedMotion
        Stretches.
    marks : sequence of (N, n) ndarray of bool
        Marks of their samples.

    Returns
    -------
    settings : ConditioningSettings
        Of the result: its rate is lower, too, where the cut-off is far below the rate.
    motions, marks : list
        Without stretches that are too short.

    """
    narrow, low_pass = thinning(settings, cutoff_hz)
    found, left = [], []
    for motion, some in zip(motions, marks, strict=True):
        t, q, tau = motion.t, motion.q, motion.tau
        if low_pass.step > 1:
            kept = _kept(low_pass, len(t))
            if len(kept) < FEWEST:
                continue
            t, q, tau, some = t[kept], low_pass.whole(q), low_pass.whole(tau), some[kept]
        q = low_passed(q, narrow)
        found.append(of_positions(t, q, tau, narrow.rate_hz, motion.warmth))
        left.append(some)
    return narrow, found, left
