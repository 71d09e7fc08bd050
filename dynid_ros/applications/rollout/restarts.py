# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Measured states of a recording at which simulations start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid_ros.data.signals.conditioning import ConditionedMotion
from dynid_ros.utilities.arrays import Array

#: Most restarts for each horizon, spread evenly: an hour takes no longer than some minutes, and
#: the error has a standard error of 5 % or less.
MOST_RESTARTS = 200


@dataclass(frozen=True, eq=False)
class Restarts:
    """
    States from which a simulation starts, and the recording until its horizon.

    Attributes
    ----------
    horizon : float
        Seconds until the next restart.
    t : (K,) ndarray
        Times of the steps since the restart, s, from zero.
    start : (B,) ndarray
        Times of the restarts since the start of the recording, s.
    q : (B, K + 1, n) ndarray
        Recorded positions at these times, and at the horizon, rad or m.
    qd : (B, n) ndarray
        Velocities half a step before the restart, rad/s or m/s.
    drive : (B, K, n) ndarray
        Recorded torque of the drives, Nm, or their commands, rad or m.

    """

    horizon: float
    t: Array
    start: Array
    q: Array
    qd: Array
    drive: Array

    @property
    def reached(self) -> Array:
        """Return the recorded positions after each step, (B, K, n)."""
        return self.q[:, 1:]


def restarts(
    motions: Sequence[ConditionedMotion], drive: Sequence[Array], horizon: float, timestep: float,
    edge: int = 0, spans: Sequence[tuple[float, float]] | None = None,
    most: int = MOST_RESTARTS,
) -> Restarts | None:
    """
    Cut conditioned stretches into parts of a horizon.

    Parameters
    ----------
    motions : sequence of ConditionedMotion
        Stretches of a recording.
    drive : sequence of (N, n) ndarray
        Torque or commands in each of them.
    horizon : float
        Length of a part, s.
    timestep : float
        Step of the simulation, s.
    edge : int
        Samples at either end of a stretch that the filters distort.
    spans : sequence of (float, float), optional
        Only parts within these times are taken.
    most : int
        Restarts at most, spread evenly.

    Returns
    -------
    Restarts or None
        None if no stretch is long enough, or nothing moves in any part.

    Notes
    -----
    MuJoCo's semi-implicit Euler method advances velocities before positions. With velocities of
    half a step before, positions are those of Störmer and Verlet, of second order. Otherwise, at
    the usual step of 2 ms, an acceleration of 5 rad/s² would cause an error of 2.5 mrad after 0.5
    s.

    """
    steps = round(horizon / timestep)
    times = np.asarray(timestep * np.arange(steps + 1), dtype=float)
    starts = [_starts(motion, times[-1], horizon, timestep, edge, spans) for motion in motions]
    total = sum(map(len, starts))
    if not total:
        return None
    # Interpolate only a few restarts of an hour.
    chosen = np.unique(np.linspace(0, total - 1, most).round().astype(int))
    bounds = np.cumsum([0, *map(len, starts)])
    found: list[tuple[Array, Array, Array, Array]] = []
    for motion, driven, own, first, last in zip(
            motions, drive, starts, bounds[:-1], bounds[1:], strict=True):
        begin = own[chosen[(chosen >= first) & (chosen < last)] - first]
        at = begin[:, None] + times
        before = _between(motion.t, motion.qd, begin - timestep / 2)
        found.append((begin, _positions(motion, at), before,
                      _between(motion.t, driven, at[:, :-1])))
    return Restarts(horizon, times[:-1], *map(np.concatenate, zip(*found, strict=True)))


def _starts(
    motion: ConditionedMotion, length: float, horizon: float, timestep: float, edge: int,
    spans: Sequence[tuple[float, float]] | None,
) -> Array:
    """Return the times at which parts of a stretch with any motion begin, (S,), s."""
    inner = motion.t[edge:len(motion.t) - edge]
    if len(inner) < 2:
        return np.zeros(0)
    starts = np.arange(inner[0] + timestep, inner[-1] - length, horizon)
    moves = np.searchsorted(motion.t, [starts, starts + length])
    kept = [motion.moving[first:last + 1].any() and (spans is None or any(
        low <= start and start + length <= high for low, high in spans))
        for start, (first, last) in zip(starts, moves.T, strict=True)]
    return np.asarray(starts[np.array(kept, dtype=np.bool_)])


def _between(t: Array, x: Array, at: Array) -> Array:
    """Interpolate signals (N, n) linearly, (..., n)."""
    return np.stack([np.interp(at, t, own) for own in x.T], axis=-1)


def _positions(motion: ConditionedMotion, at: Array) -> Array:
    """Interpolate positions at times (B, K) by cubics between states, (B, K, n)."""
    from scipy.interpolate import CubicHermiteSpline

    return np.asarray(CubicHermiteSpline(motion.t, motion.q, motion.qd)(at))
