"""History of joints along a motion, for friction that depends on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import JointHistory
from dynid_ros.recordings.presliding import presliding_of
from dynid_ros.recordings.warmth import warmth_of

Array = NDArray[np.float64]


def history_of(t: Array, q: Array) -> JointHistory:
    """
    Follow the history of joints, which are cold where a motion begins.

    Parameters
    ----------
    t : (N,) ndarray
        Ascending times, s.
    q : (N, n) ndarray
        Positions without noise, rad or m.

    """
    return JointHistory(warmth_of(t, q).at(t), presliding_of(q))
