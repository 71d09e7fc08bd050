"""Distances of pairs of bodies at many positions: bounds for all, exact ones for the near."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.external_force import link_poses
from dynid_ros.dynamics.regressor import all_joints
from dynid_ros.motion.feasibility.bounding_capsule import (
    bounding_capsule,
    BoundingCapsule,
    fill_line_distances,
)
from dynid_ros.motion.feasibility.link_shapes import Body
from dynid_ros.utilities.arrays import Array

#: Two bodies to keep apart.
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


@dataclass(frozen=True, eq=False)
class PairDistances:
    """
    Pairs of bodies of an arm; scratch data, so one thread at a time.

    Attributes
    ----------
    arm : ArmModel
        The arm.
    model, data : pinocchio.Model and pinocchio.Data
        Kinematics of all joints, each after its carrier.
    geometry, scratch : pinocchio.GeometryModel and pinocchio.GeometryData
        Bodies and pairs.
    capsules : tuple of BoundingCapsule or None
        Around each body; None around a half-space.
    joints : (B,) ndarray of int
        Joint of each body, -1 for the base.
    pairs : (P, 2) ndarray of int64
        Bodies of each pair; a half-space comes second.
    exact : (P,) ndarray of bool
        Pairs whose bodies are their capsules, so that the lower bound is the distance.
    convex : (P,) ndarray of bool
        Pairs without a mesh.

    """

    arm: ArmModel
    model: Any
    data: Any
    geometry: Any
    scratch: Any
    capsules: tuple[BoundingCapsule | None, ...]
    joints: NDArray[np.intp]
    pairs: NDArray[np.int64]
    exact: NDArray[np.bool_]
    convex: NDArray[np.bool_]

    @staticmethod
    def of(arm: ArmModel, pairs: Sequence[Pair]) -> PairDistances:
        """Distances of pairs of bodies of an arm."""
        import coal
        import pinocchio

        model, geometry = _kinematics(arm), pinocchio.GeometryModel()
        # The base, -1, is Pinocchio's joint 0.
        ids = np.append(np.argsort(arm.tree.order) + 1, 0).tolist()
        places = {body: i for i, body in enumerate(dict.fromkeys(
            body for pair in pairs for body in pair))}
        for body, i in places.items():
            geometry.addGeometryObject(pinocchio.GeometryObject(
                str(i), ids[body.joint], 0, body.placement, body.shape))
        for a, b in pairs:
            geometry.addCollisionPair(pinocchio.CollisionPair(places[a], places[b]))
        capsules = tuple(
            None if isinstance(body.shape, coal.Halfspace)
            else bounding_capsule(body.shape, body.placement) for body in places)
        exact = np.array([capsule is None or capsule.exact for capsule in capsules], dtype=bool)
        convex = np.array([not body.is_mesh for body in places], dtype=bool)
        table = np.array([(places[a], places[b]) for a, b in pairs], dtype=np.int64).reshape(-1, 2)
        return PairDistances(
            arm, model, model.createData(), geometry, geometry.createData(), capsules,
            np.array([body.joint for body in places], dtype=np.intp), table,
            exact[table[:, 0]] & exact[table[:, 1]], convex[table[:, 0]] & convex[table[:, 1]])

    def lower_bounds(self, q: Array) -> Array:
        """Distances (K, P) of the capsules around the bodies at positions (K, n), m."""
        poses = np.concatenate(
            [link_poses(self.arm, q), np.tile(_BASE_POSE, (len(q), 1, 1))], axis=1)[:, self.joints]
        lines = np.array([
            np.zeros((2, 3)) if c is None else (c.start, c.end) for c in self.capsules])
        radii = np.array([0.0 if c is None else c.radius for c in self.capsules])
        ends = np.einsum('kbij,bej->kbei', poses[..., :9].reshape(*poses.shape[:2], 3, 3), lines)
        ends += poses[:, :, None, 9:]
        first, second = (np.ascontiguousarray(self.pairs[:, i]) for i in (0, 1))
        result = np.empty((len(q), len(self.pairs)))
        flat = np.ascontiguousarray(ends.reshape(*ends.shape[:2], 6))
        fill_line_distances(flat, first, second, result)
        for k in np.flatnonzero([self.capsules[b] is None for b in second]):
            wall = self.geometry.geometryObjects[int(second[k])].geometry
            result[:, k] = (ends[:, first[k]] @ wall.n).min(axis=1) - wall.d
        return np.asarray(result - radii[first] - radii[second])

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
        distances = self.lower_bounds(q)
        if (distances <= floor)[:, self.exact].any():
            return None
        close = distances < horizon
        samples, pairs = np.empty((2, int(close.sum())), dtype=np.intp)
        normals, points = np.empty((len(samples), 3)), np.empty((len(samples), 2, 3))
        for i, (sample, pair, found) in enumerate(self._measured(q, distances, close)):
            distance = found.min_distance
            if distance <= floor[pair]:
                return None
            distances[sample, pair] = distance
            samples[i], pairs[i], normals[i] = sample, pair, found.normal
            points[i, 0], points[i, 1] = found.getNearestPoint1(), found.getNearestPoint2()
        return NearPairs(distances, samples, pairs, normals, points)

    def violated(self, q: Array, floor: Array) -> tuple[int, NDArray[np.intp]]:
        """
        Find one of positions (K, n) with pairs at or below their floor (P,).

        The positions at which the lower bounds are least come first.

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
        import pinocchio

        every, = all_joints(self.arm, q)
        least = np.where(close, bounds, np.inf).min(axis=1, initial=np.inf)
        for sample in np.argsort(least, kind='stable')[:int(np.isfinite(least).sum())].tolist():
            pinocchio.updateGeometryPlacements(
                self.model, self.data, self.geometry, self.scratch, every[sample])
            pairs = np.flatnonzero(close[sample])
            for pair in pairs[np.argsort(bounds[sample, pairs])].tolist():
                yield sample, pair, pinocchio.computeDistance(self.geometry, self.scratch, pair)


def _kinematics(arm: ArmModel) -> Any:
    import pinocchio

    model = pinocchio.Model()
    ids = {-1: 0}
    for i in arm.tree.order.tolist():
        kind = pinocchio.JointModelPrismaticUnaligned if arm.tree.prismatic[i] else (
            pinocchio.JointModelRevoluteUnaligned)
        placement = pinocchio.SE3(arm.rotation[i], arm.translation[i])
        ids[i] = model.addJoint(
            ids[int(arm.parent[i])], kind(arm.axis[i]), placement, arm.tree.link_names[i])
    return model
