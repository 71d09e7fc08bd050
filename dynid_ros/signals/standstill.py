"""Where a joint stands still, and its torque is anything that friction can hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STILL = 0.005
SLOWEST = 1e-3
SHORTEST = 0.25


def moving(qd: Array, rate_hz: float) -> NDArray[np.bool_]:
    """
    Tell motion from standstill, joint by joint.

    A joint at rest holds any torque within its static friction, so that no model predicts it;
    short passages through zero velocity are not meant.

    Parameters
    ----------
    qd : (N, n) ndarray
        Low-passed velocities, rad/s or m/s.
    rate_hz : float
        Sample rate.

    Returns
    -------
    (N, n) ndarray of bool
        False where a joint stays below `STILL` of its top speed, or below `SLOWEST`, for at
        least `SHORTEST` seconds.

    """
    speed = np.abs(qd)
    slow = speed < np.maximum(STILL * speed.max(axis=0), SLOWEST)
    result = np.ones(qd.shape, dtype=bool)
    least = int(SHORTEST * rate_hz)
    for j in range(qd.shape[1]):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], slow[:, j].astype(int), [0]])))
        for start, stop in edges.reshape(-1, 2):
            if stop - start >= least:
                result[start:stop, j] = False
    return result
