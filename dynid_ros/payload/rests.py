"""A load from rests: torque that holds the arm, with friction that holds it, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arrays import Array
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.payload.fit import LoadFit, LoadRegression
from dynid_ros.payload.known_friction import KnownFriction
from dynid_ros.signals.conditioning import ConditionedMotion
from dynid_ros.signals.standstill import moving, still_below

#: Shortest rest, and what is left out at its start and end, s: the low-pass reaches so far.
SHORTEST, EDGE = 0.5, 0.15
#: Speed of an approach, by the one below which a joint stands still.
APPROACH = 5.0
#: Rests that the scatter before any data counts as.
PRIOR_RESTS = 3.0
PASSES = 5


@dataclass(frozen=True, eq=False)
class Rests:
    """
    Rests of R positions.

    Attributes
    ----------
    q, tau : (R, n) ndarray
        Mean position and torque of each, rad and Nm.
    approach : (R, n) ndarray
        Direction in which each joint moved before it, 1 or -1; zero if it did not.

    """

    q: Array
    tau: Array
    approach: Array

    @property
    def both_directions(self) -> NDArray[np.bool_]:
        """Joints, (n,), that came to rest from both directions."""
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
        ends = np.flatnonzero(np.diff(np.concatenate([[0], still.astype(np.int8), [0]])))
        limit = APPROACH * still_below(np.abs(qd).max(axis=0))
        for start, stop in ends.reshape(-1, 2):
            if stop - start >= SHORTEST * rate_hz:
                part = slice(start + edge, stop - edge)
                rows.append((motion.q[part].mean(axis=0), motion.tau[part].mean(axis=0),
                             _approach(qd[:start], limit)))
    joints = motions[0].q.shape[1] if motions else 0
    q, tau, approach = np.array(rows).reshape(len(rows), 3, joints).transpose(1, 0, 2)
    return Rests(q, tau, approach)


def together(parts: Sequence[Rests]) -> Rests:
    """Put the rests of several recordings together."""
    return Rests(*(np.concatenate([getattr(part, name) for part in parts])
                   for name in ('q', 'tau', 'approach')))


def _approach(qd: Array, limit: Array) -> Array:
    """Direction of the last motion of each joint, (n,)."""
    fast = np.abs(qd) > limit
    directions = np.zeros(len(limit))
    for joint, column in enumerate(fast.T):
        moments = np.flatnonzero(column)
        if len(moments):
            directions[joint] = np.sign(qd[moments[-1], joint])
    return directions


def fit_rests(regression: LoadRegression, rests: Rests) -> LoadFit:
    """
    Estimate mass and centre of mass of a load from rests.

    At rest a joint is held by its drive and by friction, of which only the bound is known. A part
    of it follows the direction of approach and is estimated, joint by joint; the rest scatters
    from one rest to the next.

    Parameters
    ----------
    regression : LoadRegression
        The arm without the load.
    rests : Rests
        Rests with the load.

    Returns
    -------
    LoadFit
        With the whole scatter.

    """
    arm = regression.model.arm
    count, n = rests.q.shape
    still = np.zeros_like(rests.q)
    W = regressor(arm, rests.q, still, still, load=still)[:, :, base_parameters(arm).columns]
    free = rests.tau - W @ regression.model.theta
    bound = KnownFriction(regression.model).breakaway
    held = rests.approach[:, :, None] * np.eye(n)
    held_std = np.maximum(bound, 1e-3 * regression.model.sigma)
    start = np.hypot(bound / 2, regression.model.sigma)
    sigma = start
    for _ in range(PASSES):
        scale = np.repeat(sigma[None], count, axis=0)[:, :, None]
        load, factor, others, shift = regression.solve(
            (W / scale).reshape(count * n, -1), (free / scale[:, :, 0]).ravel(),
            (held / scale).reshape(count * n, n), held_std)
        change = regression.others @ others[:-n] + regression.columns @ load
        left = free - W @ change - held @ others[-n:]
        squares = PRIOR_RESTS * start**2 + (left**2).sum(axis=0)
        # A joint that is loaded by the load gives up some of its rests to the parameters.
        before, sigma = sigma, np.sqrt(squares / (PRIOR_RESTS + max(count - 4 / n, 0.5)))
    information = factor.T @ factor
    score = regression.columns - regression.others @ shift[:-n]
    return LoadFit(load, factor, information, regression.model.theta + change, before, score)
