"""History of joints along a motion: how far their contacts are bent, beside their warmth."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.friction import JointHistory, PRESLIDING_DISTANCE
from dynid_ros.data.recordings.warmth import warmth_of
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed
from dynid_ros.utilities.compiled import kernel


class RunningPresliding(Checkpointed):
    """
    Bend of the contact of each joint along a motion, -1 to 1.

    A contact behaves as a spring that gives way: ``dz = (sign(dq) - z) |dq| / distance``, so that
    friction changes sides over a distance, however fast the reversal. Where a motion begins,
    joints count as sliding.

    Parameters
    ----------
    joints : int
        n.

    Attributes
    ----------
    last : (0 or 1, n) ndarray
        Positions of the last sample.
    bend : (n,) ndarray
        Bends there; NaN before the first motion.

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
        """Take in the next positions (k, n), and return the bends there, zero before a motion."""
        q = np.ascontiguousarray(q)
        before = self.last if len(self.last) else q[:1]
        bends = np.empty_like(q)
        if len(q):
            follow(np.concatenate([before, q]), self.bend, bends)
            self.last = q[-1:].copy()
        return bends


@kernel
def follow(q: Array, bend: Array, out: Array) -> None:
    """
    Follow the bends of joints.

    Parameters
    ----------
    q : (k + 1, n) ndarray
        Positions; the first ones are those before.
    bend : (n,) ndarray
        Bends at the first positions, NaN where no motion is known; those at the last ones on
        return.
    out : (k, n) ndarray
        Bends at the other positions, written.

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
    """Follow the bends (N, n) of joints along positions (N, n) without noise."""
    return RunningPresliding(q.shape[1]).take(q)


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
