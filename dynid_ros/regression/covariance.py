"""Covariance of the estimate under coloured residuals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from dynid_ros.large_arrays import GrowingArray
from dynid_ros.regression.rows import RowBlock

Array = NDArray[np.float64]

WINDOW = 1.0
# Where there are hardly more samples than parameters, each with a row of every joint, the factor
# would grow without reason; at 3, nine intervals of ten still hold (benchmarks/coverage.py).
MOST_CORRECTION = 3.0


def weighted_scores(blocks: Iterable[RowBlock], theta: Array, sigma: Array) -> list[Array]:
    """
    Score an estimate, sample by sample: ``sum_i W_i e_i / sigma_i²``.

    The covariance of the estimate needs the scores only, which take n times less memory than the
    rows.

    Parameters
    ----------
    blocks : iterable of RowBlock
        The rows that were fitted.
    theta : (b,) ndarray
        Base parameters.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.

    Returns
    -------
    list of (N, b) ndarray
        One for each stretch.

    """
    scores = []
    for _, group in groupby(blocks, key=lambda block: block.segment):
        whole = GrowingArray()
        for b in group:
            whole.add(np.einsum('kib,ki->kb', b.W, (b.tau - b.W @ theta) / sigma**2))
        scores.append(whole.take())
    return scores


def score_covariance(
    scores: Sequence[Array], rate_hz: float, parameters: float, window: float = WINDOW,
) -> Array:
    """
    Covariance of the sum of scores by Newey and West, consistent under coloured residuals.

    Parameters
    ----------
    scores : sequence of (N, b) ndarray
        Weighted score of each sample, ``sum_i W_i e_i / sigma_i²`` over the joints: residuals
        of joints may be correlated with each other. One array a stretch; nothing is correlated
        across a gap.
    rate_hz : float
        Rate of the samples.
    parameters : float
        Number of parameters that the rows determine.
    window : float
        Largest lag, s.

    Returns
    -------
    (b, b) ndarray
        With Bartlett weights, which keep it positive semidefinite, and the small-sample factor
        N / (N - parameters), limited to `MOST_CORRECTION`.

    References
    ----------
    Newey and West 1987, A simple, positive semi-definite, heteroskedasticity and autocorrelation
    consistent covariance matrix, Econometrica 55.

    """
    total = sum(s.T @ s for s in scores)
    for s in scores:
        lags = min(round(window * rate_hz), len(s) - 1)
        for lag in range(1, lags + 1):
            cross = s[lag:].T @ s[:-lag]
            total = total + (1 - lag / (lags + 1)) * (cross + cross.T)
    samples = sum(map(len, scores))
    return np.asarray(total * min(samples / max(samples - parameters, 1), MOST_CORRECTION))
