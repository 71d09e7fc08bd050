"""Covariance of the estimate where residuals are coloured, as those of real arms are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

WINDOW = 1.0
# Where there are hardly more samples than parameters, each with a row of every joint, the factor
# would grow without reason; at 3, nine intervals of ten still hold (benchmarks/coverage.py).
MOST_CORRECTION = 3.0


def hac_covariance(
    scores: Sequence[Array], bread: Array, rate_hz: float, window: float = WINDOW
) -> Array:
    """
    Covariance of least squares by Newey and West, consistent under coloured residuals.

    Parameters
    ----------
    scores : sequence of (N, b) ndarray
        Weighted score of each sample, ``sum_i W_i e_i / sigma_i²`` over the joints: residuals
        of joints may be correlated with each other. One array a stretch; nothing is correlated
        across a gap.
    bread : (b, b) ndarray
        ``(Wᵀ Σ⁻¹ W)⁻¹``.
    rate_hz : float
        Rate of the samples.
    window : float
        Lags that are taken into account, s.

    Returns
    -------
    (b, b) ndarray
        ``bread @ meat @ bread``, with Bartlett weights, which keep it positive semidefinite,
        and the small-sample factor N / (N - b), limited to `MOST_CORRECTION`.

    References
    ----------
    Newey and West 1987, A simple, positive semi-definite, heteroskedasticity and autocorrelation
    consistent covariance matrix, Econometrica 55.

    """
    b = len(bread)
    meat = np.zeros((b, b))
    for s in scores:
        meat += s.T @ s
        lags = min(round(window * rate_hz), len(s) - 1)
        for lag in range(1, lags + 1):
            cross = s[lag:].T @ s[:-lag]
            meat += (1 - lag / (lags + 1)) * (cross + cross.T)
    samples = sum(map(len, scores))
    correction = min(samples / max(samples - b, 1), MOST_CORRECTION)
    return np.asarray(correction * bread @ meat @ bread)
