# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Roughness of a motion with given stamps: the motion itself serves as a clock."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.in_blocks import finite_span, steps

Index = NDArray[np.int64]

#: Number of samples before and after each, whose cubic predicts it.
SIDE = 2
#: Number of parts with equal amounts of motion, over which two clocks are compared.
MOTION_PARTS = 20
#: Number of compared samples in each part; more do not change the result.
COMPARED_PER_PART = 1000


class Roughness:
    """
    Distances of samples from cubics through their neighbours, for any stamps.

    Arms move smoothly. If a stamp is wrong by δ, the positions of all joints are off by δ times
    their velocity. Each distance is normalised by that due to white noise of the positions with
    the same stamps, so that uneven stamps alone do not increase the roughness.

    Parameters
    ----------
    t : (N,) ndarray
        Stamps of the samples, s.
    q : (N, m) ndarray
        Positions of the joints that move, rad or m.
    stretch : (N,) ndarray of int
        Number of the gapless stretch of each sample.

    Attributes
    ----------
    q : (N, m) ndarray
        Of the parameters.
    places : (W,) ndarray of int
        Middle samples of the windows, at most `COMPARED_PER_PART` in each part.
    part : (W,) ndarray of int
        Number of the part of each window, of `MOTION_PARTS`.
    speed : (W, m) ndarray
        Velocities at the middle samples, rad/s or m/s.

    """

    def __init__(self, t: Array, q: Array, stretch: Index) -> None:
        self.q = q
        middle: Index = SIDE + np.flatnonzero(stretch[2 * SIDE:] == stretch[:-2 * SIDE])
        lowest, highest = finite_span(q)
        span = np.maximum(highest - lowest, np.finfo(float).tiny)
        path = np.zeros(len(q))
        # Block by block to save memory.
        for before, after in steps(len(q)):
            way = np.diff(np.ascontiguousarray(q[before.start:after.stop].T), axis=1)
            np.abs(way, out=way)
            way /= span[:, None]
            path[after] = way.sum(axis=0)
        path = path[middle]
        np.cumsum(path, out=path)
        total = max(path[-1:].sum(), 1e-300)
        path *= MOTION_PARTS
        path /= total
        edges = [0, *np.searchsorted(path, np.arange(1, MOTION_PARTS)).tolist(), len(middle)]
        kept = [some_of(middle[a:b], COMPARED_PER_PART) for a, b in pairwise(edges)]
        self.places = np.concatenate(kept)
        self.part = np.repeat(np.arange(MOTION_PARTS), [*map(len, kept)])
        first, last = self.places - SIDE, self.places + SIDE
        self.speed: Array = (q[last] - q[first]) / (t[last] - t[first])[:, None]

    def by_part(self, t: Array) -> Array:
        """Log of the root mean square distance of each joint, (parts, m), for given stamps."""
        squares = cubic_distances(t, self.q, self.places)**2
        starts = np.flatnonzero(np.diff(self.part, prepend=-1))
        count = np.diff(np.append(starts, len(squares)))
        mean = np.add.reduceat(squares, starts, axis=0) / count[:, None]
        # Positions that are exact up to rounding are equally smooth.
        least = np.finfo(float).eps * np.ptp(self.q, axis=0)
        return np.asarray(np.log(mean + least**2) / 2)

    def overall(self, t: Array) -> float:
        """Mean over the joints of the logarithm of the mean square distance, with given stamps."""
        return overall_roughness(t, self.q, self.places)

    def timing_error(self, t: Array) -> float:
        """
        Estimate the root mean square error of stamps from the motion, s.

        Wrong stamps cause distances that grow with the speed; noise of positions does not. The
        median over the joints excludes one with a poor encoder at high speed.

        Parameters
        ----------
        t : (N,) ndarray
            Stamps, s.

        """
        squares, speed = cubic_distances(t, self.q, self.places)**2, self.speed**2
        variances = []
        for distances, speeds in zip(squares.T, speed.T, strict=True):
            low, high = np.quantile(speeds, (0.2, 0.8))
            slow, quick = speeds <= low, speeds >= high
            gained = distances[quick].mean() - distances[slow].mean()
            variances.append(gained / max(speeds[quick].mean() - speeds[slow].mean(), 1e-300))
        return float(np.sqrt(max(np.median(variances), 0.0))) if variances else 0.0


def some_of(places: Index, most: int) -> Index:
    """Return a random choice of at most `most` places, lest a beat of two clocks be missed."""
    if len(places) <= most:
        return places
    return np.sort(np.random.default_rng(0).choice(places, most, replace=False))


def overall_roughness(t: Array, q: Array, places: Index) -> float:
    """Mean over the joints of the logarithm of the mean square of `cubic_distances`."""
    least = np.finfo(float).tiny
    return float(np.log((cubic_distances(t, q, places)**2).mean(axis=0) + least).mean())


def cubic_distances(t: Array, q: Array, places: Index) -> Array:
    """
    Distances of samples from cubics through their four neighbours.

    Parameters
    ----------
    t : (N,) ndarray
        Stamps that increase, s.
    q : (N, m) ndarray
        Positions, rad or m.
    places : (k,) ndarray of int
        The samples.

    Returns
    -------
    (k, m) ndarray
        Of unit gain for white noise of the positions, rad or m.

    """
    near = neighbours(places)
    return window_distances(t[near], q[near])


def neighbours(places: Index) -> Index:
    """Return the indices of samples and their neighbours, (k, 2 SIDE + 1)."""
    return np.asarray(places[:, None] + np.arange(-SIDE, SIDE + 1))


def window_distances(t: Array, q: Array) -> Array:
    """
    Distances of the middle samples of windows from cubics through the others.

    Parameters
    ----------
    t : (k, 5) ndarray
        Stamps that increase, s.
    q : (k, 5, m) ndarray
        Positions, rad or m.

    Returns
    -------
    (k, m) ndarray
        Of unit gain for white noise of the positions, rad or m.

    """
    sides = (0, 1, 3, 4)
    weight = np.empty_like(t)
    weight[:, SIDE] = -1.0
    for k in sides:
        weight[:, k] = 1.0
        for i in sides:
            if i != k:
                weight[:, k] *= (t[:, SIDE] - t[:, i]) / (t[:, k] - t[:, i])
    gain = np.sqrt(np.einsum('wk,wk->w', weight, weight))
    return np.asarray(np.einsum('wk,wkm->wm', weight, q) / gain[:, None])
