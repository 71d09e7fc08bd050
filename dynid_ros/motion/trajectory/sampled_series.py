"""Positions, velocities and accelerations at fixed times as linear functions of coordinates."""

from __future__ import annotations

import numpy as np

from dynid_ros.motion.trajectory.fourier import rest_projection
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
        orders = np.arange(1.0, harmonics + 1) * (2 * np.pi / period)
        sine, cosine = np.sin(np.outer(self.t, orders)), np.cos(np.outer(self.t, orders))
        basis = rest_projection(harmonics)
        self.maps = maps = np.zeros((3, points, basis.shape[1] + 1))
        maps[0, :, 0] = 1.0
        maps[0, :, 1:] = np.hstack([sine / orders, -cosine / orders]) @ basis
        maps[1, :, 1:] = np.hstack([cosine, sine]) @ basis
        maps[2, :, 1:] = np.hstack([-sine * orders, cosine * orders]) @ basis

    def states(self, X: Array) -> Array:
        """Position, velocity and acceleration (3, K, n) of coordinates (n, m)."""
        return np.asarray(self.maps @ X.T)

    def pull_back(self, by_states: Array) -> Array:
        """Gradient (n, m) by the coordinates, from that by the states (3, K, n)."""
        return np.asarray(np.einsum('dkm,dkn->nm', self.maps, by_states, optimize=True))
