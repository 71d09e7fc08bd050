# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Clearance along a motion: a barrier for its descent, and a bound that holds at all times.

The arm states the distance to keep (`dynid_ros.arm.surroundings`); `clearance_pairs` lowers it for
links that are never so far apart.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dynid_ros.dynamics.external_force import joint_screws, link_poses
from dynid_ros.motion.feasibility.barrier import soft_wall
from dynid_ros.motion.feasibility.motion_bounds import motion_bounds
from dynid_ros.motion.feasibility.pair_distances import NearPairs, PairDistances
from dynid_ros.motion.feasibility.scene import Scene
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.utilities.arrays import Array

#: Resolution of the smallest clearances, m, or as a share if that is more.
RESOLUTION = 1e-3
CLEARANCE_SHARE = 0.1
#: Initial parts of a stretch of a motion.
FIRST_PARTS = 100
#: Most halvings of a part.
LEVELS = 16


class CollisionBarrier:
    """
    Barrier of the distances of all pairs of bodies.

    Parameters
    ----------
    scene : Scene
        Bodies and pairs.
    spare : float
        Distance added to the clearance, for the motion between the samples, m; less for pairs
        that keep less than the clearance.

    Attributes
    ----------
    floor : (P,) ndarray
        Distance of each pair at which the barrier is infinite, m.

    """

    def __init__(self, scene: Scene, spare: float = 0.0) -> None:
        self.scene = scene
        part = scene.kept / scene.clearance if scene.clearance > 0 else 1.0
        self.floor: Array = scene.kept + part * spare

    def at(self, q: Array) -> tuple[float, NearPairs | None]:
        """
        Mean over positions (K, n) of the barrier, and the near pairs for `slope`.

        Infinite and None where a clearance is violated.
        """
        width = self.scene.width
        near = self.scene.between.near(q, self.floor + width, self.floor)
        if near is None:
            return np.inf, None
        return float(soft_wall(near.distances - self.floor, width)[0].sum() / len(q)), near

    def slope(self, q: Array, near: NearPairs) -> Array:
        """Return the derivative (K, n) by the positions (K, n), from the near pairs there."""
        margin = near.distances[near.samples, near.pairs] - self.floor[near.pairs]
        result = np.zeros_like(q)
        slopes = soft_wall(margin, self.scene.width[near.pairs])[1]
        np.add.at(result, near.samples, slopes[:, None] * self._distance_slopes(q, near))
        return result / len(q)

    def _distance_slopes(self, q: Array, near: NearPairs) -> Array:
        """Return the derivative (N, n) of the distances of near pairs by the positions."""
        arm = self.scene.between.arm
        screws = joint_screws(arm, link_poses(arm, q))[near.samples, None]
        # Velocity of each nearest point along the normal, for unit speed of each joint.
        turned = np.cross(near.points, near.normals[:, None])
        away = (screws[..., :3] @ turned[..., None] + (
            screws[..., 3:] @ near.normals[:, None, :, None]))[..., 0]
        carries = self.scene.carries[near.pairs]
        moved = carries[:, 1] * away[:, 1] - carries[:, 0] * away[:, 0]
        return np.asarray(moved @ arm.tree.gearing)


def clearances(
    scene: Scene, motion: FourierMotion, check: Callable[[], None] = lambda: None,
) -> Array:
    """
    Smallest distances of a motion that hold between samples too, (P,), m.

    Parameters
    ----------
    scene : Scene
        Bodies and pairs.
    motion : FourierMotion
        The motion, with its ramps.
    check : callable, optional
        Called repeatedly; may raise to end the computation.

    Returns
    -------
    (P,) ndarray
        Lower bounds, at most `RESOLUTION` or `CLEARANCE_SHARE` below the true smallest distances
        of pairs that come within `Scene.width` of their clearance.

    Notes
    -----
    Within a time h of a sample, a joint moves by at most |qd| h + max|qdd| h²/2, and two bodies
    come nearer by at most the sum of that times their lever arms. Parts of the motion in which
    this bound is below the smallest distance found are halved.

    """
    bounds = motion_bounds(motion)
    edges = np.array(motion.stretches)
    length = (edges[:, 1:] - edges[:, :1]) / FIRST_PARTS
    middle = (edges[:, :1] + length * (np.arange(FIRST_PARTS) + 0.5)).ravel()
    half = np.repeat(length / 2, FIRST_PARTS)
    far = scene.kept + scene.width
    smallest = np.full(len(scene.names), np.inf)
    certain = np.full(len(scene.names), np.inf)
    for level in range(LEVELS):
        check()
        q, qd, _ = motion.evaluate(middle)
        distance = _nearest(scene.between, q, np.minimum(smallest, far))
        moved = np.abs(qd) * half[:, None] + bounds.acceleration * half[:, None]**2 / 2
        lower = distance - moved @ scene.levers.T
        smallest = np.minimum(smallest, distance.min(axis=0))
        enough = smallest - np.maximum(RESOLUTION, CLEARANCE_SHARE * smallest)
        # A pair that keeps its clearance at the samples needs an exact bound, a far one does not.
        enough = np.where(smallest > scene.kept, np.maximum(enough, (smallest + scene.kept) / 2),
                          enough)
        enough = np.minimum(enough, far)
        open_ = (lower < enough).any(axis=1) & (level < LEVELS - 1)
        certain = np.minimum(certain, lower[~open_].min(axis=0, initial=np.inf))
        if not open_.any():
            break
        half = np.repeat(half[open_] / 2, 2)
        middle = np.repeat(middle[open_], 2) + half * np.tile([-1.0, 1.0], int(open_.sum()))
    return np.asarray(np.minimum(certain, smallest))


def _nearest(between: PairDistances, q: Array, smallest: Array) -> Array:
    """Distances (K, P) at positions (K, n), exact where they may become the smallest (P,)."""
    bounds = between.lower_bounds(q)
    # Begin with the nearest position of each pair by the bounds: few others can be nearer.
    first = np.zeros(bounds.shape, dtype=bool)
    first[bounds.argmin(axis=0), np.arange(bounds.shape[1])] = True
    first &= bounds <= smallest
    seen = between.refined(q, bounds, first)
    limit = np.minimum(smallest, seen.max(axis=0, where=first, initial=-np.inf))
    return between.refined(q, bounds, bounds <= limit)
