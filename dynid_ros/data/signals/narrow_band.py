"""Conditioned motions in a narrower band, with as many samples as that needs."""

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

#: Band of positions and torque that is kept, by the cut-off: far above it, so that the filters for
#: the cut-off alone decide what comes through.
KEPT = 10.0
#: Fewest samples that have derivatives.
FEWEST = 5


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
    rate, top = settings.rate_hz, KEPT * cutoff_hz
    thinned = Decimator(rate, top, decimation_step(rate, top))
    narrow = replace(settings, rate_hz=rate / thinned.step).at(cutoff_hz)
    found, left = [], []
    for motion, some in zip(motions, marks, strict=True):
        t, q, tau = motion.t, motion.q, motion.tau
        if thinned.step > 1:
            kept = thinned.reach + thinned.step * np.arange(thinned.outputs(len(t)))
            if len(kept) < FEWEST:
                continue
            t, q, tau, some = t[kept], thinned.whole(q), thinned.whole(tau), some[kept]
        q = low_passed(q, narrow)
        found.append(of_positions(t, q, tau, narrow.rate_hz, motion.warmth))
        left.append(some)
    return narrow, found, left
