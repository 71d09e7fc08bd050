# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows of a regression, compressed to a triangular factor for each joint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.blocks.filtered_columns import Places
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True)
class QRFactors:
    """
    Rows of ``[W tau]`` of each joint, compressed to their triangular factor.

    For any parameters the sum of squared residuals of joint i is
    ``‖factors[i] @ [theta; -1]‖²``, exactly as for the rows themselves. Few rows need no
    compression: they are factors, too.

    Attributes
    ----------
    factors : (n, m, b + 1) ndarray
        Factor of each joint, with as many rows as the joint has nonzero columns.
    rows : (n,) ndarray of int
        Rows of each joint.

    """

    factors: Array
    rows: NDArray[np.int64]

    @staticmethod
    def empty(joints: int, parameters: int) -> QRFactors:
        """Return the factors of no rows."""
        factors = np.zeros((joints, parameters + 1, parameters + 1))
        return QRFactors(factors, np.zeros(joints, dtype=np.int64))

    def part(self, columns: Places) -> QRFactors:
        """Return the same rows with some of the parameters only."""
        kept = np.append(columns, self.factors.shape[2] - 1)
        return QRFactors(self.factors[:, :, kept], self.rows)

    def weighted(self, sigma: Array) -> Array:
        """Nonzero rows of all joints, (m, b + 1), divided by the noise of each joint (n,)."""
        rows = (self.factors / sigma[:, None, None])[self.factors.any(axis=2)]
        # A triangle has as many rows as columns.
        return np.pad(rows, ((0, max(0, rows.shape[1] - len(rows))), (0, 0)))

    @property
    def products(self) -> Array:
        """
        Return the sums of products of the rows of each joint, (n, b + 1, b + 1).

        Their rounding hides residuals below about 1e-7 of the torque.
        """
        return np.asarray(self.factors.transpose(0, 2, 1) @ self.factors)

    def normal(self, sigma: Array) -> Array:
        """Return the normal equations of all joints, (b, b + 1), weighted by their noise (n,)."""
        return np.asarray(np.tensordot(sigma**-2, self.products, 1)[:-1])

    def residual_squares(self, theta: Array) -> Array:
        """Sum of squared residuals of each joint, (n,)."""
        residual = self.factors[:, :, -1] - self.factors[:, :, :-1] @ theta
        return np.asarray((residual**2).sum(axis=1))

    def torque_squares(self) -> Array:
        """Sum of squared torque of each joint, (n,)."""
        return np.asarray((self.factors[:, :, -1] ** 2).sum(axis=1))

    def rms_torque(self) -> Array:
        """Root mean square torque of each joint, (n,)."""
        return np.asarray(np.sqrt(self.torque_squares() / np.maximum(self.rows, 1)))


def compress_groups(
    blocks: Iterable[tuple[Places, NDArray[np.bool_], Sequence[Array]]],
    places: Sequence[Places], columns: int, count: int,
) -> list[QRFactors]:
    """
    Compress the rows of each group as they arrive.

    Parameters
    ----------
    blocks : iterable of tuple
        Number of the group of each row, (k,), which joints move, (k, n), and the rows of each
        joint, (k, c) with c columns of its own, the torque last.
    places : sequence of (c,) ndarray of int
        Indices of the columns of each joint among all.
    columns : int
        Number of all columns, the torque included.
    count : int
        Number of groups, which are counted from 0.

    Returns
    -------
    list of QRFactors
        Of each group.

    """
    groups = [_Group(len(places)) for _ in range(count)]
    for numbers, moving, rows in blocks:
        for number in np.unique(numbers):
            groups[number].add(rows, moving & (numbers == number)[:, None])
    return [QRFactors(_among_all_columns(
        [np.concatenate([np.zeros((0, len(own))), *rows])
         for rows, own in zip(group.rows, places, strict=True)], places, columns), group.counts)
        for group in groups]


class _Group:
    """Rows of each joint of one group, compressed as they arrive."""

    def __init__(self, joints: int) -> None:
        self.rows: list[list[Array]] = [[] for _ in range(joints)]
        self.counts = np.zeros(joints, dtype=np.int64)

    def add(self, rows: Sequence[Array], chosen: NDArray[np.bool_]) -> None:
        self.counts += chosen.sum(axis=0)
        for pending, own, rows_chosen in zip(self.rows, rows, chosen.T, strict=True):
            pending.append(own[rows_chosen])
            # A factorisation is cheapest with several times as many rows as columns.
            if sum(map(len, pending)) > 4 * own.shape[1]:
                pending[:] = [np.asarray(np.linalg.qr(np.concatenate(pending), mode='r'))]


def stack(parts: Sequence[QRFactors]) -> QRFactors:
    """Combine the factors of several recordings, or of several parts of one."""
    stacked = np.concatenate([part.factors for part in parts], axis=1)
    columns = stacked.shape[2]
    return QRFactors(
        _among_all_columns(stacked, len(stacked) * [np.arange(columns)], columns),
        np.sum([part.rows for part in parts], axis=0))


def _among_all_columns(
    rows: Sequence[Array] | Array, places: Sequence[Places], columns: int,
) -> Array:
    """Compress rows of each joint to a triangle of its nonzero columns, placed among all."""
    triangles = []
    for own, indices in zip(rows, places, strict=True):
        used = np.flatnonzero(own.any(axis=0))
        triangles.append((np.asarray(np.linalg.qr(own[:, used], mode='r')), indices[used]))
    factors = np.zeros((len(triangles), max(len(R) for R, _ in triangles), columns))
    for factor, (R, used) in zip(factors, triangles, strict=True):
        factor[:len(R), used] = R
    return factors
