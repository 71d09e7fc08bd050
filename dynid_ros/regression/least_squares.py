"""Least squares of the rank that the rows have."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dtrtri

from dynid_ros.compiled import kernel, sum_kernel
from dynid_ros.dynamics.base import RANK_TOLERANCE

Array = NDArray[np.float64]

#: Rows of a Cholesky factor that are eliminated at once.
PIVOTS = 4


class LeastSquares:
    """
    Least squares ``W theta = tau`` of the rank that the rows have.

    Columns are brought to unit length, so that the rank does not depend on units. Of the vectors
    that fit equally well, the shortest one in that scale is taken.

    Parameters
    ----------
    W : (m, b) ndarray
        Regressor, the rows weighted.
    scale : (b,) array_like, optional
        Divisor of each column; its length if not given. A column that is nothing beside
        the longest one counts as zero.
    tolerance : float
        Singular value of the scaled columns, by the largest one, up to which a direction is open.

    Attributes
    ----------
    torque_basis : (m, r) ndarray
        Orthonormal basis of the torques that parameters can make.
    half : (b, r) ndarray
        Square root of the covariance: ``half halfᵀ`` is that of theta for rows with white noise
        of variance 1.
    undetermined : (b,) ndarray of bool
        Parameters with a part in an open direction.

    """

    torque_basis: Array
    half: Array
    undetermined: NDArray[np.bool_]

    def __init__(
        self, W: Array, scale: ArrayLike | None = None, tolerance: float = RANK_TOLERANCE,
    ) -> None:
        if scale is None:
            norms = np.linalg.norm(W, axis=0)
            scale = np.where(norms > tolerance * norms.max(), norms, np.inf)
        scale = np.asarray(scale, dtype=float)
        certain = _full_rank(W / scale, tolerance)
        if certain is not None:
            self.torque_basis, inverse = certain
            self.half = inverse / scale[:, None]
            self.undetermined = np.zeros(len(scale), dtype=np.bool_)
            return
        U, singular, V = np.linalg.svd(W / scale, full_matrices=False)
        kept = singular > tolerance * singular[0]
        self.torque_basis = U[:, kept]
        self.half = V[kept].T / singular[kept] / scale[:, None]
        # Rounding alone gives any parameter a part of the order of 1e-16 (squared: 1e-32).
        open_part = 1.0 - (V[kept] ** 2).sum(axis=0)
        self.undetermined = (
            (open_part > max(tolerance**2, RANK_TOLERANCE)) | np.isinf(scale))

    def solve(self, tau: Array) -> Array:
        """Find the parameters (b,) of torques (m,)."""
        return np.asarray(self.half @ (self.torque_basis.T @ tau))

    @property
    def covariance(self) -> Array:
        """Covariance (b, b) of the parameters for white noise of variance 1."""
        return np.asarray(self.half @ self.half.T)


def _full_rank(W: Array, tolerance: float) -> tuple[Array, Array] | None:
    """
    Decompose ``W = Q R`` where all directions are certain to be determined.

    Returns
    -------
    Q : (m, b) ndarray
        Orthonormal.
    inverse : (b, b) ndarray
        Of R. None instead of both if a singular value may be below the tolerance: those of a
        matrix of full rank, which is the usual case, would take three times as long.

    """
    if len(W) < W.shape[1] or not np.isfinite(W).all():
        return None
    if len(W) == W.shape[1] and not np.tril(W, -1).any():
        Q, R = np.eye(len(W)), W
    else:
        Q, R = np.linalg.qr(W)
    inverse, failed = dtrtri(R)
    # Frobenius norms bound the largest singular value by the smallest one from above.
    if failed or np.linalg.norm(R) * np.linalg.norm(inverse) * tolerance >= 1:
        return None
    return Q, inverse


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
