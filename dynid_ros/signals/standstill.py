"""Standstill of joints, in which static friction makes the torque unpredictable."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STILL = 0.005
SLOWEST = 1e-3
SHORTEST = 0.25
#: Shorter rests belong to the motion, s.
PAUSE = 2.0


def moving(qd: Array, rate_hz: float, shortest: float = SHORTEST) -> NDArray[np.bool_]:
    """
    Detect motion and standstill, joint by joint.

    A joint at rest can hold any torque within its static friction, so that no model predicts it.
    Short passages through zero velocity count as motion.

    Parameters
    ----------
    qd : (N, n) ndarray
        Low-passed velocities, rad/s or m/s.
    rate_hz : float
        Sample rate.
    shortest : float
        Least duration of a standstill, s.

    Returns
    -------
    (N, n) ndarray of bool
        False where a joint stands still: it stays below `STILL` of its top speed, or below
        `SLOWEST`, for that duration.

    """
    result = np.ones(qd.shape, dtype=bool)
    least = int(shortest * rate_hz)
    for j, speed in enumerate(np.abs(column) for column in qd.T):
        slow = speed < max(STILL * speed.max(), SLOWEST)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], slow.astype(np.int8), [0]])))
        for start, stop in edges.reshape(-1, 2):
            if stop - start >= least:
                result[start:stop, j] = False
    return result


def time_in_motion(t: Array, q: Array) -> Array:
    """
    Count the time in which anything moves.

    Parameters
    ----------
    t : (N,) ndarray
        Increasing stamps, s.
    q : (N, n) ndarray
        Positions as recorded, rad or m.

    Returns
    -------
    (N,) ndarray
        Seconds of motion since the start. They stop while all joints stand still for at
        least `PAUSE`, judged by their mean positions in each `SHORTEST` seconds; they run
        throughout where nothing ever moves.

    """
    first = np.unique(np.searchsorted(t, np.arange(t[0], t[-1], SHORTEST)))
    if len(first) < 2:
        return np.asarray(t - t[0])
    count = np.diff(np.append(first, len(t)))
    middle = np.add.reduceat(t, first) / count
    place = np.add.reduceat(q, first, axis=0) / count[:, None]
    speed = np.diff(place, axis=0) / np.diff(middle)[:, None]
    moves = moving(speed, 1 / SHORTEST, PAUSE).any(axis=1)
    if not moves.any():
        return np.asarray(t - t[0])
    middle[[0, -1]] = t[[0, -1]]
    passed = np.concatenate([[0.0], np.cumsum(np.diff(middle) * moves)])
    return np.asarray(np.interp(t, middle, passed))
