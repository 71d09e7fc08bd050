# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Whether a load slips or changes within its recordings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from dynid_ros.applications.payload.load_estimate import LoadFit
from dynid_ros.dynamics.load_columns import LOAD_STD
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.utilities.arrays import Array

# Bounds of a change of the load. Measured figures come from benchmarks/payload.py.

#: Consecutive parts of the rows. A change lies between two of them, with two or more on either
#: side: a single part may as well show a contact.
ROW_PARTS = 8
#: Probability of a change as clear in a recording with a fixed load.
FALSE_CHANGE = 1e-4
#: Change of the mass that matters, kg and relative. Errors of the model cause up to 0.1 kg.
CHANGE_KG, CHANGE_SHARE = 0.12, 0.1
#: Change of the centre of mass that matters where there is a load on both sides.
SHIFT_M = 0.015
#: Parts on either side of a change, and rows of a part, at least.
SIDE, LEAST_ROWS = 2, 4


@dataclass(frozen=True, eq=False)
class Change:
    """
    A change of the load.

    Attributes
    ----------
    source : str
        Recording in which it happens.
    t : float
        When, to the length of a part, s since the start of the recording.
    before, after : (4,) ndarray
        Mass and first moments, kg and kg m.
    chance : float
        Probability that the parts of a recording with one load differ as clearly.

    """

    source: str
    t: float
    before: Array
    after: Array
    chance: float

    @property
    def matters(self) -> bool:
        """Whether it is certain, and larger than errors of the model explain."""
        if self.chance >= FALSE_CHANGE:
            return False
        lighter, heavier = sorted((float(self.before[0]), float(self.after[0])))
        if heavier - lighter > max(CHANGE_KG, CHANGE_SHARE * heavier):
            return True
        if lighter < CHANGE_KG:
            return False
        shift = self.after[1:] / self.after[0] - self.before[1:] / self.before[0]
        return bool(np.linalg.norm(shift) > SHIFT_M)


def largest_change(
    columns: Array, fit: LoadFit, recorded: Iterable[tuple[str, Array, Iterable[RowBlock]]],
) -> Change | None:
    """
    Find the clearest change.

    Separate loads before and after a moment explain some of the residual, and so do separate loads
    in each part. Errors of the model and coloured noise make parts differ as well, also on either
    side of the moment: an analysis of variance compares the two (Chow 1960, Tests of equality
    between sets of coefficients in two linear regressions, Econometrica 28), with a Bonferroni
    correction for all moments tried.

    Parameters
    ----------
    columns : (b, 10) ndarray
        Change of the base parameters with the load.
    fit : LoadFit
        The load in all rows, by least squares.
    recorded : iterable of (str, (b,) ndarray, iterable of RowBlock)
        Recordings, and the parameters and the rows of the loaded arm in them.

    Returns
    -------
    Change or None
        None if the rows are too few to be divided.

    """
    rows, size = [], 4
    for source, theta, blocks in recorded:
        for block in blocks:
            Y = block.W @ columns[:, :size] / fit.sigma[:, None]
            left = (block.tau - block.W @ theta) / fit.sigma
            rows.append((np.einsum('kia,ki->ka', Y, left), np.einsum('kia,kib->kab', Y, Y),
                         block.t, [source] * len(block.t)))
    if sum(len(own) for own, *_ in rows) < LEAST_ROWS * ROW_PARTS:
        return None
    score, information, t, sources = map(np.concatenate, zip(*rows, strict=True))
    edges = np.linspace(0, len(score), ROW_PARTS + 1).astype(int)[:-1]
    scores, totals = np.add.reduceat(score, edges), np.add.reduceat(information, edges)
    count = len(scores)
    apart, freedom = sum(map(_explained, scores, totals)), size * (count - 2)
    found, moments = [], range(SIDE, count - SIDE + 1)
    for part in moments:
        sides = [(scores[side].sum(axis=0), totals[side].sum(axis=0))
                 for side in (slice(part), slice(part, None))]
        once = sum(_explained(*side) for side in sides)
        ratio = once / size / max((apart - once) / freedom, np.finfo(float).tiny)
        before, after = (fit.load[:size] + _step(*side) for side in sides)
        found.append(Change(
            str(sources[edges[part]]), float(t[edges[part]]), before, after,
            float(min(len(moments) * fdtrc(size, freedom, ratio), 1.0))))
    return min(found, key=lambda change: change.chance)


def _step(score: Array, information: Array) -> Array:
    """Return the load of some rows less the load of all rows."""
    return np.asarray(np.linalg.solve(information + np.eye(len(score)) / LOAD_STD**2, score))


def _explained(score: Array, information: Array) -> float:
    """Return the weighted squares that a separate load explains in some rows."""
    return float(score @ _step(score, information))
