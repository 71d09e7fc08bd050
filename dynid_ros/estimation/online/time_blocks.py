# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows of a stream in blocks of time, in bounded memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.blocks.groups import GROUPS
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.online.square_root_information import absorb_rows
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed

#: Initial number of rows in a block.
FIRST_BLOCK_ROWS = 8
#: Most blocks; beyond them, pairs are merged, and later blocks are twice as long.
MOST_BLOCKS = 4 * GROUPS


class TimeBlocks(Checkpointed):
    """
    Triangular factors of rows in blocks of time with equally many rows.

    A group of rows consists of some blocks, so a stream has groups like a recording. For a
    repeated motion, its phases would be better groups, but a stream of hours cannot separate them.

    Parameters
    ----------
    joints, parameters : int
        n and b.

    Attributes
    ----------
    factors : (m, n, b + 1, b + 1) ndarray
        Of each block, joint by joint.
    rows : (m, n) ndarray of int
        Their number, joint by joint.
    size : int
        Rows of a complete block, however many joints move.
    filled : int
        Rows of the last block.

    """

    saved = ('factors', 'rows', 'size', 'filled')

    def __init__(self, joints: int, parameters: int) -> None:
        self.factors = np.zeros((0, joints, parameters + 1, parameters + 1))
        self.rows = np.zeros((0, joints), dtype=np.int64)
        self.size = self.filled = FIRST_BLOCK_ROWS

    def add(self, W: Array, tau: Array, learned: NDArray[np.bool_]) -> None:
        """
        Add rows.

        Parameters
        ----------
        W, tau : (k, n, b) and (k, n) ndarray
            Rows, in the order of time.
        learned : (k, n) ndarray of bool
            Which are fitted.

        """
        kept = learned.any(axis=1)
        W, tau, learned = W[kept], tau[kept], learned[kept]
        first, all_of_it = 0, np.ones(W.shape[1])
        while first < len(W):
            if self.filled == self.size:
                self._begin()
            part = slice(first, first + self.size - self.filled)
            absorb_rows(self.factors[-1], W[part], tau[part], learned[part], all_of_it)
            self.rows[-1] += learned[part].sum(axis=0)
            self.filled += len(W[part])
            first = part.stop

    def groups(self) -> list[QRFactors]:
        """Return `GROUPS` groups of blocks, or as many as there are blocks."""
        count = min(GROUPS, len(self.rows))
        return [] if not count else [
            QRFactors(np.concatenate(factors, axis=1), rows.sum(axis=0)) for factors, rows in zip(
                np.array_split(self.factors, count), np.array_split(self.rows, count),
                strict=True)]

    def _begin(self) -> None:
        """Begin a block; first merge pairs of blocks if there are too many."""
        if len(self.rows) == MOST_BLOCKS:
            both = np.concatenate([self.factors[::2], self.factors[1::2]], axis=2)
            self.factors = np.asarray(np.linalg.qr(both, mode='r'))
            self.rows = self.rows[::2] + self.rows[1::2]
            self.size *= 2
        self.factors = np.concatenate([
            self.factors, np.zeros((1, *self.factors.shape[1:]))])
        self.rows = np.concatenate([self.rows, np.zeros((1, self.rows.shape[1]), dtype=np.int64)])
        self.filled = 0
