"""Periodic motions: averaging over periods, and derivatives that are exact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.errors import RecordingError

Array = NDArray[np.float64]

SHORTEST_PERIOD = 1.0
SAME = 0.02


def average_periods(x: Array, rate_hz: float, period: float) -> tuple[Array, float]:
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

    Returns
    -------
    mean : (M, n) ndarray
        One period.
    rate_hz : float
        Its sample rate, so that the period is a whole number of samples.

    """
    samples = round(period * rate_hz)
    periods = int((len(x) - 1) / rate_hz / period + 1e-9)
    if periods < 2:
        raise RecordingError(
            f'a recording of {(len(x) - 1) / rate_hz:.3g} s holds less than two periods of '
            f'{period:g} s; choose another filter'
        )
    rate = samples / period
    if not np.isclose(rate, rate_hz, rtol=1e-9):
        from scipy.interpolate import CubicSpline

        grid = np.arange(periods * samples) / rate
        x = CubicSpline(np.arange(len(x)) / rate_hz, x, axis=0)(grid)
    folded = x[: periods * samples].reshape(periods, samples, -1)
    return np.asarray(folded.mean(axis=0)), rate


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
        0 only removes what lies above the cut-off.

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
        Shortest shift by which all joints repeat, within `SAME` of their spread, s.

    Raises
    ------
    RecordingError
        The motion does not repeat.

    """
    spread = np.linalg.norm(q.std(axis=0))
    shifts = np.arange(int(SHORTEST_PERIOD * rate_hz), len(q) // 2 + 1)
    misfit = np.array([
        np.sqrt(((q[k:2 * k] - q[:k]) ** 2).mean(axis=0).sum()) for k in shifts
    ]) / max(float(spread), np.finfo(float).tiny)
    if not len(shifts) or misfit.min() > SAME:
        raise RecordingError('the motion does not repeat itself; give its period or choose '
                             'another filter')
    # Of all multiples of the period, the first that fits nearly as well as the best.
    first = int(np.argmax(misfit <= max(SAME / 2, 1.5 * misfit.min())))
    while first + 1 < len(misfit) and misfit[first + 1] < misfit[first]:
        first += 1
    return float(shifts[first] / rate_hz)
