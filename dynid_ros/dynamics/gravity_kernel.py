"""Compiled kernel of the torque that holds an arm at rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.dynamics.kernels import cross, load, plus, scaled, turn, turn_back, Vector
from dynid_ros.dynamics.regressor_kernels import (
    fetch,
    fetch_rotation,
    LANES,
    place_lanes,
    put,
    to_lanes,
)
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel


@kernel
def fill_gravity(
    parent: NDArray[np.int64], prismatic: NDArray[np.bool_], turns: Array, translation: Array,
    slide: Array, axis: Array, gravity: Array, moments: Array, q: Array, out: Array,
) -> None:
    """
    Fill the torque that holds the arm at rest.

    Parameters
    ----------
    parent, prismatic, turns, translation, slide, axis, gravity
        As in `fill_inertial`.
    moments : (n, 4) ndarray
        Mass and first moments ``m, mx, my, mz`` of each link, kg and kg m.
    q : (N, n) ndarray
        Positions, rad or m.
    out : (N, n) ndarray
        Torque, Nm or N.

    Notes
    -----
    The recursion of Newton and Euler without velocities: a link that falls upwards with
    ``-gravity`` needs the force ``m a`` and the moment ``h x a`` about its frame's origin. It is a
    tenth of the work of the regressor, whose product with the parameters is the same torque.

    """
    n = parent.size
    angles, pose = np.empty((n, LANES)), np.empty((n, 14 * LANES))
    fall, wrench = np.empty((n + 1, 3 * LANES)), np.empty((n, 6 * LANES))
    lift = scaled(-1.0, (gravity[0], gravity[1], gravity[2]))
    for k in range(LANES):
        put(fall[n], 0, k, lift)
    for first in range(0, q.shape[0], LANES):
        lanes = min(LANES, q.shape[0] - first)
        to_lanes(q, first, lanes, angles)
        for j in range(n):
            up = parent[j]
            place_lanes(prismatic, turns, translation, slide, j, angles[j], lanes, pose[j])
            fall_lanes(pose[j], fall[up if up >= 0 else n], moments[j, 0], load(moments, j, 1),
                       lanes, fall[j], wrench[j])
        for j in range(n - 1, -1, -1):
            z, along = load(axis, j, 0), 0 if prismatic[j] else 3
            for k in range(lanes):
                a = fetch(wrench[j], along, k)
                out[first + k, j] = z[0] * a[0] + z[1] * a[1] + z[2] * a[2]
            if parent[j] >= 0:
                pull_lanes(pose[j], wrench[j], lanes, wrench[parent[j]])


@kernel
def fall_lanes(
    pose: Array, inner: Array, mass: float, moment: Vector, lanes: int, fall: Array, wrench: Array,
) -> None:
    """Write the fall of a link, from that of its parent, and its wrench, for several samples."""
    for k in range(lanes):
        a = turn(fetch_rotation(pose, k), fetch(inner, 0, k))
        put(fall, 0, k, a)
        put(wrench, 0, k, scaled(mass, a))
        put(wrench, 3, k, cross(moment, a))


@kernel
def pull_lanes(pose: Array, wrench: Array, lanes: int, inner: Array) -> None:
    """Add the wrench of a link to that of its parent, for several samples."""
    for k in range(lanes):
        r = fetch_rotation(pose, k)
        f = turn_back(r, fetch(wrench, 0, k))
        m = plus(turn_back(r, fetch(wrench, 3, k)), cross(fetch(pose, 9, k), f))
        put(inner, 0, k, plus(fetch(inner, 0, k), f))
        put(inner, 3, k, plus(fetch(inner, 3, k), m))
