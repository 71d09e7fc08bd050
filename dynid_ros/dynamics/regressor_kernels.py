# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Compiled kernels of the inertial columns, with acceleration and without.

One code path for revolute and prismatic joints and any tree, tile by tile; see `tiles`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.dynamics.link_tiles import (
    accelerate,
    LINK_WIDTH,
    project,
    project_still,
    spread,
    subtract_from_gravity,
)
from dynid_ros.dynamics.tiles import (
    add_joint_velocity,
    joint_screw,
    pose_in_parent,
    TILE,
    to_child_frame,
)
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel


@kernel
def fill_inertial(
    parent: NDArray[np.int64], prismatic: NDArray[np.bool_], shapes: Array, gravity: Array,
    q: Array, qd: Array, qdd: Array,
    joints: NDArray[np.int64], columns: NDArray[np.int64], rows: Array, tiles: Array,
) -> None:
    """
    Fill the inertial entries of the regressor.

    Parameters
    ----------
    parent, prismatic, shapes, gravity
        See `Tree`.
    q, qd, qdd : (N, n) ndarray
        Motion: rad, rad/s, rad/s² (m for prismatic joints).
    joints, columns : (pairs,) ndarray of int
        Joint and first column of the ten entries of each pair; see `Pairs`.
    rows : (N, n, p) ndarray
        Output by samples, unless it is empty; entries of links that a joint does not carry are
        not written.
    tiles : (⌈N / TILE⌉, pairs, 10 TILE) ndarray
        Output by tiles, unless it is empty.

    Notes
    -----
    Outward Newton-Euler recursion (Craig, eq. 6.45 to 6.47) about the origins of the frames. The
    screws of all ancestor joints of a link are transformed outward with it.

    """
    n, state, r = parent.size, np.empty((3, TILE)), np.empty(14 * TILE)
    entries = np.empty(LINK_WIDTH * TILE)
    # The last row, parent -1, is the base.
    motion, screw = np.empty((n + 1, 9 * TILE)), np.empty((joints.size, 6 * TILE))
    first, motion[n] = np.empty(n, np.int64), 0.0
    for c in range(3):
        motion[n, (6 + c) * TILE:(7 + c) * TILE] = -gravity[c]
    for start in range(0, q.shape[0], TILE):
        count, row = min(TILE, q.shape[0] - start), 0
        for j in range(n):
            p, first[j], axis = parent[j], row, shapes[j, 33:]
            for k in range(count):
                state[0, k], state[1, k], state[2, k] = (
                    q[start + k, j], qd[start + k, j], qdd[start + k, j])
            pose_in_parent(prismatic[j], shapes[j], state[0], r, count)
            accelerate(prismatic[j], axis, state[1], state[2], motion[p], r, motion[j], count)
            joint_screw(prismatic[j], axis, screw[row], count)
            # Screws from the link inwards: its own, then the parent's, transformed.
            while row == first[j] or p >= 0:
                if row > first[j]:
                    outer = screw[first[parent[j]] + row - first[j] - 1]
                    to_child_frame(outer, r, screw[row], count)
                    p = parent[p]
                if tiles.size:
                    entries = tiles[start // TILE, row]
                project(motion[j], screw[row], entries, count)
                if rows.size:
                    spread(entries, start, joints[row], columns[row], rows, count)
                row += 1


@kernel
def fill_momentum(
    parent: NDArray[np.int64], prismatic: NDArray[np.bool_], shapes: Array, gravity: Array,
    q: Array, qd: Array,
    joints: NDArray[np.int64], columns: NDArray[np.int64], momentum: Array, force: Array,
) -> None:
    """
    Fill the inertial columns of the momentum and the force regressor.

    Parameters
    ----------
    parent, prismatic, shapes, gravity, q, qd, joints, columns
        As for `fill_inertial`.
    momentum, force : (N, n, p) ndarray
        Output: the regressors of ∂T/∂qd and of ∂V/∂q - ∂T/∂q; entries of links that a joint does
        not carry are not written.

    Notes
    -----
    The derivative of the velocity of link j, in its own frame, with respect to the position of an
    ancestor joint i is the Lie bracket of the velocity of link i and the screw of joint i,
    transformed to frame j (Featherstone 2008, Rigid Body Dynamics Algorithms, eq. 2.46). So
    ∂T/∂q_i is the momentum of link j projected on that bracket, as ∂T/∂qd_i is that on the screw.
    Momentum equals the force that accelerates a link at rest by its velocity.

    """
    n, state, r = parent.size, np.empty((2, TILE)), np.empty(14 * TILE)
    change, push = np.empty(LINK_WIDTH * TILE), np.empty(LINK_WIDTH * TILE)
    # Velocity, then the acceleration equivalent to gravity, as a screw without rotation.
    motion, screw = np.empty((n + 1, 12 * TILE)), np.empty((joints.size, 12 * TILE))
    first, motion[n] = np.empty(n, np.int64), 0.0
    for c in range(3):
        motion[n, (9 + c) * TILE:(10 + c) * TILE] = -gravity[c]
    for start in range(0, q.shape[0], TILE):
        count, row = min(TILE, q.shape[0] - start), 0
        for j in range(n):
            p, first[j], axis = parent[j], row, shapes[j, 33:]
            for k in range(count):
                state[0, k], state[1, k] = q[start + k, j], qd[start + k, j]
            pose_in_parent(prismatic[j], shapes[j], state[0], r, count)
            to_child_frame(motion[p], r, motion[j], count)
            to_child_frame(motion[p, 6 * TILE:], r, motion[j, 6 * TILE:], count)
            joint_screw(prismatic[j], axis, screw[row], count)
            add_joint_velocity(screw[row], state[1], motion[j], count)
            while row == first[j] or p >= 0:
                if row > first[j]:
                    outer = screw[first[parent[j]] + row - first[j] - 1]
                    to_child_frame(outer, r, screw[row], count)
                    to_child_frame(outer[6 * TILE:], r, screw[row, 6 * TILE:], count)
                    p = parent[p]
                project_still(motion[j], screw[row], change, count)
                project_still(motion[j], screw[row, 6 * TILE:], push, count)
                subtract_from_gravity(motion[j, 9 * TILE:], screw[row], push, count)
                spread(change, start, joints[row], columns[row], momentum, count)
                spread(push, start, joints[row], columns[row], force, count)
                row += 1


@kernel
def combine(
    joints: NDArray[np.int64], columns: NDArray[np.int64], tiles: Array, inertial: Array,
    torque: Array,
) -> None:
    """
    Multiply entries of tiles by inertial parameters, and add them up by joint.

    Parameters
    ----------
    joints, columns : (pairs,) ndarray of int
        Joint and first parameter of each pair.
    tiles : (⌈N / TILE⌉, pairs, 10 TILE) ndarray
        Entries.
    inertial : (10 m,) ndarray
        Parameters of the links.
    torque : (N, n) ndarray
        Output: torque of each joint, Nm (N for prismatic joints).

    """
    samples, n = torque.shape
    sums = np.empty((n, TILE))
    for start in range(0, samples, TILE):
        count, tile = min(TILE, samples - start), tiles[start // TILE]
        sums[:] = 0.0
        for row in range(joints.size):
            total, entries = sums[joints[row]], tile[row]
            for c in range(LINK_WIDTH):
                factor = inertial[columns[row] + c]
                for k in range(count):
                    total[k] += factor * entries[c * TILE + k]
        for k in range(count):
            for j in range(n):
                torque[start + k, j] = sums[j, k]
