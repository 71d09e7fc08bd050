# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Compiled operations on tiles of one link: its motion, and its regressor entries."""

from __future__ import annotations

from dynid_ros.dynamics.tiles import TILE
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel

#: Inertial parameters of a link.
LINK_WIDTH = 10


@kernel
def accelerate(
    prismatic: bool, axis: Array, qd: Array, qdd: Array, inner: Array, r: Array, out: Array,
    count: int,
) -> None:
    """
    Compute the motion of a link from the motion of its parent link.

    Parameters
    ----------
    prismatic, axis
        Of the joint.
    qd, qdd : (TILE,) ndarray
        Of the joint, rad/s and rad/s² (m for prismatic joints).
    inner, out : (9 TILE,) ndarray
        Angular velocity, angular acceleration, and acceleration of the frame's origin of the
        parent and of the link, each in its own frame.
    r : (14 TILE,) ndarray
        Pose of the link in the parent; see `pose_in_parent`.
    count : int
        Number of samples to evaluate.

    """
    count = min(count, TILE)
    # One code path for both joint types: one of the two axes is zero.
    turning, sliding = (0.0, 1.0) if prismatic else (1.0, 0.0)
    ax, ay, az = turning * axis[0], turning * axis[1], turning * axis[2]
    sx, sy, sz = sliding * axis[0], sliding * axis[1], sliding * axis[2]
    for k in range(count):
        wx, wy, wz = inner[k], inner[TILE + k], inner[2 * TILE + k]
        dx, dy, dz = inner[3 * TILE + k], inner[4 * TILE + k], inner[5 * TILE + k]
        tx, ty, tz = r[9 * TILE + k], r[10 * TILE + k], r[11 * TILE + k]
        ux, uy, uz = wy * tz - wz * ty, wz * tx - wx * tz, wx * ty - wy * tx
        px = inner[6 * TILE + k] + (dy * tz - dz * ty) + (wy * uz - wz * uy)
        py = inner[7 * TILE + k] + (dz * tx - dx * tz) + (wz * ux - wx * uz)
        pz = inner[8 * TILE + k] + (dx * ty - dy * tx) + (wx * uy - wy * ux)
        a, b, c = r[k], r[TILE + k], r[2 * TILE + k]
        d, e, f = r[3 * TILE + k], r[4 * TILE + k], r[5 * TILE + k]
        g, h, i = r[6 * TILE + k], r[7 * TILE + k], r[8 * TILE + k]
        x = a * wx + d * wy + g * wz
        y = b * wx + e * wy + h * wz
        z = c * wx + f * wy + i * wz
        speed, push, twice = qd[k], qdd[k], 2.0 * qd[k]
        out[k] = x + speed * ax
        out[TILE + k] = y + speed * ay
        out[2 * TILE + k] = z + speed * az
        out[3 * TILE + k] = a * dx + d * dy + g * dz + speed * (y * az - z * ay) + push * ax
        out[4 * TILE + k] = b * dx + e * dy + h * dz + speed * (z * ax - x * az) + push * ay
        out[5 * TILE + k] = c * dx + f * dy + i * dz + speed * (x * ay - y * ax) + push * az
        out[6 * TILE + k] = a * px + d * py + g * pz + twice * (y * sz - z * sy) + push * sx
        out[7 * TILE + k] = b * px + e * py + h * pz + twice * (z * sx - x * sz) + push * sy
        out[8 * TILE + k] = c * px + f * py + i * pz + twice * (x * sy - y * sx) + push * sz


@kernel
def project(motion: Array, screw: Array, out: Array, count: int) -> None:
    """
    Ten regressor entries: torque of one joint with respect to the parameters of one link.

    With force F = m a + dw x h + w x (w x h) and moment N = h x a + Io dw + w x Io w about the
    origin of the link's frame, the torque is ``o·N + v·F``; an entry is its derivative by a
    parameter.

    Parameters
    ----------
    motion : (9 TILE,) ndarray
        Angular velocity w and acceleration dw of the link, and acceleration a of its frame's
        origin.
    screw : (6 TILE,) ndarray
        Screw of the joint: angular velocity o of the link, and linear velocity v of that origin,
        at unit joint speed.
    out : (10 TILE,) ndarray
        The entries.
    count : int
        Number of samples to evaluate.

    """
    count = min(count, TILE)
    for k in range(count):
        wx, wy, wz = motion[k], motion[TILE + k], motion[2 * TILE + k]
        dx, dy, dz = motion[3 * TILE + k], motion[4 * TILE + k], motion[5 * TILE + k]
        ax, ay, az = motion[6 * TILE + k], motion[7 * TILE + k], motion[8 * TILE + k]
        ox, oy, oz = screw[k], screw[TILE + k], screw[2 * TILE + k]
        vx, vy, vz = screw[3 * TILE + k], screw[4 * TILE + k], screw[5 * TILE + k]
        ux, uy, uz = oy * wz - oz * wy, oz * wx - ox * wz, ox * wy - oy * wx
        xx, yy, zz = wx * wx, wy * wy, wz * wz
        xy, xz, yz = wx * wy, wx * wz, wy * wz
        out[k] = vx * ax + vy * ay + vz * az
        out[TILE + k] = (
            ay * oz - az * oy - vx * (yy + zz) + vy * (xy + dz) + vz * (xz - dy))
        out[2 * TILE + k] = (
            az * ox - ax * oz + vx * (xy - dz) - vy * (xx + zz) + vz * (yz + dx))
        out[3 * TILE + k] = (
            ax * oy - ay * ox + vx * (xz + dy) + vy * (yz - dx) - vz * (xx + yy))
        out[4 * TILE + k] = ox * dx + ux * wx
        out[5 * TILE + k] = ox * dy + oy * dx + ux * wy + uy * wx
        out[6 * TILE + k] = ox * dz + oz * dx + ux * wz + uz * wx
        out[7 * TILE + k] = oy * dy + uy * wy
        out[8 * TILE + k] = oy * dz + oz * dy + uy * wz + uz * wy
        out[9 * TILE + k] = oz * dz + uz * wz


@kernel
def project_still(motion: Array, screw: Array, out: Array, count: int) -> None:
    """
    Ten regressor entries as in `project`, for a link without velocity.

    Parameters
    ----------
    motion : (6 TILE,) ndarray
        Angular acceleration of the link, and acceleration of its frame's origin.
    screw, out, count
        As for `project`.

    """
    count = min(count, TILE)
    for k in range(count):
        dx, dy, dz = motion[k], motion[TILE + k], motion[2 * TILE + k]
        ax, ay, az = motion[3 * TILE + k], motion[4 * TILE + k], motion[5 * TILE + k]
        ox, oy, oz = screw[k], screw[TILE + k], screw[2 * TILE + k]
        vx, vy, vz = screw[3 * TILE + k], screw[4 * TILE + k], screw[5 * TILE + k]
        out[k] = vx * ax + vy * ay + vz * az
        out[TILE + k] = ay * oz - az * oy + vy * dz - vz * dy
        out[2 * TILE + k] = az * ox - ax * oz - vx * dz + vz * dx
        out[3 * TILE + k] = ax * oy - ay * ox + vx * dy - vy * dx
        out[4 * TILE + k] = ox * dx
        out[5 * TILE + k] = ox * dy + oy * dx
        out[6 * TILE + k] = ox * dz + oz * dx
        out[7 * TILE + k] = oy * dy
        out[8 * TILE + k] = oy * dz + oz * dy
        out[9 * TILE + k] = oz * dz


@kernel
def subtract_from_gravity(gravity: Array, screw: Array, out: Array, count: int) -> None:
    """Replace entries (10 TILE,) by those of gravity minus them."""
    count = min(count, TILE)
    for k in range(count):
        ax, ay, az = gravity[k], gravity[TILE + k], gravity[2 * TILE + k]
        ox, oy, oz = screw[k], screw[TILE + k], screw[2 * TILE + k]
        vx, vy, vz = screw[3 * TILE + k], screw[4 * TILE + k], screw[5 * TILE + k]
        out[k] = vx * ax + vy * ay + vz * az - out[k]
        out[TILE + k] = ay * oz - az * oy - out[TILE + k]
        out[2 * TILE + k] = az * ox - ax * oz - out[2 * TILE + k]
        out[3 * TILE + k] = ax * oy - ay * ox - out[3 * TILE + k]
    for c in range(4, LINK_WIDTH):
        for k in range(count):
            out[c * TILE + k] = -out[c * TILE + k]


@kernel
def spread(entries: Array, first: int, joint: int, column: int, rows: Array, count: int) -> None:
    """Write entries (10 TILE,) into rows (N, n, p) of a joint, at a first sample and column."""
    for k in range(count):
        for c in range(LINK_WIDTH):
            rows[first + k, joint, column + c] = entries[c * TILE + k]
