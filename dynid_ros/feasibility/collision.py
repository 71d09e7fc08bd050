"""Clearance along a motion: a barrier for its descent, and a bound that holds at all times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.feasibility.barrier import soft_wall
from dynid_ros.feasibility.motion_bounds import motion_bounds
from dynid_ros.feasibility.scene import Scene
from dynid_ros.trajectory.fourier import FourierMotion

Array = NDArray[np.float64]

#: Distance beyond the clearance in which the barrier acts, m.
WIDTH = 0.1
#: Smallest clearances are found to this distance, m, or to this share where that is more.
RESOLUTION = 1e-3
SHARE = 0.1
#: Parts into which a stretch of a motion is cut at first.
PARTS = 100
#: Halvings of a part before it is left as it is.
LEVELS = 16


@dataclass(frozen=True, eq=False)
class CollisionBarrier:
    """
    Barrier of the distances of all pairs of bodies.

    Attributes
    ----------
    scene : Scene
        Bodies and pairs.
    spare : float
        Distance added to the clearance, for the motion between the samples, m.

    """

    scene: Scene
    spare: float = 0.0

    def value(self, q: Array) -> float:
        """Mean over positions (K, n) of the barrier; infinite where a clearance is violated."""
        margin = self._margins(q)
        return float(soft_wall(margin, WIDTH)[0].sum() / len(q)) if margin.min() > 0 else np.inf

    def slope(self, q: Array) -> Array:
        """Return the derivative (K, n) of `value` by the positions (K, n)."""
        slopes = soft_wall(self._margins(q), WIDTH)[1]
        samples, pairs = np.nonzero(slopes)
        result = np.zeros_like(q)
        if len(samples):
            weighted = slopes[samples, pairs, None] * self._distance_slopes(q, samples, pairs)
            np.add.at(result, samples, weighted)
        return result / len(q)

    def _margins(self, q: Array) -> Array:
        """Distances (K, P) minus the clearance."""
        distances = np.array([self.scene.distances(row) for row in q])
        return distances - (self.scene.clearance + self.spare)

    def _distance_slopes(
        self, q: Array, samples: NDArray[np.intp], pairs: NDArray[np.intp],
    ) -> Array:
        """Return the derivative (N, n) of N distances, of pairs at samples, by the positions."""
        import pinocchio

        scene = self.scene
        normals, ends = np.empty((len(pairs), 3)), np.empty((2, len(pairs), 3))
        J = np.zeros((len(q), 6, q.shape[1]))
        last = -1
        for k, (sample, pair) in enumerate(zip(samples.tolist(), pairs.tolist(), strict=True)):
            if sample != last:
                scene.distances(q[sample])
                J[sample] = pinocchio.computeJointJacobians(scene.model, scene.data, q[sample])
                last = sample
            result = scene.scratch.distanceResults[pair]
            normals[k] = result.normal
            ends[0, k], ends[1, k] = result.getNearestPoint1(), result.getNearestPoint2()
        # Velocity of each nearest point along the normal, for unit speed of each joint.
        away = normals[None, :, None, :] @ J[samples, :3] + (
            np.cross(ends, normals)[:, :, None, :] @ J[samples, 3:])
        carries = scene.carries[pairs]
        return np.asarray(carries[:, 1] * away[1, :, 0] - carries[:, 0] * away[0, :, 0])


def clearances(scene: Scene, motion: FourierMotion) -> Array:
    """
    Smallest distances of a motion that hold between samples too, (P,), m.

    Parameters
    ----------
    scene : Scene
        Bodies and pairs.
    motion : FourierMotion
        The motion, with its ramps.

    Returns
    -------
    (P,) ndarray
        Lower bounds, at most `RESOLUTION` or `SHARE` below the true smallest distances.

    Notes
    -----
    Within a time h of a sample, a joint moves by at most |qd| h + max|qdd| h²/2, and two bodies
    come nearer by at most the sum of that times their lever arms. Parts of the motion in which
    this bound is below the smallest distance found are halved.

    """
    bounds = motion_bounds(motion)
    middle, half = _parts(motion)
    smallest = np.full(len(scene.names), np.inf)
    certain = np.full(len(scene.names), np.inf)
    for level in range(LEVELS):
        q, qd, _ = motion.evaluate(middle)
        distance = np.array([scene.distances(row) for row in q])
        moved = np.abs(qd) * half[:, None] + bounds.acceleration * half[:, None]**2 / 2
        lower = distance - moved @ scene.levers.T
        smallest = np.minimum(smallest, distance.min(axis=0))
        enough = smallest - np.maximum(RESOLUTION, SHARE * smallest)
        open_ = (lower < enough).any(axis=1) & (level < LEVELS - 1)
        certain = np.minimum(certain, lower[~open_].min(axis=0, initial=np.inf))
        if not open_.any():
            break
        half = np.repeat(half[open_] / 2, 2)
        middle = np.repeat(middle[open_], 2) + half * np.tile([-1.0, 1.0], int(open_.sum()))
    return np.asarray(np.minimum(certain, smallest))


def _parts(motion: FourierMotion) -> tuple[Array, Array]:
    """Middles and half lengths of intervals that cover all different parts, s."""
    edges = [(motion.ramp, motion.ramp + motion.period)]
    if motion.ramp > 0:
        edges += [(0.0, motion.ramp), (motion.duration - motion.ramp, motion.duration)]
    middle, half = [], []
    for start, end in edges:
        length = (end - start) / PARTS
        middle.append(start + length * (np.arange(PARTS) + 0.5))
        half.append(np.full(PARTS, length / 2))
    return np.concatenate(middle), np.concatenate(half)
