"""Uniformly sampled stretches of a recording."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dynid_ros.errors import RecordingError
from dynid_ros.recordings import quality, stamp_checks
from dynid_ros.recordings.recording import Recording

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ResamplingThresholds:
    """
    Bounds for the interpolation of samples, live and in batch.

    Measured figures are those of benchmarks/thresholds.py: real arms (UR10, Panda, TX40),
    simulated arms, and planted defects.

    Attributes
    ----------
    gap_periods : float
        Sample periods from which a step of the stamps ends a stretch, where `gap_seconds` of
        `dynid_ros.recordings.stamp_checks.StampThresholds` is shorter than they are. At low rates,
        even one lost sample takes longer than `gap_seconds`.
    off_grid : float
        Largest deviation of a stamp from the uniform grid, in sample periods, up to which samples
        are used as they are. At 50 Hz, a thousandth of a period is 20 µs. Good recordings have 0
        to 0.03, so that some are interpolated.
    burst : float
        Smallest step between two samples through which a spline is laid, relative to the median
        step. Stamps that are taken late come in bursts, and a spline swings out between them.
    filled : float
        Largest number of uniform samples for each one measured. Where half of the samples is
        lost, it is two. Stamps in bursts make a rate within them that nothing was measured at,
        and its samples would fill memory.

    """

    gap_periods: float = 5.0
    off_grid: float = 1e-3
    burst: float = 0.25
    filled: float = 50.0


THRESHOLDS = ResamplingThresholds()


@dataclass(frozen=True)
class Segment:
    """
    One stretch without gaps at a constant rate.

    Attributes
    ----------
    t : (N,) ndarray
        Time since the start of the recording, s.
    q, u : (N, n) ndarray
        Positions, and the drive signal as recorded.

    """

    t: Array
    q: Array
    u: Array


def sample_rate(recording: Recording) -> float:
    """Median rate of a recording, Hz."""
    return float(1 / np.median(np.diff(recording.t)))


def longest_gap(rate_hz: float) -> float:
    """Longest step of the stamps that interpolation bridges at a rate, s."""
    return max(THRESHOLDS.gap_periods / rate_hz, stamp_checks.THRESHOLDS.gap_seconds)


def uniform_segments(
    recording: Recording, rate_hz: float, delay: float = 0.0,
) -> tuple[Segment, ...]:
    """
    Cut a recording at its gaps and bring each stretch to a uniform rate.

    Parameters
    ----------
    recording : Recording
        Recording with increasing stamps.
    rate_hz : float
        Rate to bring it to.
    delay : float
        Time by which the drive signal lags behind the motion, s; it is advanced by as much.

    Returns
    -------
    tuple of Segment
        Stretches that are as long as a recording must be. Uniform samples are kept; others are
        interpolated by cubic splines.

    Raises
    ------
    RecordingError
        Every stretch between gaps is too short, or the stamps come in bursts.

    """
    shortest = quality.THRESHOLDS.shortest
    breaks = np.flatnonzero(np.diff(recording.t) > longest_gap(rate_hz)) + 1
    edges = [0, *breaks.tolist(), len(recording.t)]
    stretches = [slice(a, b) for a, b in pairwise(edges)]
    seconds = [float(recording.t[s.stop - 1] - recording.t[s.start]) for s in stretches]
    kept = sum(length for length in seconds if length >= shortest)
    if kept * rate_hz > THRESHOLDS.filled * len(recording.t):
        raise RecordingError(
            f'{recording.source}: its stamps come in bursts, {rate_hz:.4g} Hz within them and '
            f'{len(recording.t) / kept:.4g} Hz on average; let the driver stamp')
    segments = [
        _uniform(recording.t[s], recording.q[s], recording.u[s], rate_hz, delay)
        for s, length in zip(stretches, seconds, strict=True) if length >= shortest
    ]
    if not segments:
        raise RecordingError(
            f'{recording.source}: no stretch of {shortest:g} s without a gap in its stamps; '
            'record again'
        )
    return tuple(segments)


def _uniform(t: Array, q: Array, u: Array, rate_hz: float, delay: float) -> Segment:
    steps = np.arange(int((t[-1] - t[0]) * rate_hz + THRESHOLDS.off_grid) + 1)
    grid = t[0] + steps / rate_hz
    same = len(grid) == len(t) and bool(np.abs(grid - t).max() * rate_hz < THRESHOLDS.off_grid)
    if not same:
        q = _interpolate(t, q, grid)
    if not same or delay:
        u = _interpolate(t, u, np.clip(grid + delay, t[0], t[-1]))
    return Segment(grid, q, u)


def _interpolate(t: Array, x: Array, grid: Array) -> Array:
    from scipy.interpolate import CubicSpline

    # Stamps that are taken late come in bursts, and a spline through two samples that are next
    # to each other swings far out. Of a burst, the last one was stamped least late.
    steps = np.diff(t)
    calm = np.append(steps > THRESHOLDS.burst * np.median(steps), True)
    t, x = t[calm], x[calm]
    # Joint by joint: the coefficients of a long recording fill memory.
    result = np.empty((len(grid), x.shape[1]))
    for j, column in enumerate(x.T):
        result[:, j] = CubicSpline(t, column)(grid)
    return result
