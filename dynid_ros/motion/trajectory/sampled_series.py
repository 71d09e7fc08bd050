# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Positions, velocities and accelerations at fixed times as linear functions of coordinates."""

from __future__ import annotations

import numpy as np

from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.utilities.arrays import Array


class SampledSeries:
    """
    Motions at rest of one period and number of harmonics, at fixed times.

    The coordinates X of a motion are (n, m) with m = 2 H - 1: for each joint its offset, then
    its coordinates in `rest_projection`. Every constraint on q, qd and qdd is linear in them.

    Parameters
    ----------
    period : float
        s.
    harmonics : int
        H.
    points : int
        Number of times K, evenly spaced.

    Attributes
    ----------
    t : (K,) ndarray
        Times within one period, s.
    maps : (3, K, m) ndarray
        From the coordinates of one joint to its position, velocity and acceleration.

    """

    def __init__(self, period: float, harmonics: int, points: int) -> None:
        self.t = np.linspace(0, period, points, endpoint=False)
        # One joint for each coordinate, with all others zero, offset included.
        units = np.eye(2 * harmonics - 1)
        motion = FourierMotion.at_rest(period, units[0], units[:, 1:])
        self.maps = np.array(motion.evaluate(self.t))

    def states(self, X: Array) -> Array:
        """Position, velocity and acceleration (3, K, n) of coordinates (n, m)."""
        return np.asarray(self.maps @ X.T)

    def pull_back(self, by_states: Array) -> Array:
        """Gradient (n, m) by the coordinates, from that by the states (3, K, n)."""
        return np.asarray(np.einsum('dkm,dkn->nm', self.maps, by_states, optimize=True))
