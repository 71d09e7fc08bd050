# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Noise whose samples are correlated, for simulated recordings."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from dynid_ros.utilities.arrays import Array

#: Samples after which the start of the filter no longer matters.
SETTLE = 500


def coloured(rng: np.random.Generator, shape: tuple[int, int], correlation: float) -> Array:
    """
    First-order autoregressive noise (N, n) of unit variance, independent between columns.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the noise.
    shape : tuple of int
        Samples N and columns n.
    correlation : float
        From one sample to the next.

    """
    white = rng.normal(size=(shape[0] + SETTLE, shape[1]))
    noise = lfilter([1], [1, -correlation], white, axis=0)[SETTLE:]
    return np.asarray(np.sqrt(1 - correlation**2) * noise)
