"""The two bodies that are nearest to each other, at each time of a motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid_ros.motion.feasibility.scene import Scene
from dynid_ros.pages.view.track import Moment, Track
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True, eq=False)
class ClosestPair:
    """
    The nearest pair of bodies over time.

    Attributes
    ----------
    distance : (N,) ndarray
        Clearance, m; negative where bodies overlap.
    names : tuple of str
        Pair at each time.
    points : (N, 2, 3) ndarray
        Nearest points of both bodies in the base frame, m.

    """

    distance: Array
    names: tuple[str, ...]
    points: Array


def closest_pair(scene: Scene, q: Array) -> ClosestPair:
    """
    Find the nearest pair of bodies at each of some positions.

    Parameters
    ----------
    scene : Scene
        Bodies and pairs.
    q : (N, n) ndarray
        Positions, rad or m.

    """
    between = scene.between
    distances = between.distances(q, np.inf)
    pair = distances.argmin(axis=1)
    points = np.empty((len(q), 2, 3))
    never = np.full(len(scene.names), -np.inf)
    for k, chosen in enumerate(pair):
        horizon = never.copy()
        horizon[chosen] = np.inf
        near = between.near(q[k:k + 1], horizon, never)
        points[k] = np.nan if near is None else near.points[0]
    return ClosestPair(
        distances.min(axis=1), tuple(scene.names[k] for k in pair), points)


def with_clearance(track: Track, pair: ClosestPair) -> Track:
    """Add the moment of least clearance."""
    k = int(pair.distance.argmin())
    return track.with_moments([Moment(
        float(track.t[k]), 'clearance',
        f'least clearance, {1e3 * pair.distance[k]:.0f} mm: {pair.names[k]}')])
