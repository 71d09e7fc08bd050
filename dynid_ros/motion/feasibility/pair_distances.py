# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Distances of pairs of bodies at many positions: bounds for all, exact ones for near pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.external_force import link_poses
from dynid_ros.motion.feasibility.bounding_capsule import (
    BoundingCapsule,
    fill_line_distances,
    fill_nearest_points,
)
from dynid_ros.motion.feasibility.link_shapes import Body
from dynid_ros.utilities.arrays import Array

#: Two bodies that need clearance.
Pair = tuple[Body, Body]
_BASE_POSE = np.array([1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])


@dataclass(frozen=True, eq=False)
class NearPairs:
    """
    Distances at K positions, and the nearest points of N near pairs.

    Attributes
    ----------
    distances : (K, P) ndarray
        Exact where near, else a lower bound; m.
    samples, pairs : (N,) ndarray of int
        Position and pair of each near one.
    normals : (N, 3) ndarray
        Direction from the first body to the second, in the base frame.
    points : (N, 2, 3) ndarray
        Nearest points of both bodies, in the base frame, m.

    """

    distances: Array
    samples: NDArray[np.intp]
    pairs: NDArray[np.intp]
    normals: Array
    points: Array


class PairDistances:
    """
    Pairs of bodies of an arm.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    pairs : sequence of (Body, Body)
        The P pairs; a half-space comes second.

    Attributes
    ----------
    bodies : tuple of Body
        The B bodies.
    capsules : tuple of BoundingCapsule or None
        Around each body; None around a half-space.
    pairs : (P, 2) ndarray of int64
        Bodies of each pair.
    exact : (P,) ndarray of bool
        Pairs whose bodies are their capsules, so that the lower bound is the distance.
    convex : (P,) ndarray of bool
        Pairs without a mesh.

    """

    def __init__(self, arm: ArmModel, pairs: Sequence[Pair]) -> None:
        import coal

        self.arm, self.bodies = arm, tuple(dict.fromkeys(body for pair in pairs for body in pair))
        self.capsules = tuple(
            None if isinstance(body.shape, coal.Halfspace)
            else BoundingCapsule(body.shape, body.placement) for body in self.bodies)
        places = {body: i for i, body in enumerate(self.bodies)}
        self.pairs = np.array(
            [(places[a], places[b]) for a, b in pairs], dtype=np.int64).reshape(-1, 2)
        kinds = np.array([
            (capsule is None or capsule.exact, not body.is_mesh)
            for body, capsule in zip(self.bodies, self.capsules, strict=True)], dtype=np.bool_)
        both = np.asarray(kinds.reshape(-1, 2)[self.pairs].all(axis=1))
        self.exact, self.convex = both[:, 0], both[:, 1]
        self._lines = np.array([
            np.zeros((2, 3)) if c is None else (c.start, c.end) for c in self.capsules])
        self._radii = np.array([0.0 if c is None else c.radius for c in self.capsules])
        walls = {i: body.shape for i, body in enumerate(self.bodies) if self.capsules[i] is None}
        self._walls = np.array([i in walls for i in range(len(self.bodies))], dtype=np.bool_)
        # Inward direction of each half-space and its distance from the origin; zero for others.
        self._planes = np.array([
            (*walls[i].n, walls[i].d) if i in walls else np.zeros(4)
            for i in range(len(self.bodies))]).reshape(-1, 4)

    def _poses(self, q: Array) -> tuple[Array, Array]:
        """Rotations (K, B, 3, 3) and origins (K, B, 3) of the links of the bodies."""
        poses = np.concatenate(
            [link_poses(self.arm, q), np.tile(_BASE_POSE, (len(q), 1, 1))], axis=1)
        poses = poses[:, [body.joint for body in self.bodies]]
        return poses[..., :9].reshape(*poses.shape[:2], 3, 3), poses[..., 9:]

    def _ends(self, q: Array) -> Array:
        """Place the lines of the capsules at positions (K, n): ends (K, B, 2, 3), m."""
        rotation, origin = self._poses(q)
        return np.asarray(
            np.einsum('kbij,bej->kbei', rotation, self._lines) + origin[:, :, None])

    def lower_bounds(self, q: Array) -> Array:
        """Distances (K, P) of the capsules around the bodies at positions (K, n), m."""
        return self._bounds(self._ends(q))

    def _bounds(self, ends: Array) -> Array:
        first, second = (np.ascontiguousarray(self.pairs[:, i]) for i in (0, 1))
        result = np.empty((len(ends), len(self.pairs)))
        flat = np.ascontiguousarray(ends.reshape(*ends.shape[:2], 6))
        fill_line_distances(flat, first, second, result)
        for k in np.flatnonzero(self._walls[second]):
            plane = self._planes[second[k]]
            result[:, k] = (ends[:, first[k]] @ plane[:3]).min(axis=1) - plane[3]
        return np.asarray(result - self._radii[first] - self._radii[second])

    def distances(self, q: Array, horizon: float | Array) -> Array:
        """Distances (K, P) at positions (K, n), exact below a horizon, else a lower bound; m."""
        bounds = self.lower_bounds(q)
        return self.refined(q, bounds, bounds < horizon)

    def refined(self, q: Array, bounds: Array, chosen: NDArray[np.bool_]) -> Array:
        """Replace chosen ones of the lower bounds (K, P) at positions (K, n) by the distances."""
        result = bounds.copy()
        for sample, pair, found in self._measured(q, bounds, chosen & ~self.exact):
            result[sample, pair] = found.min_distance
        return result

    def near(self, q: Array, horizon: Array, floor: Array) -> NearPairs | None:
        """
        Distances at positions (K, n) with the nearest points of all pairs below a horizon (P,).

        Returns None as soon as one lies at or below its floor (P,).
        """
        ends = self._ends(q)
        distances = self._bounds(ends)
        if (distances <= floor)[:, self.exact].any():
            return None
        close = distances < horizon
        samples, pairs = np.nonzero(close & self.exact)
        normals, points = self._between_capsules(ends, samples, pairs)
        others = []
        for sample, pair, found in self._measured(q, distances, close & ~self.exact):
            distance = found.min_distance
            if distance <= floor[pair]:
                return None
            distances[sample, pair] = distance
            others.append((sample, pair, np.array(found.normal), np.array(
                [found.getNearestPoint1(), found.getNearestPoint2()])))
        if others:
            more = [np.array(values) for values in zip(*others, strict=True)]
            samples, pairs, normals, points = (
                np.concatenate(both) for both in zip((samples, pairs, normals, points), more,
                                                     strict=True))
        return NearPairs(distances, samples, pairs, normals, points)

    def _between_capsules(
        self, ends: Array, samples: NDArray[np.intp], pairs: NDArray[np.intp],
    ) -> tuple[Array, Array]:
        """Find normals (N, 3) and nearest points (N, 2, 3) of bodies that are their capsules."""
        first, second = self.pairs[pairs].T
        x, y = ends[samples, first], ends[samples, second]
        points = np.empty((len(pairs), 2, 3))
        fill_nearest_points(x.reshape(-1, 6), y.reshape(-1, 6), points)
        gap = points[:, 1] - points[:, 0]
        apart = np.linalg.norm(gap, axis=1, keepdims=True)
        # Lines that cross have no direction; any one will do, since their bodies overlap.
        normals = np.divide(gap, apart, out=np.tile([0.0, 0.0, 1.0], (len(pairs), 1)),
                            where=apart > 0)
        wall = self._walls[second]
        inward, offset = self._planes[second[wall], :3], self._planes[second[wall], 3:]
        heights = (x[wall] * inward[:, None]).sum(axis=2)
        lowest = x[wall, heights.argmin(axis=1)]
        normals[wall] = -inward
        points[wall] = np.stack(
            [lowest, lowest - (heights.min(axis=1)[:, None] - offset) * inward], axis=1)
        radii = np.stack([self._radii[first], -self._radii[second]], axis=1)
        return normals, points + radii[..., None] * normals[:, None]

    def violated(self, q: Array, floor: Array) -> tuple[int, NDArray[np.intp]]:
        """
        Find one of positions (K, n) with pairs at or below their floor (P,).

        Positions with the least lower bounds come first.

        Returns
        -------
        sample : int
            The position; any where there is none.
        pairs : (v,) ndarray of int
            These pairs.

        """
        bounds = self.lower_bounds(q)
        close = bounds <= floor
        for sample in np.argsort((bounds - floor).min(axis=1), kind='stable').tolist():
            here = close[sample:sample + 1]
            if not here.any():
                break
            distances = self.refined(q[sample:sample + 1], bounds[sample:sample + 1], here)[0]
            found = np.flatnonzero(distances <= floor)
            if len(found):
                return sample, found
        return 0, np.zeros(0, dtype=np.intp)

    def _measured(
        self, q: Array, bounds: Array, close: NDArray[np.bool_],
    ) -> Iterator[tuple[int, int, Any]]:
        """Results of the library for chosen pairs; positions with the least bounds come first."""
        import coal

        rotation, origin = self._poses(q)
        request, found = coal.DistanceRequest(), coal.DistanceResult()
        least = np.where(close, bounds, np.inf).min(axis=1, initial=np.inf)
        for sample in np.argsort(least, kind='stable')[:int(np.isfinite(least).sum())].tolist():
            pairs = np.flatnonzero(close[sample])
            placed: dict[int, Any] = {}
            for b in np.unique(self.pairs[pairs]).tolist():
                own, turn = self.bodies[b].placement, rotation[sample, b]
                placed[b] = coal.Transform3s(
                    turn @ own.rotation, origin[sample, b] + turn @ own.translation)
            for pair in pairs[np.argsort(bounds[sample, pairs])].tolist():
                a, b = self.pairs[pair].tolist()
                found.clear()
                coal.distance(self.bodies[a].shape, placed[a], self.bodies[b].shape, placed[b],
                              request, found)
                yield sample, pair, found
