# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rests of all joints: position, holding torque and direction of approach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.signals.conditioning import ConditionedMotion
from dynid_ros.data.signals.standstill import moving, still_below
from dynid_ros.utilities.arrays import Array, runs_of

#: Shortest rest, and margin at both of its ends within the reach of the low-pass, s.
SHORTEST_REST_SECONDS, EDGE = 0.5, 0.15
#: Least speed of an approach, relative to that below which a joint stands still.
APPROACH = 5.0


@dataclass(frozen=True, eq=False)
class Rests:
    """
    Rests at R positions.

    Attributes
    ----------
    q, tau : (R, n) ndarray
        Mean position and torque of each, rad and Nm.
    approach : (R, n) ndarray
        Direction of the motion of each joint before the rest, 1 or -1; zero without motion.

    """

    q: Array
    tau: Array
    approach: Array

    @property
    def both_directions(self) -> NDArray[np.bool_]:
        """Mask of the joints, (n,), that came to rest from both directions."""
        return np.asarray((self.approach > 0).any(axis=0) & (self.approach < 0).any(axis=0))


def find_rests(motions: Sequence[ConditionedMotion], rate_hz: float) -> Rests:
    """
    Find the rests of all joints.

    Parameters
    ----------
    motions : sequence of ConditionedMotion
        Conditioned stretches of one recording.
    rate_hz : float
        Its rate.

    """
    edge, rows = round(EDGE * rate_hz), []
    for motion in motions:
        qd = np.asarray(motion.qd[:])
        still = ~moving(qd, rate_hz).any(axis=1)
        limit = APPROACH * still_below(np.abs(qd).max(axis=0))
        for start, stop in runs_of(still):
            if stop - start >= SHORTEST_REST_SECONDS * rate_hz:
                part = slice(start + edge, stop - edge)
                rows.append((motion.q[part].mean(axis=0), motion.tau[part].mean(axis=0),
                             _approach(qd[:start], limit)))
    joints = motions[0].q.shape[1] if motions else 0
    q, tau, approach = np.array(rows).reshape(len(rows), 3, joints).transpose(1, 0, 2)
    return Rests(q, tau, approach)


def _approach(qd: Array, limit: Array) -> Array:
    """Direction of the last motion of each joint, (n,)."""
    fast = np.abs(qd) > limit
    if not len(qd):
        return np.zeros(len(limit))
    last = len(qd) - 1 - np.argmax(fast[::-1], axis=0)
    return np.where(fast.any(axis=0), np.sign(qd[last, np.arange(len(limit))]), 0.0)
