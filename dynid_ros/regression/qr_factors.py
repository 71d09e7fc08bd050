"""Triangular factors of the rows of each joint, sufficient for least squares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.regression.rows import RowBlock

Array = NDArray[np.float64]


@dataclass(frozen=True)
class QRFactors:
    """
    Rows of ``[W tau]`` of each joint, compressed to their triangular factor.

    For any parameters the sum of squared residuals of joint i is
    ``‖factors[i] @ [theta; -1]‖²``, exactly as for the rows themselves.

    Attributes
    ----------
    factors : (n, m, b + 1) ndarray
        Factor of each joint; m is b + 1, and the factor upper triangular, before `part`.
    rows : (n,) ndarray of int
        Rows of each joint.

    """

    factors: Array
    rows: NDArray[np.int64]

    @staticmethod
    def empty(joints: int, parameters: int) -> QRFactors:
        """Start without rows."""
        factors = np.zeros((joints, parameters + 1, parameters + 1))
        return QRFactors(factors, np.zeros(joints, dtype=np.int64))

    def part(self, columns: NDArray[np.intp]) -> QRFactors:
        """Return the same rows with some of the parameters only."""
        kept = np.append(columns, self.factors.shape[2] - 1)
        return QRFactors(self.factors[:, :, kept], self.rows)

    def residual_squares(self, theta: Array) -> Array:
        """Sum of squared residuals of each joint, (n,)."""
        return np.asarray((self._residual(theta) ** 2).sum(axis=1))

    def torque_squares(self) -> Array:
        """Sum of squared torque of each joint, (n,)."""
        return np.asarray((self.factors[:, :, -1] ** 2).sum(axis=1))

    def _residual(self, theta: Array) -> Array:
        return np.asarray(self.factors[:, :, -1] - self.factors[:, :, :-1] @ theta)


def compress(joints: int, parameters: int, blocks: Iterable[RowBlock]) -> QRFactors:
    """
    Compress rows block by block.

    Parameters
    ----------
    joints, parameters : int
        n and b.
    blocks : iterable of RowBlock
        Rows, block by block.

    Returns
    -------
    QRFactors
        Of all rows.

    """
    result = QRFactors.empty(joints, parameters)
    pending: list[RowBlock] = []
    for block in blocks:
        pending.append(block)
        # A factorisation is cheapest with several times as many rows as columns.
        if sum(len(p.t) for p in pending) > 4 * parameters:
            result = _absorb(result, pending)
            pending = []
    return _absorb(result, pending) if pending else result


def stack(parts: Sequence[QRFactors]) -> QRFactors:
    """Put the rows of several recordings, or of several parts of one, together."""
    stacked = np.concatenate([part.factors for part in parts], axis=1)
    return QRFactors(_triangular(stacked), np.sum([part.rows for part in parts], axis=0))


def _absorb(old: QRFactors, blocks: Sequence[RowBlock]) -> QRFactors:
    W = np.concatenate([block.W for block in blocks])
    tau = np.concatenate([block.tau for block in blocks])
    new = np.concatenate([W, tau[:, :, None]], axis=2).transpose(1, 0, 2)
    count = sum(block.moving.sum(axis=0) for block in blocks)
    stacked = np.concatenate([old.factors, new], axis=1)
    return QRFactors(_triangular(stacked), old.rows + count)


def _triangular(stacked: Array) -> Array:
    # One by one: NumPy before 1.22, which Humble has, takes no stacks.
    return np.stack([np.linalg.qr(rows, mode='r') for rows in stacked])
