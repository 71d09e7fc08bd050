# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Convex hulls, which contain their meshes and have fast distances."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from dynid_ros.utilities.arrays import Array

#: Points on the surface of a hull at which its distance from the mesh is taken.
SURFACE_POINTS = 200
#: Thickness below which a mesh counts as flat, and margin of the box around it, m.
FLAT = 1e-4


def convex_hull(mesh: Any) -> Any:
    """Convex hull of a mesh of coal; a thin box where the mesh is flat."""
    return _hull_of(np.array(mesh.vertices()))


def convex_pieces(mesh: Any, count: int) -> list[Any]:
    """
    Cut a mesh into parts, and return the hull of each; together they contain its surface.

    The largest part, by the box around it, is cut next, across the middle of its longest side.
    """
    vertices = np.array(mesh.vertices())
    triangles = np.array([
        [t[0], t[1], t[2]] for t in (mesh.tri_indices(i) for i in range(mesh.num_tris))])
    parts = [vertices[triangles]]
    while len(parts) < count:
        boxes = [_box(part) for part in parts]
        largest = int(np.argmax([float(np.prod(high - low)) for _, low, high in boxes]))
        axes, low, high = boxes[largest]
        side = int(np.argmax(high - low))
        parts[largest:largest + 1] = _cut(
            parts[largest], axes[:, side], float(low[side] + high[side]) / 2)
    return [_hull_of(part.reshape(-1, 3)) for part in parts]


def hull_gap(mesh: Any, hulls: list[Any]) -> float:
    """
    Largest distance of the surface of hulls from the mesh that they contain, m.

    It is evaluated at the centres of at most `SURFACE_POINTS` triangles, the largest of the
    surface; those within another hull count as inside.
    """
    import coal

    faces = [_triangles(hull) for hull in hulls]
    owners = np.repeat(np.arange(len(hulls)), [len(own) for own in faces])
    a, b, c = np.moveaxis(np.concatenate(faces), 1, 0)
    points, areas = (a + b + c) / 3, np.linalg.norm(np.cross(b - a, c - a), axis=1)
    here, request = coal.Transform3s.Identity(), coal.DistanceRequest()
    point, result = coal.Sphere(0.0), coal.DistanceResult()

    def distance(body: Any, at: Array) -> float:
        result.clear()
        return float(coal.distance(
            body, here, point, coal.Transform3s(np.eye(3), at), request, result))

    largest = 0.0
    for i in np.argsort(-areas)[:SURFACE_POINTS]:
        others = (hull for k, hull in enumerate(hulls) if k != owners[i])
        if all(distance(hull, points[i]) > 0 for hull in others):
            largest = max(largest, distance(mesh, points[i]))
    return largest


def _hull_of(points: Array) -> Any:
    """Convex hull of points (N, 3), or of the box around them if it is flat or too fine."""
    axes, low, high = _box(points)
    around = np.array(list(product(*zip(low - FLAT, high + FLAT, strict=True)))) @ axes.T
    # Flat points make Qhull in coal end the process.
    solid = (high - low).min() >= FLAT
    try:
        return _through(np.unique(points if solid else around, axis=0))
    except RuntimeError:
        # The tip of a fine cone may have more neighbours than coal can count.
        return _through(around)


def _through(points: Array) -> Any:
    import coal

    corners = coal.StdVec_Vec3s()
    corners.extend(list(points))
    return coal.ConvexBase.convexHull(corners, True, 'Qt')


def _box(points: Array) -> tuple[Array, Array, Array]:
    """Principal axes of points (..., 3), as columns, and lowest and highest place along each."""
    flat = points.reshape(-1, 3)
    axes = np.linalg.eigh(np.cov(flat.T, bias=True))[1]
    along = flat @ axes
    return axes, along.min(axis=0), along.max(axis=0)


def _cut(corners: Array, axis: Array, height: float) -> list[Array]:
    """Cut triangles (N, 3, 3) by a plane into those above and those below."""
    above = corners @ axis > height
    across = above.any(axis=1) & ~above.all(axis=1)
    whole, cut, side = corners[~across], corners[across], above[across]
    upper = above[~across, 0]
    # One corner is alone on its side; the other two follow it.
    single = side.sum(axis=1) == 1
    alone = np.where(single, side.argmax(axis=1), side.argmin(axis=1))
    a, b, c = (cut[np.arange(len(cut)), (alone + k) % 3] for k in range(3))
    p, r = (a + ((height - a @ axis) / ((x - a) @ axis))[:, None] * (x - a) for x in (b, c))
    tips = np.stack([a, p, r], axis=1)
    rests = np.stack([np.stack([p, b, c], axis=1), np.stack([p, c, r], axis=1)])
    return [
        np.concatenate([whole[upper == up], tips[single == up],
                        rests[:, single != up].reshape(-1, 3, 3)])
        for up in (True, False)]


def _triangles(hull: Any) -> Array:
    """Corners (N, 3, 3) of the triangles of a hull."""
    points = np.array(hull.points())
    faces = (hull.polygons(i) for i in range(hull.num_polygons))
    return np.asarray(points[np.array([[face[0], face[1], face[2]] for face in faces])])
