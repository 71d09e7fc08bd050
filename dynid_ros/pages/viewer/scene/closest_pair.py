# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The two bodies that are nearest to each other, at each time of a motion."""

from __future__ import annotations

import numpy as np

from dynid_ros.motion.feasibility.scene import Scene
from dynid_ros.utilities.arrays import Array


class ClosestPair:
    """
    The nearest pair of bodies at each of some positions.

    Parameters
    ----------
    scene : Scene
        Bodies and pairs.
    q : (N, n) ndarray
        Positions, rad or m.

    Attributes
    ----------
    distance : (N,) ndarray
        Clearance, m; negative where bodies overlap.
    names : list of str
        Pair at each time.
    points : (N, 2, 3) ndarray
        Nearest points of both bodies in the base frame, m.

    """

    def __init__(self, scene: Scene, q: Array) -> None:
        between = scene.between
        distances = between.distances(q, np.inf)
        pair = distances.argmin(axis=1)
        self.distance = distances.min(axis=1)
        self.names = [scene.names[k] for k in pair]
        self.points = np.full((len(q), 2, 3), np.nan)
        never = np.full(len(scene.names), -np.inf)
        for k, chosen in enumerate(pair):
            horizon = never.copy()
            horizon[chosen] = np.inf
            near = between.near(q[k:k + 1], horizon, never)
            if near is not None:
                self.points[k] = near.points[0]
