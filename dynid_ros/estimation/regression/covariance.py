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
        With Bartlett weights, which keep it positive semidefinite, `small_sample_factor` and
        `window_factor`.

    References
    ----------
    Newey and West 1987, A simple, positive semi-definite, heteroskedasticity and autocorrelation
    consistent covariance matrix, Econometrica 55.

    """
    total, longest = sum(s.T @ s for s in scores), round(window * rate_hz)
    factor = (small_sample_factor(sum(map(len, scores)), parameters, longest)
              * window_factor(scores, longest))
    for s in scores:
        lags = min(longest, len(s) - 1)
        for lag in range(1, lags + 1):
            cross = s[lag:].T @ s[:-lag]
            total = total + (1 - lag / (lags + 1)) * (cross + cross.T)
    return np.asarray(total * factor)


def window_factor(scores: Sequence[Array], lags: int) -> float:
    """
    Variance of a sum of scores, extrapolated to a long window, relative to Bartlett's window.

    Bartlett's weights shrink from the first lag on. The sum misses a part of each correlation, a
    third where the scores remember half of the window; this part falls with the inverse of the
    window. The window twice as long extrapolates it to zero, which is a flat top: weights of 1 up
    to the window and from there linearly to 0. A flat top need not be positive for each
    parameter, so its mean over the parameters scales all.

    Parameters
    ----------
    scores : sequence of (N, b) ndarray
        Scores of each stretch.
    lags : int
        Largest lag of Bartlett's window, in samples.

    References
    ----------
    Politis and Romano 1995, Bias-corrected nonparametric spectral estimation, Journal of Time
    Series Analysis 16.

    """
    power = sum((s**2).sum(axis=0) for s in scores)
    scale = np.sqrt(np.divide(1.0, power, out=np.zeros_like(power), where=power > 0))
    unit = [s * scale for s in scores]
    lag = np.arange(1, 2 * lags + 2)
    correlation = np.array([sum((u[k:] * u[:-k]).sum() for u in unit if len(u) > k) for k in lag])
    bartlett = np.maximum(1 - lag / (lags + 1), 0.0)
    flat, total = np.minimum(2 - lag / (lags + 1), 1.0), np.count_nonzero(power)
    seen = total + 2 * bartlett @ correlation
    if seen <= 0:
        return 1.0
    # Scores of a fit add up to zero, so that a window loses its share of the samples; the flat
    # weights add up to three of Bartlett's.
    share = min((lags + 1) / sum(int(s.any(axis=1).sum()) for s in scores), 1.0)
    lost = (1 + 3 * share) / (1 + share)
    return max(lost * float((total + 2 * flat @ correlation) / seen), 1.0)


def small_sample_factor(samples: int, parameters: float, lags: int) -> float:
    """
    Factor of a covariance by Newey and West that makes its 95 % intervals hold in few samples.

    Residuals of a fit are smaller than errors, and a window that is not short beside the recording
    makes the covariance itself uncertain.

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
