"""
Compiled kernel of the inertial regressor.

One code path for one sample or a million, revolute and prismatic joints, any tree. Vectors are
tuples of three floats and rotations tuples of nine, row by row: the compiler keeps them in
registers, where small arrays would go through memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.compiled import kernel

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
Rotation = tuple[float, float, float, float, float, float, float, float, float]


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    """Cross product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def plus(a: Vector, b: Vector) -> Vector:
    """Sum."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def scaled(factor: float, a: Vector) -> Vector:
    """Multiple."""
    return (factor * a[0], factor * a[1], factor * a[2])


@kernel
def turn(r: Rotation, a: Vector) -> Vector:
    """Express a vector of the parent's frame in the link's frame, which is ``rᵀ a``."""
    return (
        r[0] * a[0] + r[3] * a[1] + r[6] * a[2],
        r[1] * a[0] + r[4] * a[1] + r[7] * a[2],
        r[2] * a[0] + r[5] * a[1] + r[8] * a[2],
    )


@kernel
def turn_back(r: Rotation, a: Vector) -> Vector:
    """Express a vector of the link's frame in the parent's frame, which is ``r a``."""
    return (
        r[0] * a[0] + r[1] * a[1] + r[2] * a[2],
        r[3] * a[0] + r[4] * a[1] + r[5] * a[2],
        r[6] * a[0] + r[7] * a[1] + r[8] * a[2],
    )


@kernel
def entry(turns: Array, j: int, e: int, s: float, v: float) -> float:
    """Entry ``e`` of the orientation of a link in its parent."""
    return float(turns[j, e] + s * turns[j, 9 + e] + v * turns[j, 18 + e])


@kernel
def orientation(turns: Array, j: int, q: float) -> Rotation:
    """
    Orientation of a link in its parent.

    Rodrigues' formula, expanded once for each joint: row ``j`` of ``turns`` (n, 27) holds the
    placement, then the factors of sin q and of 1 - cos q.
    """
    s = np.sin(q)
    v = 1.0 - np.cos(q)
    return (
        entry(turns, j, 0, s, v), entry(turns, j, 1, s, v), entry(turns, j, 2, s, v),
        entry(turns, j, 3, s, v), entry(turns, j, 4, s, v), entry(turns, j, 5, s, v),
        entry(turns, j, 6, s, v), entry(turns, j, 7, s, v), entry(turns, j, 8, s, v),
    )


@kernel
def load(rows: Array, k: int, c: int) -> Vector:
    """Vector from row ``k`` of an array, from column ``c`` on."""
    return (rows[k, c], rows[k, c + 1], rows[k, c + 2])


@kernel
def store(rows: Array, k: int, c: int, a: Vector) -> None:
    """Write a vector into row ``k`` of an array, from column ``c`` on."""
    rows[k, c] = a[0]
    rows[k, c + 1] = a[1]
    rows[k, c + 2] = a[2]


@kernel
def pose_in_parent(
    prismatic: NDArray[np.bool_], turns: Array, translation: Array, slide: Array, j: int, q: float,
) -> tuple[Rotation, Vector]:
    """Rotation and translation of a link in its parent, the step of every outward recursion."""
    shift = plus(load(translation, j, 0), scaled(q, load(slide, j, 0)))
    return orientation(turns, j, 0.0 if prismatic[j] else q), shift


@kernel
def joint_screw(sliding: bool, z: Vector) -> tuple[Vector, Vector]:
    """Angular and linear velocity that unit speed of a joint gives its own link."""
    zero = (0.0, 0.0, 0.0)
    if sliding:
        return zero, z
    return z, zero


@kernel
def carry_screw(
    screw: Array, source: int, row: int, c: int, r: Rotation, shift: Vector,
) -> tuple[Vector, Vector]:
    """
    Take a screw from the frame of a link outward to that of a link which it carries.

    Parameters
    ----------
    screw : (n², m) ndarray
        Screws by pair of joints.
    source, row, c : int
        Row of the screw in the inner link, row for the result, and the first column in both.
    r, shift : tuple
        Rotation and translation of the outer link, from `pose_in_parent`.

    """
    o = load(screw, source, c)
    v = turn(r, plus(load(screw, source, c + 3), cross(o, shift)))
    o = turn(r, o)
    store(screw, row, c, o)
    store(screw, row, c + 3, v)
    return o, v


@kernel
def project(
    w: Vector, dw: Vector, a: Vector, o: Vector, v: Vector, out: Array, k: int, i: int, c: int
) -> None:
    """
    Ten entries of the regressor: the torque of one joint by the parameters of one link.

    With force F = m a + dw x h + w x (w x h) and moment N = h x a + Io dw + w x Io w about the
    origin of the link's frame, the torque is ``o·N + v·F``; an entry is its derivative by a
    parameter.

    Parameters
    ----------
    w, dw, a : tuple
        Angular velocity, angular acceleration and linear acceleration of the link.
    o, v : tuple
        Screw of the joint: angular velocity, and linear velocity of the link's origin, that unit
        speed of the joint gives.
    out, k, i, c : (N, n, p) ndarray and int
        Output: sample ``k``, joint ``i``, from column ``c`` on.

    """
    wx, wy, wz = w
    dx, dy, dz = dw
    ox, oy, oz = o
    vx, vy, vz = v
    ux, uy, uz = cross(o, w)
    xx, yy, zz = wx * wx, wy * wy, wz * wz
    xy, xz, yz = wx * wy, wx * wz, wy * wz
    lx, ly, lz = cross(a, o)
    out[k, i, c] = vx * a[0] + vy * a[1] + vz * a[2]
    out[k, i, c + 1] = lx - vx * (yy + zz) + vy * (xy + dz) + vz * (xz - dy)
    out[k, i, c + 2] = ly + vx * (xy - dz) - vy * (xx + zz) + vz * (yz + dx)
    out[k, i, c + 3] = lz + vx * (xz + dy) + vy * (yz - dx) - vz * (xx + yy)
    out[k, i, c + 4] = ox * dx + ux * wx
    out[k, i, c + 5] = ox * dy + oy * dx + ux * wy + uy * wx
    out[k, i, c + 6] = ox * dz + oz * dx + ux * wz + uz * wx
    out[k, i, c + 7] = oy * dy + uy * wy
    out[k, i, c + 8] = oy * dz + oz * dy + uy * wz + uz * wy
    out[k, i, c + 9] = oz * dz + uz * wz


@kernel
def fill_inertial(
    parent: NDArray[np.int64], prismatic: NDArray[np.bool_], turns: Array, translation: Array,
    slide: Array, axis: Array, gravity: Array,
    q: Array, qd: Array, qdd: Array, block: int, out: Array,
) -> None:
    """
    Fill the inertial columns of the regressor.

    Parameters
    ----------
    parent, prismatic, translation, axis, gravity
        As in `ArmModel`.
    turns : (n, 27) ndarray
        See `orientation`.
    slide : (n, 3) ndarray
        Joint axis in the parent's frame for prismatic joints, zero for the others.
    q, qd, qdd : (N, n) ndarray
        Motion: rad, rad/s, rad/s² (m for prismatic joints).
    block : int
        Columns of one joint.
    out : (N, n, p) ndarray
        Regressor; entries of links that a joint does not carry are left as they are.

    Notes
    -----
    Outward recursion of Newton and Euler (Craig, eq. 6.45 to 6.47) about the frames' origins.
    The screws of all joints that carry a link travel outward with it.

    """
    n = parent.size
    motion = np.empty((n, 9))
    screw = np.empty((n * n, 6))
    zero = (0.0, 0.0, 0.0)
    free_fall = scaled(-1.0, (gravity[0], gravity[1], gravity[2]))
    for k in range(q.shape[0]):
        for j in range(n):
            up = parent[j]
            z = load(axis, j, 0)
            r, shift = pose_in_parent(prismatic, turns, translation, slide, j, q[k, j])
            w, dw, a = zero, zero, free_fall
            if up >= 0:
                w = load(motion, up, 0)
                dw = load(motion, up, 3)
                a = load(motion, up, 6)
            a = turn(r, plus(a, plus(cross(dw, shift), cross(w, cross(w, shift)))))
            w = turn(r, w)
            dw = turn(r, dw)
            bend = scaled(qd[k, j], cross(w, z))
            push = scaled(qdd[k, j], z)
            if prismatic[j]:
                a = plus(a, plus(scaled(2.0, bend), push))
            else:
                dw = plus(dw, plus(bend, push))
                w = plus(w, scaled(qd[k, j], z))
            o, v = joint_screw(prismatic[j], z)
            store(motion, j, 0, w)
            store(motion, j, 3, dw)
            store(motion, j, 6, a)
            store(screw, j * n + j, 0, o)
            store(screw, j * n + j, 3, v)
            project(w, dw, a, o, v, out, k, j, j * block)
            i = up
            while i >= 0:
                o, v = carry_screw(screw, up * n + i, j * n + i, 0, r, shift)
                project(w, dw, a, o, v, out, k, i, j * block)
                i = parent[i]
