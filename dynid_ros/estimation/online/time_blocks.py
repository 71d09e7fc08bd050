# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows of a stream in blocks of time, in bounded memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.blocks.groups import GROUPS
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed

#: Initial number of rows in a block.
FIRST_BLOCK_ROWS = 8
#: Most blocks; beyond them, pairs are merged, and later blocks are twice as long.
MOST_BLOCKS = 4 * GROUPS


class TimeBlocks(Checkpointed):
    """
    Sums of products of rows in blocks of time with equally many rows.

    A group of rows consists of some blocks, so a stream has groups like a recording. For a
    repeated motion, its phases would be better groups, but a stream of hours cannot separate them.

    Parameters
    ----------
    joints, parameters : int
        n and b.

    Attributes
    ----------
    products : (m, n, b + 1, b + 1) ndarray
        Of the rows ``[W tau]`` of each block.
    rows : (m, n) ndarray of int
        Their number, joint by joint.
    size : int
        Rows of a complete block, however many joints move.
    filled : int
        Rows of the last block.

    """

    saved = ('products', 'rows', 'size', 'filled')

    def __init__(self, joints: int, parameters: int) -> None:
        self.products = np.zeros((0, joints, parameters + 1, parameters + 1))
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
        new = np.concatenate([W, tau[:, :, None]], axis=2)[kept] * learned[kept][:, :, None]
        counts = learned[kept]
        while len(new):
            if self.filled == self.size:
                self._begin()
            count = min(self.size - self.filled, len(new))
            block_rows = new[:count].transpose(1, 2, 0)
            self.products[-1] += block_rows @ block_rows.transpose(0, 2, 1)
            self.rows[-1] += counts[:count].sum(axis=0)
            self.filled += count
            new, counts = new[count:], counts[count:]

    def groups(self) -> list[Products]:
        """Return `GROUPS` groups of blocks, or as many as there are blocks."""
        count = min(GROUPS, len(self.rows))
        return [] if not count else [
            Products(products.sum(axis=0), rows.sum(axis=0)) for products, rows in zip(
                np.array_split(self.products, count), np.array_split(self.rows, count),
                strict=True)]

    def _begin(self) -> None:
        """Begin a block; first merge pairs of blocks if there are too many."""
        if len(self.rows) == MOST_BLOCKS:
            self.products = self.products[::2] + self.products[1::2]
            self.rows = self.rows[::2] + self.rows[1::2]
            self.size *= 2
        self.products = np.concatenate([self.products, np.zeros_like(self.products, shape=(
            1, *self.products.shape[1:]))])
        self.rows = np.concatenate([self.rows, np.zeros((1, self.rows.shape[1]), dtype=np.int64)])
        self.filled = 0
