# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Least squares with weak prior rows, which prevent singular systems."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dtrtri

from dynid_ros.utilities.arrays import Array

#: Prior rows of parameters of unknown scale, relative to the columns of the rows: far weaker than
#: any data, and far above rounding.
WEAK_PRIOR = 1e-7


class LeastSquares:
    """
    Least squares ``W theta = tau`` with a prior of zero mean.

    Parameters
    ----------
    W : (m, b) ndarray
        Regressor, the rows weighted to unit noise.
    prior : (k, b) ndarray, optional
        Rows whose Gram matrix is the information of the prior, which must determine all that W
        does not. By default one row a parameter, of `WEAK_PRIOR` times the norm of its column.

    Attributes
    ----------
    torque_basis : (m, b) ndarray
        ``torque_basis @ torque_basis.T`` projects torques onto the part that parameters explain.
    half : (b, b) ndarray
        Square root of the covariance: ``half halfᵀ`` is the covariance of theta for rows with
        white noise of variance 1.

    """

    def __init__(self, W: Array, prior: Array | None = None) -> None:
        if prior is None:
            lengths = np.linalg.norm(W, axis=0)
            longest = lengths.max(initial=0.0) or 1.0
            prior = np.diag(WEAK_PRIOR * np.where(lengths > 0, lengths, longest))
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
