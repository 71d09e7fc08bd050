# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Periodic motions: averages over periods, and exact derivatives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.errors import RecordingError
from dynid_ros.utilities.arrays import Array, runs_of

SHORTEST_PERIOD = 1.0
SAME_SPREAD = 0.02
# Single samples may differ by more than the average does.
PEAK = 3.0


def average_periods(
    x: Array, rate_hz: float, period: float, same: float = np.inf
) -> tuple[Array, float]:
    """
    Average a signal over its whole periods.

    Parameters
    ----------
    x : (N, n) ndarray
        Signals, at least two periods long; an incomplete last period is left out.
    rate_hz : float
        Sample rate.
    period : float
        Period, s.
    same : float
        Allowed difference of the periods from their mean, relative to the spread of the signal.

    Returns
    -------
    mean : (M, n) ndarray
        One period.
    rate_hz : float
        Its sample rate, so that the period is a whole number of samples.

    Raises
    ------
    RecordingError
        The signal is shorter than two periods, or does not repeat itself.

    """
    samples = round(period * rate_hz)
    # Half a sample may be missing: the last sample covers the time until the next.
    periods = int((len(x) + 0.5) / (rate_hz * period))
    if samples < 2:
        raise RecordingError(f'a period of {period:g} s is shorter than two samples at '
                             f'{rate_hz:.4g} Hz; give the period of the motion in s')
    rate = samples / period
    if not np.isclose(rate, rate_hz, rtol=1e-9):
        from scipy.interpolate import CubicSpline

        grid = np.arange(periods * samples) / rate
        x = CubicSpline(np.arange(len(x)) / rate_hz, x)(grid)
    folded = x[: periods * samples].reshape(periods, samples, -1)
    mean = np.asarray(folded.mean(axis=0))
    if np.linalg.norm((folded - mean).std(axis=(0, 1))) > same * np.linalg.norm(mean.std(axis=0)):
        raise RecordingError(
            f'the motion does not repeat itself every {period:g} s; give its period, leave out '
            'the time before and after, or choose another filter')
    return mean, rate


def periodic_part(q: Array, rate_hz: float, period: float) -> slice:
    """
    Find the longest stretch in which a motion repeats itself.

    It leaves out the time before and after, such as standstill and ramps.

    Parameters
    ----------
    q : (N, n) ndarray
        Positions, at least two periods long.
    rate_hz : float
        Sample rate.
    period : float
        Period, s.

    Returns
    -------
    slice
        At least two whole periods, where they agree best.

    Raises
    ------
    RecordingError
        No two successive periods agree, or only those of standstill.

    """
    size = period * rate_hz
    if len(q) + 0.5 < 2 * size:
        raise RecordingError(f'a stretch of {len(q) / rate_hz:.3g} s holds less than two periods '
                             f'of {period:g} s; choose another filter')
    # From the range, because standstill would reduce the mean square.
    spread = float(np.linalg.norm(np.ptp(q, axis=0))) / np.sqrt(8)
    k = np.arange(int(len(q) - size + 0.5))
    later = np.column_stack([np.interp(k + size, np.arange(len(q)), column) for column in q.T])
    distance = np.linalg.norm(later - q[k], axis=1)
    sums = np.concatenate([[0.0], np.cumsum(distance**2)])
    longest = slice(0, 0)
    for first, last in runs_of(distance <= PEAK * SAME_SPREAD * spread):
        periods = int((last - first + 0.5) / size) + 1
        compared = min(round((periods - 1) * size), last - first)
        begins = np.arange(first, last - compared + 1)
        begin = int(begins[np.argmin(sums[begins + compared] - sums[begins])])
        part = slice(begin, min(begin + round(periods * size), len(q)))
        moves = np.linalg.norm(q[part].std(axis=0)) > spread / 4
        if periods > 1 and moves and part.stop - part.start > longest.stop - longest.start:
            longest = part
    if longest.stop == 0:
        raise RecordingError(
            f'the motion does not repeat itself every {period:g} s, not even twice in a row; '
            'check its period, or choose another filter')
    return longest


def harmonic_derivative(x: Array, rate_hz: float, cutoff_hz: float, order: int) -> Array:
    """
    Differentiate one period exactly, by its Fourier series up to the cut-off.

    Parameters
    ----------
    x : (M, n) ndarray
        One period.
    rate_hz, cutoff_hz : float
        Sample rate, and the highest frequency kept.
    order : int
        0 only removes frequencies above the cut-off.

    Returns
    -------
    (M, n) ndarray
        Derivative of that order.

    """
    f = np.fft.rfftfreq(len(x), 1 / rate_hz)
    series = np.fft.rfft(x, axis=0) * ((2j * np.pi * f) ** order * (f <= cutoff_hz))[:, None]
    return np.fft.irfft(series, len(x), axis=0)


def find_period(q: Array, rate_hz: float) -> float:
    """
    Find the period of a motion that repeats itself at least once.

    Parameters
    ----------
    q : (N, n) ndarray
        Positions.
    rate_hz : float
        Sample rate.

    Returns
    -------
    float
        Shortest shift by which all joints repeat, within `SAME_SPREAD` of their spread, s.

    Raises
    ------
    RecordingError
        The motion does not repeat.

    """
    first = int(SHORTEST_PERIOD * rate_hz)
    errors = misfit(q)[: len(q) // 2 + 2]
    inner = np.arange(max(first, 1), len(errors) - 1)
    dips = inner[(errors[inner] <= errors[inner - 1]) & (errors[inner] < errors[inner + 1])]
    shifts, depths = _vertices(errors, dips)
    fits = np.sqrt(np.maximum(depths, 0.0))
    if not len(fits) or fits.min() > SAME_SPREAD:
        raise RecordingError('the motion does not repeat itself from start to end; give its '
                             'period or choose another filter')
    # The period is the first shift that fits nearly as well as the best one; its last multiple
    # determines it most accurately.
    shortest = shifts[np.argmax(fits <= max(SAME_SPREAD / 2, 1.5 * fits.min()))]
    times = int((shifts[-1] + 0.5) / shortest)
    last = shifts[np.argmin(np.abs(shifts - times * shortest))]
    return float(last / round(last / shortest) / rate_hz)


def misfit(q: Array) -> Array:
    """
    Mean square difference of a motion from itself, shifted by any number of samples.

    Parameters
    ----------
    q : (N, n) ndarray
        Positions.

    Returns
    -------
    (N - 1,) ndarray
        Over all joints and all samples that overlap, relative to twice the variance of the
        motion; 1 for a motion uncorrelated with itself.

    """
    N = len(q)
    q, ones = q - q.mean(axis=0), np.ones(N)
    squares, _ = mean_squares(q, ones, q, ones)
    variance = max(float((q**2).sum()) / N, np.finfo(float).tiny)
    return np.asarray(squares[N - 1:2 * N - 2] / (2 * variance))


def mean_squares(a: Array, known: Array, b: Array, weight: Array) -> tuple[Array, Array]:
    """
    Mean square difference of two signals, one shifted by any number of samples.

    Parameters
    ----------
    a, known : (N, n) and (N,) ndarray
        Signals, and one for each known sample, zero for others.
    b, weight : (M, n) and (M,) ndarray
        The others, and the weights of their samples.

    Returns
    -------
    squares, compared : (N + M - 1,) ndarray
        Mean over the overlapping samples, infinite without any, and their weight; the first shift
        aligns the end of b with the beginning of a.

    """
    # A loop over the shifts would take minutes.
    size = 1 << (len(a) + len(b)).bit_length()
    order = np.arange(1 - len(b), len(a))

    def spectrum(x: Array) -> NDArray[np.complex128]:
        return np.asarray(np.fft.rfft(x, size))

    of_known, of_weight = spectrum(known), np.conj(spectrum(weight))
    products = (spectrum((a**2).sum(axis=1)) * of_weight
                + of_known * np.conj(spectrum(weight * (b**2).sum(axis=1))))
    # One joint at a time: their products are summed before they are transformed back.
    for x, y in zip(a.T, b.T, strict=True):
        products -= 2 * spectrum(x) * np.conj(spectrum(weight * y))
    squares = np.fft.irfft(products, size)[order]
    compared = np.fft.irfft(of_known * of_weight, size)[order]
    there = compared > 1e-9 * compared.max()
    return (np.where(there, squares / np.where(there, compared, 1.0), np.inf),
            np.where(there, compared, 0.0))


def _vertices(y: Array, dips: NDArray[np.intp]) -> tuple[Array, Array]:
    """Vertices of the parabolas through three samples about each dip: positions and depths."""
    slope = (y[dips + 1] - y[dips - 1]) / 2
    curvature = y[dips + 1] - 2 * y[dips] + y[dips - 1]
    return dips - slope / curvature, y[dips] - slope**2 / (2 * curvature)
