# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows of a regression, compressed to a triangular factor for each joint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.blocks.rows import RowBlock
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

    def part(self, columns: NDArray[np.intp]) -> QRFactors:
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


def compress(parameters: int, blocks: Iterable[RowBlock]) -> QRFactors:
    """
    Compress rows block by block.

    Parameters
    ----------
    parameters : int
        b.
    blocks : iterable of RowBlock
        Rows, block by block, all of the same joints.

    Returns
    -------
    QRFactors
        Of all rows.

    """
    one_group = ((block, np.zeros(len(block.t), dtype=np.intp)) for block in blocks)
    return next(iter(compress_groups(parameters, one_group)), QRFactors.empty(0, parameters))


def compress_groups(
    parameters: int, blocks: Iterable[tuple[RowBlock, NDArray[np.intp]]],
) -> list[QRFactors]:
    """
    Compress the rows of each group.

    Parameters
    ----------
    parameters : int
        b.
    blocks : iterable of (RowBlock, (k,) ndarray of int)
        Rows, and the number of the group of each, counted from 0.

    Returns
    -------
    list of QRFactors
        In the order of the numbers.

    """
    groups: list[Triangles] = []
    joints = 0
    for block, numbers in blocks:
        joints = block.moving.shape[1]
        while len(groups) <= numbers.max(initial=-1):
            groups.append(Triangles(joints))
        for number in np.unique(numbers):
            chosen = block.moving & (numbers == number)[:, None]
            for joint, moves in enumerate(chosen.T):
                groups[number].add(joint, np.column_stack([
                    block.W[moves, joint], block.tau[moves, joint]]))
    all_columns = np.arange(parameters + 1)
    return [each.factors([all_columns] * joints, parameters + 1) for each in groups]


def stack(parts: Sequence[QRFactors]) -> QRFactors:
    """Combine the factors of several recordings, or of several parts of one."""
    stacked = np.concatenate([part.factors for part in parts], axis=1)
    return QRFactors(
        among_all_columns([triangular(rows) for rows in stacked], stacked.shape[2]),
        np.sum([part.rows for part in parts], axis=0))


def triangular(rows: Array) -> tuple[Array, NDArray[np.intp]]:
    """Compress rows (k, c) to a triangle of the nonzero columns; return it and their indices."""
    used = np.flatnonzero(rows.any(axis=0))
    return np.asarray(np.linalg.qr(rows[:, used], mode='r')), used


def among_all_columns(triangles: Sequence[tuple[Array, NDArray[np.intp]]], columns: int) -> Array:
    """Place the triangle of each joint, given the indices of its columns, among all columns."""
    factors = np.zeros((len(triangles), max(len(R) for R, _ in triangles), columns))
    for factor, (R, used) in zip(factors, triangles, strict=True):
        factor[:len(R), used] = R
    return factors


class Triangles:
    """Rows of each joint, compressed as they arrive."""

    def __init__(self, joints: int) -> None:
        self._rows: list[list[Array]] = [[] for _ in range(joints)]
        self._counts = np.zeros(joints, dtype=np.int64)

    def add(self, joint: int, rows: Array) -> None:
        """Add rows of one joint."""
        self._counts[joint] += len(rows)
        pending = self._rows[joint]
        pending.append(rows)
        # A factorisation is cheapest with several times as many rows as columns.
        if sum(map(len, pending)) > 4 * rows.shape[1]:
            pending[:] = [np.asarray(np.linalg.qr(np.concatenate(pending), mode='r'))]

    def factors(self, places: Sequence[NDArray[np.intp]], columns: int) -> QRFactors:
        """Return the factors of all joints, given the indices of their columns."""
        triangles = []
        for indices, pending in zip(places, self._rows, strict=True):
            stacked = np.concatenate(pending) if pending else np.zeros((0, len(indices)))
            R, used = triangular(stacked)
            triangles.append((R, indices[used]))
        return QRFactors(among_all_columns(triangles, columns), self._counts)
