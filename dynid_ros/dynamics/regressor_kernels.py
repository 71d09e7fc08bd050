"""
Compiled kernels of the inertial columns, with acceleration and without.

One code path for revolute and prismatic joints and any tree. Vectors are tuples of three floats:
the compiler keeps them in registers, where small arrays would go through memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel

Vector = tuple[float, float, float]


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
def turn(r: Array, a: Vector) -> Vector:
    """Express a vector of the parent's frame in the link's frame: ``rᵀ a``, r (9,) by rows."""
    return (
        r[0] * a[0] + r[3] * a[1] + r[6] * a[2],
        r[1] * a[0] + r[4] * a[1] + r[7] * a[2],
        r[2] * a[0] + r[5] * a[1] + r[8] * a[2],
    )


@kernel
def load(row: Array, c: int) -> Vector:
    """Vector from an array, from place ``c`` on."""
    return (row[c], row[c + 1], row[c + 2])


@kernel
def store(row: Array, c: int, a: Vector) -> None:
    """Write a vector into an array, from place ``c`` on."""
    row[c], row[c + 1], row[c + 2] = a


@kernel
def project(w: Vector, dw: Vector, a: Vector, o: Vector, v: Vector, out: Array) -> None:
    """
    Ten entries of the regressor: the torque of one joint by the parameters of one link.

    With force F = m a + dw x h + w x (w x h) and moment N = h x a + Io dw + w x Io w about the
    origin of the link's frame, the torque is ``o·N + v·F``; an entry is its derivative by a
    parameter.

    Parameters
    ----------
    w, dw, a : tuple
        Angular velocity and acceleration of the link, and acceleration of its frame's origin.
    o, v : tuple
        Screw of the joint: angular velocity of the link, and linear velocity of that origin, that
        unit speed of the joint gives.
    out : (10,) ndarray
        The entries.

    """
    wx, wy, wz = w
    dx, dy, dz = dw
    ox, oy, oz = o
    vx, vy, vz = v
    ux, uy, uz = cross(o, w)
    xx, yy, zz = wx * wx, wy * wy, wz * wz
    xy, xz, yz = wx * wy, wx * wz, wy * wz
    lx, ly, lz = cross(a, o)
    out[0] = vx * a[0] + vy * a[1] + vz * a[2]
    out[1] = lx - vx * (yy + zz) + vy * (xy + dz) + vz * (xz - dy)
    out[2] = ly + vx * (xy - dz) - vy * (xx + zz) + vz * (yz + dx)
    out[3] = lz + vx * (xz + dy) + vy * (yz - dx) - vz * (xx + yy)
    out[4] = ox * dx + ux * wx
    out[5] = ox * dy + oy * dx + ux * wy + uy * wx
    out[6] = ox * dz + oz * dx + ux * wz + uz * wx
    out[7] = oy * dy + uy * wy
    out[8] = oy * dz + oz * dy + uy * wz + uz * wy
    out[9] = oz * dz + uz * wz


@kernel
def place(
    prismatic: NDArray[np.bool_], turns: Array, translation: Array, slide: Array, j: int, q: float,
    r: Array,
) -> Vector:
    """Write the orientation (9,) of a link in its parent, and return its place there."""
    angle = 0.0 if prismatic[j] else q
    sine, rise = np.sin(angle), 1.0 - np.cos(angle)
    for e in range(9):
        r[e] = turns[j, e] + sine * turns[j, 9 + e] + rise * turns[j, 18 + e]
    return plus(load(translation[j], 0), scaled(q, load(slide[j], 0)))


@kernel
def carry(inner: Array, c: int, r: Array, shift: Vector, out: Array) -> None:
    """Write a screw of a link as one of a link that it carries, both from place ``c`` on."""
    o, v = load(inner, c), load(inner, c + 3)
    store(out, c, turn(r, o))
    store(out, c + 3, turn(r, plus(v, cross(o, shift))))


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
        For each joint its placement and the factors of sin q and of 1 - cos q, by which Rodrigues'
        formula gives the orientation of its link.
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
    # The base, which is the parent -1, has the last row.
    motion = np.zeros((n + 1, 9))
    store(motion[n], 6, (-gravity[0], -gravity[1], -gravity[2]))
    screw, r, zero = np.empty((n, n, 6)), np.empty(9), (0.0, 0.0, 0.0)
    for k in range(q.shape[0]):
        for j in range(n):
            inner, z = motion[parent[j]], load(axis[j], 0)
            shift = place(prismatic, turns, translation, slide, j, q[k, j], r)
            w, dw, a = load(inner, 0), load(inner, 3), load(inner, 6)
            a = turn(r, plus(a, plus(cross(dw, shift), cross(w, cross(w, shift)))))
            w, dw = turn(r, w), turn(r, dw)
            bend, push = scaled(qd[k, j], cross(w, z)), scaled(qdd[k, j], z)
            if prismatic[j]:
                a = plus(a, plus(scaled(2.0, bend), push))
            else:
                w, dw = plus(w, scaled(qd[k, j], z)), plus(dw, plus(bend, push))
            store(motion[j], 0, w)
            store(motion[j], 3, dw)
            store(motion[j], 6, a)
            store(screw[j, j], 0, zero if prismatic[j] else z)
            store(screw[j, j], 3, z if prismatic[j] else zero)
            i = j
            while i >= 0:
                own = screw[j, i]
                if i != j:
                    carry(screw[parent[j], i], 0, r, shift, own)
                project(w, dw, a, load(own, 0), load(own, 3),
                        out[k, i, j * block:j * block + 10])
                i = parent[i]


@kernel
def fill_momentum(
    parent: NDArray[np.int64], prismatic: NDArray[np.bool_], turns: Array, translation: Array,
    slide: Array, axis: Array, gravity: Array,
    q: Array, qd: Array, block: int, momentum: Array, force: Array,
) -> None:
    """
    Fill the inertial columns of the momentum and the force regressor.

    Parameters
    ----------
    parent, prismatic, turns, translation, slide, axis, gravity, q, qd, block
        As for `fill_inertial`.
    momentum, force : (N, n, p) ndarray
        Output: regressors of ∂T/∂qd and of ∂V/∂q - ∂T/∂q; entries of links that a joint does not
        carry are left as they are.

    Notes
    -----
    The velocity of link j, seen in its own frame, changes with the position of a joint i that
    carries it by the Lie bracket of the velocity of link i and the screw of joint i, taken to
    frame j (Featherstone 2008, Rigid Body Dynamics Algorithms, eq. 2.46); so ∂T/∂q_i is the
    momentum of link j on that bracket, as the momentum of the joint is the one on its screw.
    Momentum is the force that gives a link at rest its velocity as an acceleration.

    """
    n = parent.size
    motion = np.zeros((n + 1, 9))
    store(motion[n], 6, (-gravity[0], -gravity[1], -gravity[2]))
    screw, r, change, zero = np.empty((n, n, 12)), np.empty(9), np.empty(10), (0.0, 0.0, 0.0)
    for k in range(q.shape[0]):
        for j in range(n):
            inner, z = motion[parent[j]], load(axis[j], 0)
            shift = place(prismatic, turns, translation, slide, j, q[k, j], r)
            carry(inner, 0, r, shift, motion[j])
            w, u, a = load(motion[j], 0), load(motion[j], 3), turn(r, load(inner, 6))
            o, v = (zero, z) if prismatic[j] else (z, zero)
            w, u = plus(w, scaled(qd[k, j], o)), plus(u, scaled(qd[k, j], v))
            store(motion[j], 0, w)
            store(motion[j], 3, u)
            store(motion[j], 6, a)
            store(screw[j, j], 0, o)
            store(screw[j, j], 3, v)
            # The Lie bracket of the link's velocity and the screw.
            store(screw[j, j], 6, cross(w, o))
            store(screw[j, j], 9, plus(cross(u, o), cross(w, v)))
            i = j
            while i >= 0:
                own, columns = screw[j, i], slice(j * block, j * block + 10)
                if i != j:
                    carry(screw[parent[j], i], 0, r, shift, own)
                    carry(screw[parent[j], i], 6, r, shift, own)
                o, v = load(own, 0), load(own, 3)
                project(zero, w, u, o, v, momentum[k, i, columns])
                project(zero, zero, a, o, v, force[k, i, columns])
                project(zero, w, u, load(own, 6), load(own, 9), change)
                force[k, i, columns] -= change
                i = parent[i]
