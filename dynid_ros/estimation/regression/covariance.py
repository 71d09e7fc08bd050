"""Covariance of the estimate under coloured residuals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from dynid_ros.estimation.regression.rows import RowBlock
from dynid_ros.utilities.arrays import Array

WINDOW = 1.0
# Where there are hardly more samples than parameters, each with a row of every joint, the factor
# would grow without reason; at 3, nine intervals of ten still hold (benchmarks/coverage.py).
MOST_CORRECTION = 3.0
#: Quantile of a ratio to its standard deviation, as a polynomial of the window by the samples.
QUANTILE = (-0.5324, 0.4160, 2.9694, 1.9600)


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
        scores.append(np.concatenate([
            np.einsum('kib,ki->kb', b.W, (b.tau - b.W @ theta) / sigma**2) for b in group]))
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
        With Bartlett weights, which keep it positive semidefinite, and `small_sample_factor`.

    References
    ----------
    Newey and West 1987, A simple, positive semi-definite, heteroskedasticity and autocorrelation
    consistent covariance matrix, Econometrica 55.

    """
    total, longest = sum(s.T @ s for s in scores), round(window * rate_hz)
    for s in scores:
        lags = min(longest, len(s) - 1)
        for lag in range(1, lags + 1):
            cross = s[lag:].T @ s[:-lag]
            total = total + (1 - lag / (lags + 1)) * (cross + cross.T)
    return np.asarray(total * small_sample_factor(sum(map(len, scores)), parameters, longest))


def small_sample_factor(samples: int, parameters: float, lags: int) -> float:
    """
    Factor of a covariance by Newey and West that makes its 95 % intervals hold in few samples.

    Residuals of a fit are smaller than errors, and a window that is not short beside the recording
    sees too little of their correlation.

    Parameters
    ----------
    samples : int
        Of all stretches.
    parameters : float
        Number of parameters that the rows determine.
    lags : int
        Largest lag, in samples.

    References
    ----------
    Kiefer and Vogelsang 2005, A new asymptotic theory for heteroskedasticity-autocorrelation
    robust tests, Econometric Theory 21, table 1: quantile 97.5 % for the Bartlett kernel.

    """
    share = min((lags + 1) / max(samples, 1), 1.0)
    quantile = np.polyval(QUANTILE, share)
    return (min(samples / max(samples - parameters, 1), MOST_CORRECTION)
            * float(quantile / QUANTILE[-1])**2)
