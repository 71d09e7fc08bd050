# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows that wait because an outlier to come may spoil them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed

Flags = NDArray[np.bool_]


class DoubtfulRows(Checkpointed):
    """
    Queue of rows, from the first one that may belong to an outlier still to come.

    The low-pass spreads a collision over its neighbours, before and after.

    Parameters
    ----------
    joints, parameters : int
        n and b.

    Attributes
    ----------
    rows : (m, n, b + 3) ndarray
        Waiting rows ``[W tau]``, with flags of torques that are no outliers, and of torques that
        may belong to one.
    wild : (r + m, n) ndarray of bool
        Flags of outliers among the waiting rows and the r rows before.
    segment : int
        Stretch of these rows.
    reach : int
        Number of rows on either side that an outlier spoils.

    """

    saved = ('rows', 'wild', 'segment', 'reach')

    def __init__(self, joints: int, parameters: int) -> None:
        self.rows = np.zeros((0, joints, parameters + 3))
        self.wild = np.zeros((0, joints), dtype=np.bool_)
        self.segment = self.reach = 0

    def take(self, block: RowBlock, wild: Flags, doubtful: Flags) -> tuple[Array, Array, Flags]:
        """Add rows of the same stretch; return those before the first that has to wait."""
        more = np.stack([block.tau, block.moving & ~wild, doubtful], axis=2)
        self.rows = np.concatenate([self.rows, np.concatenate([block.W, more], axis=2)])
        self.wild = np.concatenate([self.wild, wild])
        # Earlier rows have all of their neighbours.
        last = max(0, len(self.rows) - self.reach)
        waiting = np.flatnonzero(self.rows[last:, :, -1].any(axis=1))
        return self._release(last + int(waiting[0]) if len(waiting) else len(self.rows))

    def flush(self) -> tuple[Array, Array, Flags]:
        """Return all waiting rows: ``W``, ``tau``, and a mask of those to fit."""
        released = self._release(len(self.rows))
        self.wild = self.wild[:0]
        return released

    def _release(self, count: int) -> tuple[Array, Array, Flags]:
        gone = len(self.wild) - len(self.rows)
        released, self.rows = np.split(self.rows, [count])
        good, doubtful = released[:, :, -2] > 0, released[:, :, -1] > 0
        for k in np.flatnonzero(doubtful.any(axis=1)):
            at = gone + k
            near = self.wild[max(0, at - self.reach):at + self.reach + 1].any(axis=0)
            good[k] &= ~(doubtful[k] & near)
        self.wild = self.wild[max(0, gone + count - self.reach):]
        return released[:, :, :-3], released[:, :, -3], good
