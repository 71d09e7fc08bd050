# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Motions in a narrower band, decimated to the rate that it needs."""

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

#: Kept band of positions and torque relative to the cut-off: so wide that the filters of the
#: cut-off alone determine the result.
KEPT_CUTOFFS = 10.0
#: Least number of samples for derivatives.
FEWEST_FOR_DERIVATIVES = 5


def thinning(
    settings: ConditioningSettings, cutoff_hz: float,
) -> tuple[ConditioningSettings, Decimator]:
    """Return the settings at the rate that a cut-off needs, and the low-pass to decimate to it."""
    rate, top = settings.rate_hz, KEPT_CUTOFFS * cutoff_hz
    low_pass = Decimator(rate, top, decimation_step(rate, top))
    return replace(settings, rate_hz=rate / low_pass.step).at(cutoff_hz), low_pass


def thinned(segment: Segment, low_pass: Decimator) -> Segment | None:
    """Decimate a recorded stretch; return None if it is too short."""
    kept = _kept(low_pass, len(segment.t))
    if len(kept) < FEWEST_FOR_DERIVATIVES:
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
    Filter stretches for a lower cut-off, and decimate them together with their marks.

    Parameters
    ----------
    settings : ConditioningSettings
        Settings of the stretches, which a Butterworth filter conditioned.
    cutoff_hz : float
        The lower cut-off, Hz.
    motions : sequence of ConditionedMotion
        Stretches.
    marks : sequence of (N, n) ndarray of bool
        Marks of their samples.

    Returns
    -------
    settings : ConditioningSettings
        Settings of the result, whose rate is lower if the cut-off is far below it.
    motions, marks : list
        Without stretches that are too short.

    """
    narrow, low_pass = thinning(settings, cutoff_hz)
    narrowed_motions, narrowed_marks = [], []
    for motion, mark in zip(motions, marks, strict=True):
        t, q, tau = motion.t, motion.q, motion.tau
        if low_pass.step > 1:
            kept = _kept(low_pass, len(t))
            if len(kept) < FEWEST_FOR_DERIVATIVES:
                continue
            t, q, tau, mark = t[kept], low_pass.whole(q), low_pass.whole(tau), mark[kept]
        q = low_passed(q, narrow)
        same = of_positions(t, q, tau, narrow.rate_hz, motion.warmth)
        narrowed_motions.append(replace(same, source=motion.source))
        narrowed_marks.append(mark)
    return narrow, narrowed_motions, narrowed_marks
