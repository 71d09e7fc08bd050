"""Weighted least squares on compressed rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.errors import RecordingError
from dynid_ros.regression.qr_factors import QRFactors

Array = NDArray[np.float64]

ITERATIONS = 50
SETTLED = 1e-6
DEPENDENT = 1e-9


@dataclass(frozen=True)
class Solution:
    """
    Weighted least-squares estimate.

    Attributes
    ----------
    theta : (b,) ndarray
        Base parameters; the minimum-norm solution if the rows are rank deficient.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.
    white_covariance : (b, b) ndarray
        ``(Wᵀ Σ⁻¹ W)⁻¹``: the covariance of theta assuming white residuals.
    undetermined : (b,) ndarray of bool
        Unidentifiable parameters, which the rows do not excite.
    condition_number : float
        Of the regressor without weights, in the 2-norm.

    """

    theta: Array
    sigma: Array
    white_covariance: Array
    undetermined: NDArray[np.bool_]
    condition_number: float


def solve(data: QRFactors) -> Solution:
    """
    Solve by weighted least squares, with the noise of each joint from its residuals.

    Weights and estimate are iterated to convergence; each step is a QR factorisation of the
    compressed rows, never the normal equations.

    Parameters
    ----------
    data : QRFactors
        Rows of each joint.

    Returns
    -------
    Solution
        Estimate, with the factors for its covariance.

    Raises
    ------
    RecordingError
        There are fewer rows than parameters.

    References
    ----------
    Gautier 1997, Dynamic identification of robots with power model, eq. 10 to 14.

    """
    n, b = len(data.factors), data.factors.shape[2] - 1
    rows = int(data.rows.sum())
    if rows <= b:
        raise RecordingError(
            f'{rows} rows are left after filtering, without joints at rest: too few '
            f'for {b} parameters; record a longer motion, or raise the cut-off'
        )
    sigma = np.ones(n)
    for _ in range(ITERATIONS):
        theta, white_covariance, undetermined = _least_squares(data.factors / sigma[:, None, None])
        squares = data.residual_squares(theta) / np.maximum(data.rows * (1 - b / rows), 1)
        # A joint with zero residual would get infinite weight.
        floor = 1e-12 * data.torque_squares().sum() / rows
        previous, sigma = sigma, np.sqrt(np.maximum(squares, max(floor, np.finfo(float).tiny)))
        if np.abs(sigma / previous - 1).max() < SETTLED:
            break
    singular = np.linalg.svd(data.factors[:, :, :-1].reshape(-1, b), compute_uv=False)
    smallest = singular[-1] if singular[-1] > DEPENDENT * singular[0] else 0.0
    condition = float(singular[0] / smallest) if smallest else float('inf')
    return Solution(theta, sigma, white_covariance, undetermined, condition)


def _least_squares(factors: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    b = factors.shape[2] - 1
    R = np.asarray(np.linalg.qr(factors.reshape(-1, b + 1), mode='r'))
    W, tau = R[:b, :b], R[:b, b]
    norms = np.linalg.norm(W, axis=0)
    scale = np.where(norms > DEPENDENT * norms.max(), norms, np.inf)
    U, singular, V = np.linalg.svd(W / scale)
    kept = singular > DEPENDENT * singular[0]
    inverse = np.where(kept, 1 / np.where(kept, singular, 1.0), 0.0)
    half = (V.T * inverse) / scale[:, None]
    loose = (V[~kept] ** 2).sum(axis=0) > DEPENDENT
    return half @ (U.T @ tau), half @ half.T, loose | np.isinf(scale)
