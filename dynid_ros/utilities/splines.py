# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Cubic splines; SciPy's import takes longer than all that a command evaluates."""

from __future__ import annotations

import numpy as np

from dynid_ros.utilities.arrays import Array


def cubic_spline(t: Array, x: Array, times: Array, derivative: int = 0) -> Array:
    """
    Interpolate samples at other times by the cubic spline through them.

    Its third derivative does not change at the second and the last but one sample ("not a knot").

    Parameters
    ----------
    t : (N,) ndarray
        Increasing times, at least two.
    x : (N, ...) ndarray
        Finite samples.
    times : (...) ndarray
        Times to evaluate it at; beyond the ends, the first and the last cubic continue.
    derivative : int
        0 for values, 1 for their derivative.

    Returns
    -------
    (..., ...) ndarray
        The shape of the times, followed by that of a sample.

    References
    ----------
    de Boor 1978, A Practical Guide to Splines, chapter 4.

    """
    return hermite(t, x, _slopes(t, x.reshape(len(x), -1)).reshape(x.shape), times, derivative)


def hermite(t: Array, x: Array, slope: Array, times: Array, derivative: int = 0) -> Array:
    """Interpolate as `cubic_spline`, by cubics with the slopes (N, ...) of the samples."""
    before = np.clip(np.searchsorted(t, times, side='right') - 1, 0, len(t) - 2)
    axes = (*before.shape, *(1,) * (x.ndim - 1))
    step, late = (t[before + 1] - t[before]).reshape(axes), (times - t[before]).reshape(axes)
    start, first = x[before], slope[before]
    mean = (x[before + 1] - start) / step
    bend = (first + slope[before + 1] - 2 * mean) / step
    square = (mean - first) / step - bend
    cube = bend / step
    if derivative:
        return np.asarray(first + late * (2 * square + late * (3 * cube)))
    return np.asarray(start + late * (first + late * (square + late * cube)))


def _slopes(t: Array, x: Array) -> Array:
    """Slopes at the samples (N, c) of the spline, (N, c)."""
    from scipy.linalg.lapack import dgtsv

    step = np.diff(t)
    mean = np.diff(x, axis=0) / step[:, None]
    if len(t) == 2:
        return np.repeat(mean, 2, axis=0)
    if len(t) == 3:
        # A parabola has the mean slopes in the middle of the steps.
        bend = (mean[1] - mean[0]) / (t[2] - t[0])
        return np.array([mean[0] - bend * step[0], mean[0] + bend * step[0],
                         mean[1] + bend * step[1]])
    left, right = step[:-1, None], step[1:, None]
    begin, end = t[2] - t[0], t[-1] - t[-3]
    # Second derivatives are continuous at the inner samples; at the outer ones, third derivatives.
    wanted = np.concatenate([
        [((step[0] + 2 * begin) * step[1] * mean[0] + step[0]**2 * mean[1]) / begin],
        3 * (right * mean[:-1] + left * mean[1:]),
        [(step[-1]**2 * mean[-2] + (2 * end + step[-1]) * step[-2] * mean[-1]) / end]])
    slopes = dgtsv(
        np.append(step[1:], end), np.concatenate(
            [step[1:2], 2 * (step[:-1] + step[1:]), step[-2:-1]]),
        np.append(begin, step[:-1]), wanted)[3]
    return np.asarray(slopes)
