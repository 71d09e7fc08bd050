# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""History of joints along a motion: presliding deflection and warmth."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.friction import JointHistory, PRESLIDING_DISTANCE
from dynid_ros.data.recordings.warmth import warmth_of
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed
from dynid_ros.utilities.compiled import kernel


class RunningPresliding(Checkpointed):
    """
    Presliding deflection ("bend") of the contact of each joint along a motion, -1 to 1.

    A contact behaves like a spring that yields: ``dz = (sign(dq) - z) |dq| / distance``. So
    friction changes its sign over a distance, however fast the reversal. At the beginning of a
    motion, joints count as sliding.

    Parameters
    ----------
    joints : int
        n.

    Attributes
    ----------
    last : (0 or 1, n) ndarray
        Positions of the last sample.
    bend : (n,) ndarray
        Bends at the last sample; NaN before the first motion.

    References
    ----------
    P. Dahl, A solid friction model, The Aerospace Corporation TOR-0158(3107-18)-1, 1968: the
    equation above for an exponent of one.

    """

    saved = ('last', 'bend')

    def __init__(self, joints: int) -> None:
        self.last = np.zeros((0, joints))
        self.bend = np.full(joints, np.nan)

    def reset(self) -> None:
        """Forget the motion, as after a gap."""
        self.last, self.bend = self.last[:0], np.full_like(self.bend, np.nan)

    def take(self, q: Array) -> Array:
        """Process the next positions (k, n); return the bends there, zero before a motion."""
        q = np.ascontiguousarray(q)
        before = self.last if len(self.last) else q[:1]
        bends = np.empty_like(q)
        if len(q):
            integrate_bends(np.concatenate([before, q]), self.bend, bends)
            self.last = q[-1:].copy()
        return bends


@kernel
def integrate_bends(q: Array, bend: Array, out: Array) -> None:
    """
    Integrate the bends of joints.

    Parameters
    ----------
    q : (k + 1, n) ndarray
        Positions; the first ones are those before.
    bend : (n,) ndarray
        In: bends at the first positions, NaN before any motion. Out: bends at the last positions.
    out : (k, n) ndarray
        Output: bends at the other positions.

    """
    for k in range(len(out)):
        for j in range(q.shape[1]):
            step = q[k + 1, j] - q[k, j]
            if step != 0:
                end = np.sign(step)
                kept = np.exp(-np.abs(step) / PRESLIDING_DISTANCE)
                bend[j] = end if np.isnan(bend[j]) else end + (bend[j] - end) * kept
            out[k, j] = 0.0 if np.isnan(bend[j]) else bend[j]


def presliding_of(q: Array) -> Array:
    """Compute the bends (N, n) of joints along positions (N, n) without noise."""
    return RunningPresliding(q.shape[1]).take(q)


def history_of(t: Array, q: Array) -> JointHistory:
    """
    Compute the history of joints, which are cold at the beginning of a motion.

    Parameters
    ----------
    t : (N,) ndarray
        Ascending times, s.
    q : (N, n) ndarray
        Positions without noise, rad or m.

    """
    return JointHistory(warmth_of(t, q).at(t), presliding_of(q))
