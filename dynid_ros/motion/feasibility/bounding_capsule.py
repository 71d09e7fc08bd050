# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Capsules around bodies, and the distances between them for many positions at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel

#: Share by which a capsule is widened against rounding.
CAPSULE_ROUNDING = 1e-9


class BoundingCapsule:
    """
    Enclose a bounded shape of coal in a capsule: all points near a line.

    Parameters
    ----------
    shape : coal.CollisionGeometry
        A primitive, a convex hull or a mesh.
    placement : pinocchio.SE3
        Its pose in the frame of the link.

    Attributes
    ----------
    start, end : (3,) ndarray
        Ends of the line, in the frame of the link, m.
    radius : float
        Distance from the line, m.
    exact : bool
        Whether the shape is the capsule itself.

    """

    def __init__(self, shape: Any, placement: Any) -> None:
        import coal

        if isinstance(shape, coal.Sphere):
            ends, radius = np.zeros((2, 3)), shape.radius
        elif isinstance(shape, coal.Capsule | coal.Cylinder):
            ends = np.outer([-shape.halfLength, shape.halfLength], [0.0, 0.0, 1.0])
            radius = shape.radius
        else:
            ends, radius = _around(corners(shape))
        self.start, self.end = (np.asarray(placement.act(point)) for point in ends)
        self.radius = float(radius)
        self.exact = isinstance(shape, coal.Sphere | coal.Capsule)

    @property
    def extent(self) -> float:
        """Largest distance of the body from the origin of its link, m."""
        return self.radius + float(max(np.linalg.norm(self.start), np.linalg.norm(self.end)))

    @property
    def length(self) -> float:
        """Overall length, m."""
        return 2 * self.radius + float(np.linalg.norm(self.end - self.start))


def capsule_along(start: Array, end: Array, radius: float) -> tuple[Any, Any]:
    """Capsule of coal along a line (3,), (3,), and its pose as pinocchio.SE3."""
    import coal
    import pinocchio

    line = end - start
    length = float(np.linalg.norm(line))
    up = np.array([0.0, 0.0, 1.0])
    turn = pinocchio.Quaternion.FromTwoVectors(up, line / length if length > 0 else up)
    placement = pinocchio.SE3(turn.toRotationMatrix(), (start + end) / 2)
    return coal.Capsule(radius, length), placement


def corners(shape: Any) -> Array:
    """Return points (N, 3) whose convex hull contains a shape."""
    if hasattr(shape, 'points'):
        return np.array(shape.points())
    if hasattr(shape, 'vertices'):
        return np.array(shape.vertices())
    shape.computeLocalAABB()
    low, high = shape.aabb_local.min_, shape.aabb_local.max_
    return np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T


def _around(points: Array) -> tuple[Array, float]:
    """Fit the smallest capsule along a principal axis of points (N, 3): ends (2, 3), radius."""
    middle = points.mean(axis=0)
    _, axes = np.linalg.eigh(np.cov(points.T, bias=True))
    best, least = (np.zeros((2, 3)), 0.0), np.inf
    for axis in axes.T:
        along = (points - middle) @ axis
        across = points - middle - np.outer(along, axis)
        # The line runs through the middle of the box around the points.
        center = across @ axes
        center = axes @ ((center.min(axis=0) + center.max(axis=0)) / 2)
        distance = np.linalg.norm(across - center, axis=1)
        radius = float(distance.max()) * (1 + CAPSULE_ROUNDING) + CAPSULE_ROUNDING
        reach = np.sqrt(radius**2 - distance**2)
        low, high = float((along + reach).min()), float((along - reach).max())
        if low > high:
            low = high = (low + high) / 2
        volume = radius**2 * (4 / 3 * radius + high - low)
        if volume < least:
            least = volume
            best = (middle + center + np.outer([low, high], axis), radius)
    return best


@kernel
def place_on_line(along: float, length: float) -> float:
    """Find the nearest place on a line, from 0 at its start to 1 at its end; 0 on a point."""
    return min(max(along / length, 0.0), 1.0) if length > 0.0 else 0.0


@kernel
def nearest_places(x: Array, y: Array) -> tuple[float, float, float]:
    """
    Find the nearest points of two lines, each (6,) with its start and end.

    Returns
    -------
    s, t : float
        Places of these points on the lines, from 0 at the start to 1 at the end.
    distance : float
        Between them, m.

    References
    ----------
    Ericson 2005, Real-Time Collision Detection, section 5.1.9.

    """
    a = b = c = e = f = 0.0
    for i in range(3):
        u, v, r = x[i + 3] - x[i], y[i + 3] - y[i], x[i] - y[i]
        a += u * u
        b += u * v
        c += u * r
        e += v * v
        f += v * r
    apart = a * e - b * b
    # For parallel lines, any s is valid; t determines it.
    s = place_on_line(b * f - c * e, apart if apart > 1e-12 * a * e else 0.0)
    t = place_on_line(b * s + f, e)
    s = place_on_line(b * t - c, a)
    square = 0.0
    for i in range(3):
        u, v = x[i + 3] - x[i], y[i + 3] - y[i]
        gap = x[i] + s * u - y[i] - t * v
        square += gap * gap
    return s, t, np.sqrt(square)


@kernel
def fill_line_distances(
    ends: Array, first: NDArray[np.int64], second: NDArray[np.int64], out: Array,
) -> None:
    """
    Fill the distances between lines, the radii of capsules not yet subtracted.

    Parameters
    ----------
    ends : (K, B, 6) ndarray
        Start and end of the line of each body at each position, m.
    first, second : (P,) ndarray of int64
        Bodies of each pair.
    out : (K, P) ndarray
        Distances, m.

    """
    for k in range(ends.shape[0]):
        for p in range(first.size):
            out[k, p] = nearest_places(ends[k, first[p]], ends[k, second[p]])[2]


@kernel
def fill_nearest_points(x: Array, y: Array, out: Array) -> None:
    """
    Fill the nearest points of pairs of lines.

    Parameters
    ----------
    x, y : (N, 6) ndarray
        Start and end of both lines, m.
    out : (N, 2, 3) ndarray
        The points, m.

    """
    for k in range(len(out)):
        s, t, _ = nearest_places(x[k], y[k])
        for i in range(3):
            out[k, 0, i] = x[k, i] + s * (x[k, i + 3] - x[k, i])
            out[k, 1, i] = y[k, i] + t * (y[k, i + 3] - y[k, i])
