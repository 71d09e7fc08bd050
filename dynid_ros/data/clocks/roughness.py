"""How rough a motion is by the stamps of its samples: the motion itself is a clock."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array

Index = NDArray[np.int64]

#: Samples before and after one, of which the cubic predicts it.
SIDE = 2
#: Parts of as much motion each, by which two clocks are compared.
PARTS = 20
#: Samples that are compared in each part; more of them change nothing.
COMPARED = 1000


class Roughness:
    """
    Distances of samples from the cubics through their neighbours, by any stamps.

    Arms move smoothly: where a stamp is wrong by δ, the positions lie off by δ times the velocity,
    all joints alike. Each distance is divided by what white noise of the positions makes of it
    with the same stamps, so that uneven stamps are no rougher by themselves.

    Parameters
    ----------
    t : (N,) ndarray
        Stamps of the samples, s.
    q : (N, m) ndarray
        Positions of the joints that move, rad or m.
    stretch : (N,) ndarray of int
        Number of the stretch without a gap that a sample belongs to.

    Attributes
    ----------
    q : (N, m) ndarray
        Of the parameters.
    places : (W,) ndarray of int
        Middle samples of the windows, at most `COMPARED` in each part.
    part : (W,) ndarray of int
        Which of the `PARTS` a window lies in.
    speed : (W, m) ndarray
        Velocities there, rad/s or m/s.

    """

    def __init__(self, t: Array, q: Array, stretch: Index) -> None:
        self.q = q
        middle: Index = SIDE + np.flatnonzero(stretch[2 * SIDE:] == stretch[:-2 * SIDE])
        span = np.maximum(np.ptp(q, axis=0), np.finfo(float).tiny)
        way = np.zeros(len(q))
        # In place and joint by joint, as each further array of all samples fills memory.
        for own, reach in zip(q.T, span, strict=True):
            step = np.diff(own)
            np.abs(step, out=step)
            step /= reach
            way[1:] += step
        way = way[middle]
        np.cumsum(way, out=way)
        total = max(way[-1:].sum(), 1e-300)
        way *= PARTS
        way /= total
        edges = [0, *np.searchsorted(way, np.arange(1, PARTS)).tolist(), len(middle)]
        kept = [some_of(middle[a:b], COMPARED) for a, b in pairwise(edges)]
        self.places = np.concatenate(kept)
        self.part = np.repeat(np.arange(PARTS), [*map(len, kept)])
        first, last = self.places - SIDE, self.places + SIDE
        self.speed: Array = (q[last] - q[first]) / (t[last] - t[first])[:, None]

    def by_part(self, t: Array) -> Array:
        """Logarithm of the root mean square distance of each joint, (parts, m), by stamps."""
        squares = cubic_distances(t, self.q, self.places)**2
        starts = np.flatnonzero(np.diff(self.part, prepend=-1))
        count = np.diff(np.append(starts, len(squares)))
        mean = np.add.reduceat(squares, starts, axis=0) / count[:, None]
        # Positions that are exact by both stamps are equally smooth.
        least = np.finfo(float).eps * np.ptp(self.q, axis=0)
        return np.asarray(np.log(mean + least**2) / 2)

    def overall(self, t: Array) -> float:
        """Mean over the joints of the logarithm of the mean square distance, by stamps."""
        return overall_roughness(t, self.q, self.places)

    def timing_error(self, t: Array) -> float:
        """
        Estimate the error of stamps that the motion shows, root mean square, s.

        Distances grow with the speed where stamps are wrong, and do not where positions are noisy.
        The median over the joints leaves out one whose encoder is poor at speed.

        Parameters
        ----------
        t : (N,) ndarray
            Stamps, s.

        """
        squares, speed = cubic_distances(t, self.q, self.places)**2, self.speed**2
        found = []
        for own, fast in zip(squares.T, speed.T, strict=True):
            low, high = np.quantile(fast, (0.2, 0.8))
            slow, quick = fast <= low, fast >= high
            gained = own[quick].mean() - own[slow].mean()
            found.append(gained / max(fast[quick].mean() - fast[slow].mean(), 1e-300))
        return float(np.sqrt(max(np.median(found), 0.0))) if found else 0.0


def some_of(places: Index, most: int) -> Index:
    """Return at most so many places, without a pattern that a beat of two clocks could miss."""
    if len(places) <= most:
        return places
    return np.sort(np.random.default_rng(0).choice(places, most, replace=False))


def overall_roughness(t: Array, q: Array, places: Index) -> float:
    """Mean over the joints of the logarithm of the mean square of `cubic_distances`."""
    least = np.finfo(float).tiny
    return float(np.log((cubic_distances(t, q, places)**2).mean(axis=0) + least).mean())


def cubic_distances(t: Array, q: Array, places: Index) -> Array:
    """
    Distances of samples from the cubics through their four neighbours.

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
    """Return the numbers of samples and of their neighbours, (k, 2 SIDE + 1)."""
    return np.asarray(places[:, None] + np.arange(-SIDE, SIDE + 1))


def window_distances(t: Array, q: Array) -> Array:
    """
    Distances of the middle samples of windows from the cubics through the others.

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
