"""Covariance of least squares by leaving out one block of time after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from dynid_ros.estimation.blocks.filtered_columns import Places
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.blocks.qr_factors import compress_groups
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.estimate.covariance import whitened_changes
from dynid_ros.utilities.arrays import Array

#: Consecutive blocks with as many rows.
BLOCKS = 30
#: Half the width of a 95 % interval in standard deviations: Student's t with `BLOCKS` - 1 degrees
#: of freedom.
INTERVAL = 2.045


def block_jackknife(
    rows: Iterable[RowBlock], count: int, theta: Array, sigma: Array, half: Array, prior: Array,
) -> tuple[Array, Array]:
    """
    Covariance of an estimate by its changes where a block is left out.

    Parameters
    ----------
    rows : iterable of RowBlock
        Rows that were fitted, in the order of time.
    count : int
        Their number, joints that move counted one by one.
    theta, sigma, half, prior
        As for `whitened_changes`.

    Returns
    -------
    noise, prior : (b, b) ndarray
        Covariance that the rows give the estimate, and covariance from the prior; they add up.

    """
    parts = compress_groups(len(theta), _numbered(rows, count))
    changes = whitened_changes(
        [Products.of(part) for part in parts], theta, sigma, half, prior) @ half.T
    pulled = prior[:, :-1] @ half @ half.T
    return (BLOCKS - 1) / BLOCKS * changes.T @ changes, pulled.T @ pulled


def _numbered(rows: Iterable[RowBlock], count: int) -> Iterator[tuple[RowBlock, Places]]:
    done = 0
    for block in rows:
        seen = done + np.cumsum(block.moving.sum(axis=1))
        done = int(seen[-1])
        yield block, np.minimum((seen - 1) * BLOCKS // max(count, 1), BLOCKS - 1)
