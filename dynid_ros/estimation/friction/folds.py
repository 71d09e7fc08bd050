"""Blocks of time, each predicted by a fit to the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid_ros.estimation.regression.qr_factors import QRFactors
from dynid_ros.utilities.arrays import Array

#: Standard errors over the blocks beyond which a difference is more than chance.
STANDARD_ERRORS = 2.0
TINY = float(np.finfo(float).tiny)


class Folds:
    """
    Blocks of time, and the normal equations of the rows beside each of them.

    Parameters
    ----------
    blocks : sequence of QRFactors
        Rows of K blocks.
    sigma : (n,) ndarray
        Residual by which each joint is weighted, Nm.
    whole : (b + 1, b + 1) ndarray, optional
        Sums of products of all rows ``[W tau]``, weighted, where the blocks are not all of them.

    Attributes
    ----------
    information, score : (K, b, b) and (K, b) ndarray
        Of the rows beside each block, weighted.

    """

    def __init__(
        self, blocks: Sequence[QRFactors], sigma: Array, whole: Array | None = None,
    ) -> None:
        self._blocks = blocks
        b = blocks[0].factors.shape[2] - 1
        rows = [block.weighted(sigma) for block in blocks]
        products = np.array([own.T @ own for own in rows])
        others = (products.sum(axis=0) if whole is None else whole) - products
        self.information, self.score = others[:, :b, :b], others[:, :b, b]

    def predicted(self, prior: Array) -> Array:
        """
        Predict each block by a fit to the others beside the rows of a prior.

        Parameters
        ----------
        prior : (k, b + 1) ndarray
            Rows ``[w tau]`` of unit noise.

        Returns
        -------
        (K, n) ndarray
            Squared torque of each joint that is left, Nm².

        """
        return self.left(self.fits(prior))

    def fits(self, prior: Array) -> Array:
        """Fit the rows beside each block, and beside the rows of a prior, (K, b)."""
        known = prior[:, :-1].T @ prior
        information = self.information + known[:, :-1]
        score = (self.score + known[:, -1])[..., None]
        try:
            theta = np.linalg.solve(information, score)
        except np.linalg.LinAlgError:
            # Rows of an effort that is zero throughout outweigh the prior beyond rounding.
            theta = np.linalg.pinv(information, hermitian=True) @ score
        return np.asarray(theta[..., 0])

    def left(self, theta: Array) -> Array:
        """Squared torque of each joint (K, n), Nm², that parameters (K, b) leave of each block."""
        return np.array([block.residual_squares(own)
                         for block, own in zip(self._blocks, theta, strict=True)])


def growth(left: Array, before: Array) -> tuple[float, float]:
    """
    Compare what two models leave of blocks that they were not fitted to.

    Parameters
    ----------
    left, before : (K,) ndarray
        Sums of squares that the one and the other leave of each block.

    Returns
    -------
    mean, standard_error : float
        Logarithm of the ratio of root mean squares, over the blocks.

    """
    logs = np.log(np.maximum(left, TINY) / np.maximum(before, TINY)) / 2
    return float(logs.mean()), float(logs.std(ddof=1) / np.sqrt(len(logs)))
