# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Curves of torque over time and residual spectra for drawing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid_ros.data.signals.motion_band import hann, one_sided
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.utilities.arrays import Array

#: Measured, predicted, and their difference, distinct for the colour-blind (Okabe and Ito).
MEASURED, PREDICTED_COLOUR, RESIDUAL_COLOUR = '#8a949f', '#0b76b8', '#d55e00'
# A column of the page is some 550 pixels wide: more points cannot be seen.
PLOT_POINTS = 1000
SEGMENT = 256


def end_to_end(predictions: Sequence[Prediction]) -> tuple[Array, Array, Array]:
    """
    Lay recordings end to end.

    Parameters
    ----------
    predictions : sequence of Prediction
        One for each recording.

    Returns
    -------
    t : (M,) ndarray
        Time, s; a row of NaN separates two recordings.
    tau, tau_hat : (M, n) ndarray
        Measured and predicted torque, Nm.

    """
    parts, start = [], 0.0
    for p in predictions:
        gap = np.full((1, p.tau.shape[1]), np.nan)
        parts.append((np.append(p.t - p.t[0] + start, np.nan), np.vstack([p.tau, gap]),
                      np.vstack([p.tau_hat, gap])))
        start += float(p.t[-1] - p.t[0])
    t, tau, tau_hat = (np.concatenate(each)[:-1] for each in zip(*parts, strict=True))
    return t, tau, tau_hat


def thinned(t: Array, y: Array, points: int = PLOT_POINTS) -> tuple[Array, Array]:
    """
    Keep the smallest and the largest value of each stretch, so that no peak is lost.

    Parameters
    ----------
    t, y : (N,) ndarray
        A curve; NaN separates two pieces and is kept.
    points : int
        Largest number of points.

    """
    if len(t) <= points:
        return t, y
    stretches = points // 2
    size = -(-len(t) // stretches)
    rows = np.pad(y, (0, stretches * size - len(y)), mode='edge').reshape(stretches, size)
    ends = np.sort(np.column_stack([rows.argmin(axis=1), rows.argmax(axis=1)]), axis=1)
    kept = np.minimum((ends + size * np.arange(stretches)[:, None]).ravel(), len(t) - 1)
    return t[kept], y[kept]


def segment_length(predictions: Sequence[Prediction]) -> int:
    """Length of a segment of Welch's method that leaves three in the shortest recording."""
    return min(SEGMENT, *(max(len(p.t) // 2, 2) for p in predictions))


def welch(x: Array, rate_hz: float, segment: int) -> Array:
    """
    Power spectral density of signals, averaged over segments that overlap by half.

    Parameters
    ----------
    x : (N, n) ndarray
        Signals, at least one segment long.
    rate_hz : float
        Sample rate.
    segment : int
        Samples of a segment.

    Returns
    -------
    (F, n) ndarray
        Square of the unit by Hz, from zero to half of the rate; the mean of each segment is taken
        out.

    References
    ----------
    Welch 1967, The use of fast Fourier transform for the estimation of power spectra.

    """
    window = hann(segment)
    parts = np.lib.stride_tricks.sliding_window_view(x, segment, axis=0)[::segment - segment // 2]
    parts = (parts - parts.mean(axis=2, keepdims=True)) * window
    power = one_sided(np.fft.rfft(parts).transpose(2, 0, 1), segment)
    return np.asarray(power.mean(axis=1) / (rate_hz * (window**2).sum()))


def residual_spectrum(
    predictions: Sequence[Prediction], segment: int
) -> tuple[Array, Array]:
    """
    Amplitude spectral density of the residual of each joint, after Welch.

    Parameters
    ----------
    predictions : sequence of Prediction
        Recordings of one sample rate; their densities are averaged by length.
    segment : int
        Samples of one segment; spectra of the same segment can be compared.

    Returns
    -------
    frequency : (F,) ndarray
        Hz, without zero: the mean is taken out of each segment.
    density : (F, n) ndarray
        Nm/√Hz.

    """
    # A joint that stands still has no residual.
    rates = [1 / float(np.median(np.diff(p.t))) for p in predictions]
    densities = [welch(np.nan_to_num(p.tau - p.tau_hat), rate, segment)
                 for p, rate in zip(predictions, rates, strict=True)]
    mean = np.average(densities, axis=0, weights=[len(p.t) for p in predictions])
    frequency = np.fft.rfftfreq(segment, 1 / rates[0])
    return np.asarray(frequency[1:], dtype=float), np.sqrt(mean[1:])
