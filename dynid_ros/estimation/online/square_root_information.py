# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Compiled updates of square-root information: rows are rotated into triangular factors.

Factors are upper triangular, of rows ``[w tau]``; the last column belongs to tau. Leading zeros of
a row, as for joints near the tool, cost nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel


@kernel
def absorb(factor: Array, row: Array) -> None:
    """
    Add one row by Givens rotations.

    Parameters
    ----------
    factor : (b + 1, b + 1) or (b, b + 1) ndarray
        Updated; without its last row the residual is left out.
    row : (b + 1,) ndarray
        Destroyed.

    References
    ----------
    Golub and Van Loan, Matrix Computations, section 5.1.8.

    """
    for c in range(factor.shape[0]):
        line, square = factor[c], row[c] * row[c]
        if square == 0.0:
            continue
        # Twice as fast as hypot, whose protection from overflow no row needs.
        r = np.sqrt(line[c] * line[c] + square)
        cosine, sine = line[c] / r, row[c] / r
        for j in range(c, row.size):
            old, new = line[j], row[j]
            line[j] = cosine * old + sine * new
            row[j] = cosine * new - sine * old


@kernel
def forget(factor: Array, row: Array, keep: float) -> None:
    """
    Forget the information of the factor on the quantity measured by the next row.

    Only information of the form ``w wᵀ`` is removed (Kulhavý 1987, Restricted exponential
    forgetting in real-time identification, Automatica 23), at most a share of ``1 - keep`` of it,
    and never more than the row adds: the information never shrinks in any direction, and the
    estimate does not change.

    Parameters
    ----------
    factor : (m, b + 1) ndarray
        Updated by a downdate with orthogonal rotations (LINPACK's dchdd).
    row : (b + 1,) ndarray
        Row that will be absorbed next.
    keep : float
        Share to keep, 0 to 1.

    """
    b = factor.shape[1] - 1
    # Solve factorᵀ x = row: x·x is the variance of the predicted row, relative to its noise.
    x, rest, variance = np.zeros(b), row.copy(), 0.0
    for c in range(b):
        if rest[c] == 0.0:
            continue
        if factor[c, c] == 0.0:
            # The factor has no information on this row.
            return
        x[c] = rest[c] / factor[c, c]
        variance += x[c] * x[c]
        for j in range(c + 1, b):
            rest[j] -= x[c] * factor[c, j]
    if variance == 0.0:
        return
    share = min(1.0 - keep, variance)
    x *= np.sqrt(share / variance)
    alpha = np.sqrt(1.0 - share)
    removed = np.zeros(b + 1)
    for i in range(b - 1, -1, -1):
        if x[i] == 0.0:
            continue
        norm = np.hypot(alpha, x[i])
        cosine, sine = alpha / norm, x[i] / norm
        alpha = norm
        for j in range(i, b + 1):
            old = factor[i, j]
            factor[i, j] = cosine * old - sine * removed[j]
            removed[j] = cosine * removed[j] + sine * old


@kernel
def absorb_rows(
    factors: Array, W: Array, tau: Array, moving: NDArray[np.bool_], keep: Array
) -> None:
    """
    Absorb rows of all joints.

    Parameters
    ----------
    factors : (n, b + 1, b + 1) ndarray
        One factor for each joint; updated.
    W, tau : (k, n, b) and (k, n) ndarray
        Rows.
    moving : (k, n) ndarray of bool
        Which rows count.
    keep : (n,) ndarray
        Share of the information of each joint that is kept from row to row, in the direction of
        the row; 1 for all.

    """
    samples, n, b = W.shape
    row = np.empty(b + 1)
    for k in range(samples):
        for i in range(n):
            if not moving[k, i]:
                continue
            # A slice would take two seconds to compile.
            for c in range(b):
                row[c] = W[k, i, c]
            row[b] = tau[k, i]
            if keep[i] < 1.0:
                forget(factors[i], row, keep[i])
            absorb(factors[i], row)
