# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The largest position, velocity and acceleration of a motion, between samples too."""

from __future__ import annotations

from math import comb

import numpy as np

from dynid_ros.motion.feasibility.planning_limits import PlanningLimits
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.utilities.arrays import Array

#: Grid points in the period of the highest harmonic: the bound adds less than 0.05 %.
BOUND_POINTS = 100

#: Largest magnitude of the quintic step and of its first four derivatives on [0, 1].
STEP_PEAKS = (1.0, 1.875, 10 / np.sqrt(3), 60.0, 360.0)


def motion_bounds(motion: FourierMotion) -> PlanningLimits:
    """
    Guaranteed bounds of a motion over all times.

    Parameters
    ----------
    motion : FourierMotion
        The motion, with its ramps.

    Returns
    -------
    PlanningLimits
        Limits that the motion keeps: largest values on a dense grid, plus a bound between its
        points.

    Notes
    -----
    Between two points at a distance h, a function exceeds the chord by at most h²/8 max|f''|.
    The second derivatives of q, qd and qdd are bounded by the sums of the amplitudes of their
    harmonics, and in a ramp by Leibniz' rule.

    """
    peaks = _series_peaks(motion)
    full = motion.ramp + np.linspace(0, motion.period, BOUND_POINTS * motion.harmonics + 1)
    bounds = [_bounds_on(motion, full, peaks[2:])]
    if motion.ramp > 0:
        waves = motion.harmonics * (1 + motion.ramp / motion.period)
        grid = np.linspace(0, motion.ramp, int(BOUND_POINTS * waves) + 1)
        peaks = _ramp_peaks(peaks, motion.ramp)
        bounds += [_bounds_on(motion, start + grid, peaks[2:])
                   for start in (0.0, motion.duration - motion.ramp)]
    lowest, *others = np.max(bounds, axis=0)
    return PlanningLimits(-lowest, *others)


def _bounds_on(motion: FourierMotion, grid: Array, curvature: Array) -> Array:
    """Bounds of -q, q, |qd| and |qdd|, (4, n), given those (3, n) of the second derivatives."""
    q, qd, qdd = motion.evaluate(grid)
    between = (grid[1] - grid[0]) ** 2 / 8 * curvature
    return np.asarray(
        np.max([-q, q, np.abs(qd), np.abs(qdd)], axis=1) + between[[0, 0, 1, 2]])


def _series_peaks(motion: FourierMotion) -> Array:
    """Bounds (5, n) of the deviation from rest and of its first four derivatives."""
    amplitude = np.hypot(motion.sine, motion.cosine)
    powers = motion.orders ** np.arange(-1, 4)[:, None]
    peaks: Array = powers @ amplitude.T
    peaks[0] *= 2
    return peaks


def _ramp_peaks(series: Array, ramp: float) -> Array:
    """Bounds (5, n) of quintic step times deviation and of its first four derivatives."""
    step = np.array(STEP_PEAKS) / ramp ** np.arange(5)
    return np.array([
        sum(comb(k, j) * step[j] * series[k - j] for j in range(k + 1)) for k in range(5)])
