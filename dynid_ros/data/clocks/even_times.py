# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The even clock of samples with late stamps."""

from __future__ import annotations

import numpy as np

from dynid_ros.data.clocks.roughness import Index, Roughness
from dynid_ros.utilities.arrays import Array


def even_times(stamps: Array, rough: Roughness, stretch: Index) -> tuple[Array, float] | None:
    """
    Find the even times of samples with randomly late stamps.

    Parameters
    ----------
    stamps : (N,) ndarray
        Stamps, s.
    rough : Roughness
        Of the motion.
    stretch : (N,) ndarray of int
        Number of the stretch of each sample; each stretch has its own start time.

    Returns
    -------
    times : (N,) ndarray
        Times with one period in all stretches, s.
    period : float
        s. None instead of both if the times would not increase.

    """
    usual = float(np.median(np.diff(stamps)))
    # Either no measurement is missing, or missing ones take their time.
    candidates = [_even(stamps, np.append(0, np.cumsum(np.maximum(counts, 1))), stretch)
                  for counts in (np.ones(len(stamps) - 1), np.rint(np.diff(stamps) / usual))]
    return min((each for each in candidates if np.diff(each[0]).min() > 0),
               key=lambda each: rough.overall(each[0]), default=None)


def _even(stamps: Array, count: Array, stretch: Index) -> tuple[Array, float]:
    """Fit even stamps with one period and a start time for each stretch."""
    size = np.bincount(stretch)

    def centred(x: Array) -> Array:
        return np.asarray(x - (np.bincount(stretch, x) / size)[stretch])

    middle, offset = centred(count), centred(stamps)
    period = float(middle @ offset) / max(float(middle @ middle), 1.0)
    return stamps - offset + period * middle, period
