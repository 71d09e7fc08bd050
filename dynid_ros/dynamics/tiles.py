# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Compiled operations on tiles: arrays of one link or joint over some consecutive samples.

Quantity c of sample k is at index ``c TILE + k``. All quantities of a tile are parts of one flat
array with constant offsets, so the compiler can prove that they do not overlap, and vectorises
over samples. Only the first `count` samples of a tile are evaluated: a controller needs one.
"""

from __future__ import annotations

import numpy as np

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel

#: Most samples of a tile. With 64, a kernel takes the same time and twice the memory.
TILE = 32
#: Largest angle, rad, that is reduced to a quarter turn exactly up to rounding: at most 20 bits
#: for the number of quarter turns times the 33 bits of the first part of π/2 is exact.
EXACT_ANGLE = 1e6
#: π/2 in three parts of 33, 33 and 53 bits, as in fdlibm (Sun Microsystems 1993), e_rem_pio2.c.
HALF_PI = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21)


@kernel
def sine_and_rise(angle: Array, out: Array, count: int) -> None:
    """
    Sine, and one minus cosine, of angles.

    Parameters
    ----------
    angle : (TILE,) ndarray
        rad.
    out : (2 TILE,) ndarray
        Output, to 2 units in the last place of one.
    count : int
        Number of samples to evaluate.

    Notes
    -----
    Library functions are not vectorised, and would take half the time of a regressor. The
    polynomials within an eighth of a turn are those of fdlibm, k_sin.c and k_cos.c.

    """
    count = min(count, TILE)
    largest = 0.0
    for k in range(count):
        largest = max(largest, abs(angle[k]))
    if largest > EXACT_ANGLE:
        for k in range(count):
            out[k], out[TILE + k] = np.sin(angle[k]), 1.0 - np.cos(angle[k])
        return
    for k in range(count):
        quarters = np.rint(angle[k] * (2.0 / np.pi))
        x = ((angle[k] - quarters * HALF_PI[0]) - quarters * HALF_PI[1]) - quarters * HALF_PI[2]
        z = x * x
        sine = x + x * z * (
            -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (
                -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * (
                    -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))))
        cosine = 1.0 - (0.5 * z - z * z * (
            4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (
                2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * (
                    2.08757232129817482790e-09 - z * 1.13596475577881948265e-11))))))
        # Arithmetic instead of branches, which the compiler cannot vectorise.
        halves, next_halves = np.floor(0.5 * quarters), np.floor(0.5 * quarters + 0.5)
        odd = quarters - 2.0 * halves
        sign = 1.0 - 2.0 * (halves - 2.0 * np.floor(0.5 * halves))
        other = 1.0 - 2.0 * (next_halves - 2.0 * np.floor(0.5 * next_halves))
        out[k] = sign * (odd * cosine + (1.0 - odd) * sine)
        out[TILE + k] = 1.0 - other * (odd * sine + (1.0 - odd) * cosine)


@kernel
def pose_in_parent(prismatic: bool, shape: Array, q: Array, r: Array, count: int) -> None:
    """
    Compute the pose of a link in its parent's frame.

    Parameters
    ----------
    prismatic : bool
        Whether the joint is prismatic.
    shape : (36,) ndarray
        Of the joint; see `Tree`.
    q : (TILE,) ndarray
        Its positions, rad or m.
    r : (14 TILE,) ndarray
        Output: orientation by rows, translation, and scratch for `sine_and_rise`.
    count : int
        Number of samples to evaluate.

    """
    count = min(count, TILE)
    if prismatic:
        r[12 * TILE:] = 0.0
    else:
        sine_and_rise(q, r[12 * TILE:], count)
    for c in range(9):
        base, by_sine, by_rise = shape[c], shape[9 + c], shape[18 + c]
        for k in range(count):
            r[c * TILE + k] = base + r[12 * TILE + k] * by_sine + r[13 * TILE + k] * by_rise
    for c in range(9, 12):
        start, way = shape[18 + c], shape[21 + c]
        for k in range(count):
            r[c * TILE + k] = start + way * q[k]


@kernel
def to_child_frame(inner: Array, r: Array, out: Array, count: int) -> None:
    """
    Transform a screw to the child frame.

    Parameters
    ----------
    inner, out : (6 TILE,) ndarray
        Angular velocity, and linear velocity of the origin of the frame: of parent and child.
    r : (14 TILE,) ndarray
        Pose of the child in the parent; see `pose_in_parent`.
    count : int
        Number of samples to evaluate.

    """
    count = min(count, TILE)
    for k in range(count):
        ox, oy, oz = inner[k], inner[TILE + k], inner[2 * TILE + k]
        tx, ty, tz = r[9 * TILE + k], r[10 * TILE + k], r[11 * TILE + k]
        vx = inner[3 * TILE + k] + oy * tz - oz * ty
        vy = inner[4 * TILE + k] + oz * tx - ox * tz
        vz = inner[5 * TILE + k] + ox * ty - oy * tx
        a, b, c = r[k], r[TILE + k], r[2 * TILE + k]
        d, e, f = r[3 * TILE + k], r[4 * TILE + k], r[5 * TILE + k]
        g, h, i = r[6 * TILE + k], r[7 * TILE + k], r[8 * TILE + k]
        out[k] = a * ox + d * oy + g * oz
        out[TILE + k] = b * ox + e * oy + h * oz
        out[2 * TILE + k] = c * ox + f * oy + i * oz
        out[3 * TILE + k] = a * vx + d * vy + g * vz
        out[4 * TILE + k] = b * vx + e * vy + h * vz
        out[5 * TILE + k] = c * vx + f * vy + i * vz


@kernel
def joint_screw(prismatic: bool, axis: Array, screw: Array, count: int) -> None:
    """Write the screw (6 TILE,) of a joint in the frame of its link, given its axis (3,)."""
    count = min(count, TILE)
    turning, sliding = (0.0, 1.0) if prismatic else (1.0, 0.0)
    for c in range(3):
        for k in range(count):
            screw[c * TILE + k], screw[(3 + c) * TILE + k] = turning * axis[c], sliding * axis[c]


@kernel
def add_joint_velocity(screw: Array, qd: Array, velocity: Array, count: int) -> None:
    """
    Add the velocity of a joint to that of its link, and compute their Lie bracket.

    Parameters
    ----------
    screw : (12 TILE,) ndarray
        The screw of the joint; output, after it: the Lie bracket of the link's velocity with it.
    qd : (TILE,) ndarray
        Velocity of the joint, rad/s or m/s.
    velocity : (6 TILE,) ndarray
        Velocity of the link, to which that of the joint is added.
    count : int
        Number of samples to evaluate.

    """
    count = min(count, TILE)
    for k in range(count):
        ox, oy, oz = screw[k], screw[TILE + k], screw[2 * TILE + k]
        sx, sy, sz = screw[3 * TILE + k], screw[4 * TILE + k], screw[5 * TILE + k]
        wx, wy, wz = velocity[k], velocity[TILE + k], velocity[2 * TILE + k]
        vx, vy, vz = velocity[3 * TILE + k], velocity[4 * TILE + k], velocity[5 * TILE + k]
        # The bracket of a joint's velocity with its own screw is zero.
        screw[6 * TILE + k] = wy * oz - wz * oy
        screw[7 * TILE + k] = wz * ox - wx * oz
        screw[8 * TILE + k] = wx * oy - wy * ox
        screw[9 * TILE + k] = vy * oz - vz * oy + (wy * sz - wz * sy)
        screw[10 * TILE + k] = vz * ox - vx * oz + (wz * sx - wx * sz)
        screw[11 * TILE + k] = vx * oy - vy * ox + (wx * sy - wy * sx)
        velocity[k] = wx + qd[k] * ox
        velocity[TILE + k] = wy + qd[k] * oy
        velocity[2 * TILE + k] = wz + qd[k] * oz
        velocity[3 * TILE + k] = vx + qd[k] * sx
        velocity[4 * TILE + k] = vy + qd[k] * sy
        velocity[5 * TILE + k] = vz + qd[k] * sz
