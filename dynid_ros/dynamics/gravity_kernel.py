"""Compiled kernel of the torque that holds an arm at rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.compiled import kernel
from dynid_ros.dynamics.kernels import (
    cross,
    load,
    plus,
    pose_in_parent,
    scaled,
    store,
    turn,
    turn_back,
)

Array = NDArray[np.float64]


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
    pose = np.empty((n, 12))
    fall = np.empty((n, 3))
    wrench = np.empty((n, 6))
    lift = scaled(-1.0, (gravity[0], gravity[1], gravity[2]))
    for k in range(q.shape[0]):
        for j in range(n):
            up = parent[j]
            r, shift = pose_in_parent(prismatic, turns, translation, slide, j, q[k, j])
            for e in range(9):
                pose[j, e] = r[e]
            store(pose, j, 9, shift)
            a = turn(r, load(fall, up, 0) if up >= 0 else lift)
            store(fall, j, 0, a)
            store(wrench, j, 0, scaled(moments[j, 0], a))
            store(wrench, j, 3, cross(load(moments, j, 1), a))
        for j in range(n - 1, -1, -1):
            f, m, z = load(wrench, j, 0), load(wrench, j, 3), load(axis, j, 0)
            along = f if prismatic[j] else m
            out[k, j] = z[0] * along[0] + z[1] * along[1] + z[2] * along[2]
            up = parent[j]
            if up >= 0:
                r = (pose[j, 0], pose[j, 1], pose[j, 2], pose[j, 3], pose[j, 4], pose[j, 5],
                     pose[j, 6], pose[j, 7], pose[j, 8])
                f = turn_back(r, f)
                m = plus(turn_back(r, m), cross(load(pose, j, 9), f))
                store(wrench, up, 0, plus(load(wrench, up, 0), f))
                store(wrench, up, 3, plus(load(wrench, up, 3), m))
