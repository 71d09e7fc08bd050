"""
Compiled kernels of link poses, joint screws and Jacobians.

A pose is a row of twelve: the rotation row by row, then the translation. A screw is the angular
velocity, then the linear velocity of the point of the body that passes the base's origin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.dynamics.kernels import (
    cross,
    load,
    plus,
    pose_in_parent,
    Rotation,
    scaled,
    store,
    turn_back,
)
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel


@kernel
def load_rotation(rows: Array, k: int) -> Rotation:
    """Rotation from row ``k`` of an array."""
    return (rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3], rows[k, 4], rows[k, 5], rows[k, 6],
            rows[k, 7], rows[k, 8])


@kernel
def store_rotation(rows: Array, k: int, r: Rotation) -> None:
    """Write a rotation into row ``k`` of an array."""
    rows[k, 0], rows[k, 1], rows[k, 2] = r[0], r[1], r[2]
    rows[k, 3], rows[k, 4], rows[k, 5] = r[3], r[4], r[5]
    rows[k, 6], rows[k, 7], rows[k, 8] = r[6], r[7], r[8]


@kernel
def place(
    parent: NDArray[np.int64], prismatic: NDArray[np.bool_], turns: Array, translation: Array,
    slide: Array, j: int, q: float, poses: Array,
) -> None:
    """Write the pose of link ``j`` in the base frame; that of its parent is known."""
    r, s = pose_in_parent(prismatic, turns, translation, slide, j, q)
    up = parent[j]
    if up >= 0:
        base = load_rotation(poses, up)
        s = plus(load(poses, up, 9), turn_back(base, s))
        x = turn_back(base, (r[0], r[3], r[6]))
        y = turn_back(base, (r[1], r[4], r[7]))
        z = turn_back(base, (r[2], r[5], r[8]))
        r = (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])
    store_rotation(poses, j, r)
    store(poses, j, 9, s)


@kernel
def fill_poses(
    parent: NDArray[np.int64], prismatic: NDArray[np.bool_], turns: Array, translation: Array,
    slide: Array, q: Array, out: Array,
) -> None:
    """Fill the poses of all links, (N, n, 12), for positions (N, n)."""
    for k in range(q.shape[0]):
        for j in range(parent.size):
            place(parent, prismatic, turns, translation, slide, j, q[k, j], out[k])


@kernel
def fill_screws(prismatic: NDArray[np.bool_], axis: Array, poses: Array, out: Array) -> None:
    """Fill the screws of all joints about the base's origin, (N, n, 6), from `fill_poses`."""
    for k in range(poses.shape[0]):
        for j in range(prismatic.size):
            z = turn_back(load_rotation(poses[k], j), load(axis, j, 0))
            w, v = z, cross(load(poses[k], j, 9), z)
            if prismatic[j]:
                w, v = (0.0, 0.0, 0.0), z
            store(out[k], j, 0, w)
            store(out[k], j, 3, v)


@kernel
def fill_jacobian(
    parent: NDArray[np.int64], prismatic: NDArray[np.bool_], turns: Array, translation: Array,
    slide: Array, axis: Array, path: NDArray[np.int64], point: Array, q: Array, out: Array,
) -> None:
    """
    Fill the geometric Jacobian of a point of one link.

    Parameters
    ----------
    parent, prismatic, turns, translation, slide, axis
        As in `Tree`.
    path : (d,) ndarray of int64
        Joints from the base to the link.
    point : (3,) ndarray
        The point, in the frame of the link, m.
    q : (N, n) ndarray
        Positions.
    out : (N, 6, n) ndarray
        Angular velocity, then velocity of the point, by joint, in the base frame; columns of
        other joints are left as they are.

    """
    poses = np.empty((parent.size, 12))
    last = path[path.size - 1]
    for k in range(q.shape[0]):
        for j in path:
            place(parent, prismatic, turns, translation, slide, j, q[k, j], poses)
        p = plus(load(poses, last, 9),
                 turn_back(load_rotation(poses, last), (point[0], point[1], point[2])))
        for j in path:
            z = turn_back(load_rotation(poses, j), load(axis, j, 0))
            w, v = z, cross(z, plus(p, scaled(-1.0, load(poses, j, 9))))
            if prismatic[j]:
                w, v = (0.0, 0.0, 0.0), z
            for c in range(3):
                out[k, c, j] = w[c]
                out[k, 3 + c, j] = v[c]
