"""Covariance of least squares by leaving out one block of time after the other."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dynid_ros.dynamics.base import ROUNDING
from dynid_ros.estimation.blocks.least_squares import LeastSquares
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.utilities.arrays import Array

#: Consecutive blocks with as many rows.
BLOCKS = 30
#: Half the width of a 95 % interval in standard deviations: Student's t with `BLOCKS` - 1 degrees
#: of freedom.
INTERVAL = 2.045


def block_jackknife(
    rows: Iterable[RowBlock], count: int, theta: Array, sigma: Array, fitted: LeastSquares,
    prior: Array,
) -> tuple[Array, Array]:
    """
    Covariance of an estimate by its changes where a block is left out.

    It holds for residuals that are correlated in time and among joints, and for a wrong model
    whose errors come and go. Unlike the covariance of Newey and West, it knows that a fit takes
    up a part of the noise: that part is large where rows are few and move slowly.

    Parameters
    ----------
    rows : iterable of RowBlock
        Rows that were fitted, in the order of time.
    count : int
        Their number, joints that move counted one by one.
    theta : (b,) ndarray
        Estimate.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint.
    fitted : LeastSquares
        Of the weighted rows beside the prior.
    prior : (k, b) ndarray
        Rows of the prior, of unit noise.

    Returns
    -------
    noise, prior : (b, b) ndarray
        Covariance that the rows give the estimate, and covariance from the prior; they add up.

    References
    ----------
    Bell and McCaffrey 2002, Bias reduction in standard errors for linear regression with
    multi-stage samples, Survey Methodology 28(2): the cluster-robust CR3.

    """
    r = fitted.half.shape[1]
    shares, scores = np.zeros((BLOCKS, r, r)), np.zeros((BLOCKS, r))
    done = 0
    for block in rows:
        W = block.W / sigma[:, None] @ fitted.half
        e = (block.tau - block.W @ theta) / sigma
        seen = done + np.cumsum(block.moving.sum(axis=1))
        done = int(seen[-1])
        number = np.minimum((seen - 1) * BLOCKS // max(count, 1), BLOCKS - 1)
        for k in np.unique(number):
            own = W[number == k].reshape(-1, r)
            shares[k] += own.T @ own
            scores[k] += own.T @ e[number == k].ravel()
    # In these coordinates rows and prior together have the identity as their normal matrix.
    left, axes = np.linalg.eigh(np.eye(r) - shares)
    along = np.einsum('gji,gj->gi', axes, scores) / np.maximum(left, ROUNDING)
    changes = np.einsum('gij,gj->gi', axes, along) @ fitted.half.T
    pulled = prior @ fitted.half @ fitted.half.T
    return (BLOCKS - 1) / BLOCKS * changes.T @ changes, pulled.T @ pulled
