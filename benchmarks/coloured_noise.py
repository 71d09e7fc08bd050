"""Noise whose samples are correlated, for simulated recordings."""

from __future__ import annotations

import numpy as np

from dynid_ros.utilities.arrays import Array


def coloured_noise(
    rng: np.random.Generator, samples: int, std: Array, correlation: float,
) -> Array:
    """
    Stationary first-order autoregressive noise.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the noise.
    samples : int
        Number of samples N.
    std : (n,) ndarray
        Standard deviation of each column.
    correlation : float
        From one sample to the next.

    Returns
    -------
    (N, n) ndarray
        Noise, independent between columns.

    Notes
    -----
    e_k = c e_(k-1) + sqrt(1 - c²) w_k with white w, started in its stationary distribution
    (Hamilton, Time Series Analysis, eq. 3.4.1 and 3.4.4).

    """
    from scipy.signal import lfilter

    white = rng.normal(size=(samples, len(std)))
    white[1:] *= np.sqrt(1 - correlation**2)
    noise: Array = lfilter([1.0], [1.0, -correlation], white, axis=0)
    return noise * std
