"""Least squares with weak prior rows, which leave nothing singular."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dtrtri

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel, sum_kernel

#: Rows of a Cholesky factor that are eliminated at once.
PIVOTS = 4
#: Prior of parameters of unknown scale, relative to the columns of the rows: far below what any
#: data say, and far above rounding.
NEXT_TO_NOTHING = 1e-7


class LeastSquares:
    """
    Least squares ``W theta = tau`` beside a prior with an expectation of zero.

    Parameters
    ----------
    W : (m, b) ndarray
        Regressor, the rows weighted to unit noise.
    prior : (k, b) ndarray, optional
        Rows whose squares are the information of the prior, which must determine what W leaves
        open. By default one row for each parameter, of `NEXT_TO_NOTHING` of its column.

    Attributes
    ----------
    torque_basis : (m, b) ndarray
        ``torque_basis @ torque_basis.T`` takes the part of torques that parameters explain.
    half : (b, b) ndarray
        Square root of the covariance: ``half halfᵀ`` is that of theta for rows with white noise
        of variance 1.

    """

    def __init__(self, W: Array, prior: Array | None = None) -> None:
        if prior is None:
            lengths = np.linalg.norm(W, axis=0)
            longest = lengths.max(initial=0.0) or 1.0
            prior = np.diag(NEXT_TO_NOTHING * np.where(lengths > 0, lengths, longest))
        Q, R = np.linalg.qr(np.concatenate([W, prior]))
        self.torque_basis: Array = Q[:len(W)]
        self.half = inverse_of(R)

    def solve(self, tau: Array) -> Array:
        """Find the parameters (b,) of torques (m,)."""
        return np.asarray(self.half @ (self.torque_basis.T @ tau))

    @property
    def covariance(self) -> Array:
        """Covariance (b, b) of the parameters for white noise of variance 1."""
        return np.asarray(self.half @ self.half.T)


def inverse_of(R: Array) -> Array:
    """Inverse of an upper triangle without a zero on its diagonal."""
    return np.asarray(dtrtri(R)[0])


@kernel
def factorise(A: Array) -> None:
    """Replace a positive definite matrix (c, c), of which the upper half counts, by its factor."""
    c = A.shape[0]
    for first in range(0, c, PIVOTS):
        after = min(first + PIVOTS, c)
        for j in range(first, after):
            row = A[j]
            row[:j] = 0.0
            row[j] = np.sqrt(row[j])
            inverse = 1 / row[j]
            for i in range(j + 1, c):
                row[i] *= inverse
            for k in range(j + 1, after):
                below, share = A[k], row[k]
                for i in range(k, c):
                    below[i] -= share * row[i]
        if after < c:
            _eliminate(A, first)


@kernel
def _eliminate(A: Array, first: int) -> None:
    """Take four rows of a factor at once out of those below, which are read and written once."""
    c = A.shape[0]
    one, two, three, four = A[first], A[first + 1], A[first + 2], A[first + 3]
    for k in range(first + PIVOTS, c):
        below, p, q, r, s = A[k], one[k], two[k], three[k], four[k]
        if p != 0 or q != 0 or r != 0 or s != 0:
            for i in range(k, c):
                below[i] -= p * one[i] + q * two[i] + r * three[i] + s * four[i]


@sum_kernel
def solve_factorised(upper: Array, x: Array) -> None:
    """Replace the right side (c,) by the solution for the matrix ``upper.T @ upper``."""
    c = x.size
    for j in range(c):
        row = upper[j]
        x[j] /= row[j]
        for i in range(j + 1, c):
            x[i] -= row[i] * x[j]
    for j in range(c - 1, -1, -1):
        row, total = upper[j], 0.0
        for i in range(j + 1, c):
            total += row[i] * x[i]
        x[j] = (x[j] - total) / row[j]
