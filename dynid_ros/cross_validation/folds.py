"""Blocks, each predicted by a fit to the others, reduced to the coefficients that are shrunk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from dynid_ros.arrays import Array
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.regression.qr_factors import QRFactors


class Folds:
    """
    Blocks, each predicted by a fit to the others, as a function of some coefficients alone.

    The free parameters are eliminated once from the normal equations of each fold, in which they
    are orthonormal beforehand: half of the digits are enough for what a prediction leaves.

    Parameters
    ----------
    blocks : sequence of QRFactors
        Rows of K blocks.
    sigma : (n,) ndarray
        Residual by which each joint is weighted, Nm.
    prior : ArmPrior
        Of the parameters.
    shrunk : (r,) ndarray of int
        Coefficients with a prior of their own around zero.
    unit : (r,) ndarray
        Its standard deviation at strength one.

    """

    def __init__(
        self, blocks: Sequence[QRFactors], sigma: Array, prior: ArmPrior,
        shrunk: NDArray[np.intp], unit: Array,
    ) -> None:
        b = blocks[0].factors.shape[2] - 1
        free = np.setdiff1d(np.arange(b), shrunk)
        c, order = len(free), np.concatenate([free, shrunk, [b]])
        rows = [(block.factors / sigma[:, None, None])[:, :, order] for block in blocks]
        known = np.zeros((1, c, b + 1))
        known[0][:, [*range(c), b]] = prior.rows(free)
        R = np.linalg.qr(np.concatenate(
            [own[:, :, :c].reshape(-1, c) for own in [*rows, known]]), mode='r')
        for own in [*rows, known]:
            own[:, :, c:b] *= unit
            own[:, :, :c] = solve_triangular(
                R, own[:, :, :c].reshape(-1, c).T, trans='T').T.reshape(own[:, :, :c].shape)
        by_joint = np.array([own.transpose(0, 2, 1) @ own for own in rows])
        blocked = by_joint.sum(axis=1)
        others = (known[0].T @ known[0]) + blocked.sum(axis=0) - blocked
        # What the free parameters are, given the others and -1: ``free = shift @ [x, -1]``.
        shift = -np.linalg.solve(others[:, :c, :c], others[:, :c, c:])
        schur = others[:, c:, c:] + others[:, c:, :c] @ shift
        self._matrix, self._right = schur[:, :-1, :-1], schur[:, :-1, -1]
        back = np.concatenate([shift, np.broadcast_to(
            np.eye(b + 1 - c), (len(rows), b + 1 - c, b + 1 - c))], axis=1)
        back = back[:, None]
        self._blocks = back.transpose(0, 1, 3, 2) @ by_joint @ back

    def left(self, strength: Array) -> Array:
        """
        Predict each block by a fit to the others.

        Parameters
        ----------
        strength : (r,) ndarray
            Standard deviations of the coefficients, relative to their unit; zero for none.

        Returns
        -------
        (K, n) ndarray
            Sum of the squared weighted residuals of each joint.

        """
        scaled = strength[:, None] * self._matrix * strength + np.eye(len(strength))
        found = strength * np.linalg.solve(scaled, (strength * self._right)[..., None])[..., 0]
        found = np.concatenate([found, np.full((len(found), 1), -1.0)], axis=1)
        return np.asarray(np.einsum('kr,kjrs,ks->kj', found, self._blocks, found, optimize=True))
