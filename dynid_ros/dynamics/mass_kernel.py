"""
Compiled kernel of the mass matrix by composite rigid bodies.

It is linear in the inertial parameters, so that nonphysical parameters with the right base
parameters also give the true matrix.
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
    Vector,
)
from dynid_ros.dynamics.pose_kernels import load_rotation, store_rotation
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel


@kernel
def dot(a: Vector, b: Vector) -> float:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def turn_inertia(r: Rotation, body: Array, j: int) -> Rotation:
    """Inertia of row ``j`` of ten parameters along the axes of the parent, ``r I rᵀ``."""
    xx, xy, xz = body[j, 4], body[j, 5], body[j, 6]
    yy, yz, zz = body[j, 7], body[j, 8], body[j, 9]
    x = turn_back(r, (xx, xy, xz))
    y = turn_back(r, (xy, yy, yz))
    z = turn_back(r, (xz, yz, zz))
    first = turn_back(r, (x[0], y[0], z[0]))
    second = turn_back(r, (x[1], y[1], z[1]))
    third = turn_back(r, (x[2], y[2], z[2]))
    return (first[0], first[1], first[2], second[0], second[1], second[2], third[0], third[1],
            third[2])


@kernel
def add_to_parent(r: Rotation, s: Vector, body: Array, j: int, up: int) -> None:
    """
    Add the ten parameters of row ``j`` to those of row ``up``.

    With the parent's coordinates x' = r x + s of each point, the inertia about the parent's
    origin is ``r I rᵀ + (2 s·h + m s·s) 1 - (s hᵀ + h sᵀ + m s sᵀ)`` with h turned by r.
    """
    m = body[j, 0]
    h = turn_back(r, load(body, j, 1))
    inertia = turn_inertia(r, body, j)
    trace = 2.0 * dot(s, h) + m * dot(s, s)
    body[up, 0] += m
    store(body, up, 1, plus(load(body, up, 1), plus(h, scaled(m, s))))
    body[up, 4] += inertia[0] + trace - 2.0 * s[0] * h[0] - m * s[0] * s[0]
    body[up, 5] += inertia[1] - s[0] * h[1] - h[0] * s[1] - m * s[0] * s[1]
    body[up, 6] += inertia[2] - s[0] * h[2] - h[0] * s[2] - m * s[0] * s[2]
    body[up, 7] += inertia[4] + trace - 2.0 * s[1] * h[1] - m * s[1] * s[1]
    body[up, 8] += inertia[5] - s[1] * h[2] - h[1] * s[2] - m * s[1] * s[2]
    body[up, 9] += inertia[8] + trace - 2.0 * s[2] * h[2] - m * s[2] * s[2]


@kernel
def fill_mass_matrix(
    parent: NDArray[np.int64], prismatic: NDArray[np.bool_], turns: Array, translation: Array,
    slide: Array, axis: Array, inertial: Array, q: Array, out: Array,
) -> None:
    """
    Fill the mass matrix.

    Parameters
    ----------
    parent, prismatic, turns, translation, slide, axis
        As in `Tree`.
    inertial : (n, 10) ndarray
        Inertial parameters of the links.
    q : (N, n) ndarray
        Positions.
    out : (N, n, n) ndarray
        kg m²; entries of joints that do not carry each other are left as they are.

    Notes
    -----
    Walker and Orin 1982; Featherstone, Rigid Body Dynamics Algorithms, table 6.2.

    """
    n = parent.size
    local = np.empty((n, 12))
    body = np.empty((n, 10))
    for k in range(q.shape[0]):
        body[:] = inertial
        for j in range(n):
            r, s = pose_in_parent(prismatic, turns, translation, slide, j, q[k, j])
            store_rotation(local, j, r)
            store(local, j, 9, s)
        for j in range(n - 1, -1, -1):
            z = load(axis, j, 0)
            h = load(body, j, 1)
            if prismatic[j]:
                force, moment = scaled(body[j, 0], z), cross(h, z)
            else:
                force = cross(z, h)
                moment = (
                    body[j, 4] * z[0] + body[j, 5] * z[1] + body[j, 6] * z[2],
                    body[j, 5] * z[0] + body[j, 7] * z[1] + body[j, 8] * z[2],
                    body[j, 6] * z[0] + body[j, 8] * z[1] + body[j, 9] * z[2],
                )
            i = j
            while i >= 0:
                value = dot(load(axis, i, 0), force if prismatic[i] else moment)
                out[k, i, j] = value
                out[k, j, i] = value
                r, s = load_rotation(local, i), load(local, i, 9)
                force = turn_back(r, force)
                moment = plus(turn_back(r, moment), cross(s, force))
                i = parent[i]
            if parent[j] >= 0:
                add_to_parent(
                    load_rotation(local, j), load(local, j, 9), body, j, parent[j])
