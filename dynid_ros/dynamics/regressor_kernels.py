"""
Compiled kernel of the inertial regressor, for a few samples side by side.

Each component of a vector is an array over samples, so that the compiler works on several of them
with one instruction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.dynamics.kernels import (
    cross,
    joint_screw,
    load,
    plus,
    Rotation,
    scaled,
    sine_and_rise,
    turn,
    Vector,
)
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel

#: Samples side by side: their entries of the regressor stay in the second cache.
LANES = 32


@kernel
def fetch(x: Array, c: int, k: int) -> Vector:
    """Vector of sample ``k`` from components of LANES samples each, from component ``c`` on."""
    return (x[c * LANES + k], x[(c + 1) * LANES + k], x[(c + 2) * LANES + k])


@kernel
def put(x: Array, c: int, k: int, a: Vector) -> None:
    """Write a vector of sample ``k``, as `fetch` reads it."""
    x[c * LANES + k] = a[0]
    x[(c + 1) * LANES + k] = a[1]
    x[(c + 2) * LANES + k] = a[2]


@kernel
def fetch_rotation(x: Array, k: int) -> Rotation:
    """Rotation of sample ``k``, as `fetch` reads vectors."""
    return (x[k], x[LANES + k], x[2 * LANES + k], x[3 * LANES + k], x[4 * LANES + k],
            x[5 * LANES + k], x[6 * LANES + k], x[7 * LANES + k], x[8 * LANES + k])


@kernel
def place_lanes(
    prismatic: NDArray[np.bool_], turns: Array, translation: Array, slide: Array, j: int, q: Array,
    lanes: int, pose: Array,
) -> None:
    """Write rotation and translation of a link in its parent for several samples."""
    turning = 0.0 if prismatic[j] else 1.0
    for k in range(lanes):
        pose[12 * LANES + k], pose[13 * LANES + k] = sine_and_rise(turning * q[k])
    for e in range(9):
        placed, sine, rest = turns[j, e], turns[j, 9 + e], turns[j, 18 + e]
        row = pose[e * LANES:(e + 1) * LANES]
        for k in range(lanes):
            row[k] = placed + pose[12 * LANES + k] * sine + pose[13 * LANES + k] * rest
    start, way = load(translation, j, 0), load(slide, j, 0)
    for k in range(lanes):
        put(pose, 9, k, plus(start, scaled(q[k], way)))


@kernel
def move_lanes(
    sliding: bool, z: Vector, inner: Array, pose: Array, qd: Array, qdd: Array, lanes: int,
    motion: Array,
) -> None:
    """Write the motion of a link from the motion of its parent for several samples."""
    turning, pushing = (0.0, 1.0) if sliding else (1.0, 0.0)
    for k in range(lanes):
        r, shift = fetch_rotation(pose, k), fetch(pose, 9, k)
        w, dw, a = fetch(inner, 0, k), fetch(inner, 3, k), fetch(inner, 6, k)
        a = turn(r, plus(a, plus(cross(dw, shift), cross(w, cross(w, shift)))))
        w = turn(r, w)
        dw = turn(r, dw)
        bend = scaled(qd[k], cross(w, z))
        push = scaled(qdd[k], z)
        # Both kinds of joints in one formula: a branch would keep the loop from vectors.
        put(motion, 0, k, plus(w, scaled(turning * qd[k], z)))
        put(motion, 3, k, plus(dw, scaled(turning, plus(bend, push))))
        put(motion, 6, k, plus(a, scaled(pushing, plus(scaled(2.0, bend), push))))


@kernel
def carry_lanes(source: Array, pose: Array, lanes: int, out: Array) -> None:
    """Take a screw outward to the next link, as `carry_screw` does, for several samples."""
    for k in range(lanes):
        r, shift, o = fetch_rotation(pose, k), fetch(pose, 9, k), fetch(source, 0, k)
        put(out, 0, k, turn(r, o))
        put(out, 3, k, turn(r, plus(fetch(source, 3, k), cross(o, shift))))


@kernel
def project_lanes(motion: Array, screw: Array, lanes: int, out: Array) -> None:
    """
    Ten entries of the regressor: the torque of one joint by the parameters of one link.

    With force F = m a + dw x h + w x (w x h) and moment N = h x a + Io dw + w x Io w about the
    origin of the link's frame, the torque is ``o·N + v·F``; an entry is its derivative by a
    parameter.

    Parameters
    ----------
    motion : (9 LANES,) ndarray
        Angular velocity w, angular acceleration dw and linear acceleration a of the link.
    screw : (6 LANES,) ndarray
        Screw of the joint: angular velocity o, and linear velocity v of the link's origin, that
        unit speed of the joint gives.
    lanes : int
        Samples.
    out : (10 LANES,) ndarray
        The entries, one after the other.

    """
    for k in range(lanes):
        w, a, o = fetch(motion, 0, k), fetch(motion, 6, k), fetch(screw, 0, k)
        wx, wy, wz = w
        dx, dy, dz = fetch(motion, 3, k)
        ox, oy, oz = o
        vx, vy, vz = fetch(screw, 3, k)
        ux, uy, uz = cross(o, w)
        xx, yy, zz = wx * wx, wy * wy, wz * wz
        xy, xz, yz = wx * wy, wx * wz, wy * wz
        lx, ly, lz = cross(a, o)
        out[k] = vx * a[0] + vy * a[1] + vz * a[2]
        out[LANES + k] = lx - vx * (yy + zz) + vy * (xy + dz) + vz * (xz - dy)
        out[2 * LANES + k] = ly + vx * (xy - dz) - vy * (xx + zz) + vz * (yz + dx)
        out[3 * LANES + k] = lz + vx * (xz + dy) + vy * (yz - dx) - vz * (xx + yy)
        out[4 * LANES + k] = ox * dx + ux * wx
        out[5 * LANES + k] = ox * dy + oy * dx + ux * wy + uy * wx
        out[6 * LANES + k] = ox * dz + oz * dx + ux * wz + uz * wx
        out[7 * LANES + k] = oy * dy + uy * wy
        out[8 * LANES + k] = oy * dz + oz * dy + uy * wz + uz * wy
        out[9 * LANES + k] = oz * dz + uz * wz


@kernel
def fill_lanes(
    parent: NDArray[np.int64], prismatic: NDArray[np.bool_], turns: Array, translation: Array,
    slide: Array, axis: Array, gravity: Array,
    q: Array, qd: Array, qdd: Array, lanes: int, work: Array, out: Array,
) -> None:
    """
    Fill the entries of the inertial regressor for a few samples side by side.

    Parameters
    ----------
    parent, prismatic, turns, translation, slide, axis, gravity
        As for `fill_inertial`.
    q, qd, qdd : (n, LANES) ndarray
        Motion of each joint.
    lanes : int
        Samples, up to LANES.
    work : (14 + 9 (n + 1) + 6 n², LANES) ndarray
        Values in between: a pose, the motion of each link and of the base, and the screws.
    out : (n, n, 10 LANES) ndarray
        Entries by joint and link; entries of links that a joint does not carry stay as they are.

    Notes
    -----
    Outward recursion of Newton and Euler (Craig, eq. 6.45 to 6.47) about the frames' origins.
    The screws of all joints that carry a link travel outward with it.

    """
    n = parent.size
    pose = work[:14].reshape(14 * LANES)
    motion = work[14:14 + 9 * (n + 1)].reshape(n + 1, 9 * LANES)
    screw = work[14 + 9 * (n + 1):].reshape(n * n, 6 * LANES)
    free_fall = scaled(-1.0, (gravity[0], gravity[1], gravity[2]))
    for k in range(lanes):
        put(motion[n], 0, k, (0.0, 0.0, 0.0))
        put(motion[n], 3, k, (0.0, 0.0, 0.0))
        put(motion[n], 6, k, free_fall)
    for j in range(n):
        up, z, own = parent[j], load(axis, j, 0), motion[j]
        place_lanes(prismatic, turns, translation, slide, j, q[j], lanes, pose)
        move_lanes(
            prismatic[j], z, motion[up if up >= 0 else n], pose, qd[j], qdd[j], lanes, own)
        o, v = joint_screw(prismatic[j], z)
        for k in range(lanes):
            put(screw[j * n + j], 0, k, o)
            put(screw[j * n + j], 3, k, v)
        i = j
        while i >= 0:
            carried, entries = screw[j * n + i], out[i, j]
            if i != j:
                carry_lanes(screw[up * n + i], pose, lanes, carried)
            project_lanes(own, carried, lanes, entries)
            i = parent[i]


@kernel
def to_lanes(x: Array, first: int, lanes: int, out: Array) -> None:
    """Turn samples of all joints (N, n) to rows of joints (n, LANES), from one on."""
    for k in range(lanes):
        for j in range(x.shape[1]):
            out[j, k] = x[first + k, j]


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

    """
    n = parent.size
    state = np.empty((3, n, LANES))
    work = np.empty((14 + 9 * (n + 1) + 6 * n * n, LANES))
    entries = np.empty((n, n, 10 * LANES))
    for first in range(0, q.shape[0], LANES):
        lanes = min(LANES, q.shape[0] - first)
        to_lanes(q, first, lanes, state[0])
        to_lanes(qd, first, lanes, state[1])
        to_lanes(qdd, first, lanes, state[2])
        fill_lanes(parent, prismatic, turns, translation, slide, axis, gravity,
                   state[0], state[1], state[2], lanes, work, entries)
        for j in range(n):
            i = j
            while i >= 0:
                for k in range(lanes):
                    for e in range(10):
                        out[first + k, i, j * block + e] = entries[i, j, e * LANES + k]
                i = parent[i]
