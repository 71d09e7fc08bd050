"""Blocks of time, each predicted by fits to the others: unconstrained and possible ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid_ros.arrays import Array
from dynid_ros.model.possible_estimate import PossibleEstimate
from dynid_ros.model.standard_parameters import inverse
from dynid_ros.regression.qr_factors import QRFactors

#: Standard errors over the blocks, and ratio of root mean squares in their geometric mean, beyond
#: which the possible parameters predict clearly worse.
STANDARD_ERRORS, CLEARLY_WORSE = 2.0, 1.1
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class BlockErrors:
    """
    Squared torque of K blocks and its part that fits to the other blocks leave.

    Attributes
    ----------
    torque, free, possible : (K, n) ndarray
        All of it, and what the unconstrained and the possible parameters leave, Nm².
    explained : (n,) ndarray
        Sum of the variances of the predictions by the covariance of the parameters, Nm².
    counts : (n,) ndarray
        Rows of each joint.

    """

    torque: Array
    free: Array
    possible: Array
    explained: Array
    counts: Array

    @property
    def growth(self) -> Array:
        """Root mean squares that possible parameters leave, relative to free ones, (K,)."""
        return np.asarray(np.sqrt(
            np.maximum(self.possible.sum(axis=1), TINY) / np.maximum(self.free.sum(axis=1), TINY)))

    @property
    def clearly_worse(self) -> bool:
        """Whether the possible parameters predict worse, by much and by more than chance."""
        logs = np.log(self.growth)
        error = float(logs.std(ddof=1) / np.sqrt(len(logs)))
        return bool(logs.mean() > max(np.log(CLEARLY_WORSE), STANDARD_ERRORS * error))

    @property
    def remark(self) -> str:
        """Warn that the possible parameters predict worse, and of what may cause it."""
        more = 100 * (np.exp(np.log(self.growth).mean()) - 1)
        return (f'no physically possible parameters predict as well: they leave {more:.0f} % more '
                'torque in blocks that were not fitted; check the drive gains, the kinematics, '
                'and couplings between joints')

    def sigma(self, left: Array, least: Array) -> Array:
        """
        Error of the model itself, beside that of its parameters.

        Errors of the model, such as friction that differs from its terms, take part in the
        parameters of a fit, and show in a block that was not fitted. The part that the covariance
        explains is taken off, since predictions add it for their own states.

        Parameters
        ----------
        left : (n,) ndarray
            Squared torque that fits leave of blocks that were not fitted, Nm².
        least : (n,) ndarray
            Standard deviation of the residual of each joint, Nm.

        Returns
        -------
        (n,) ndarray
            Standard deviation, no less than ``least``, Nm.

        References
        ----------
        Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 7.10.

        """
        # A fit to the others has fewer samples than the model.
        explained = self.explained * len(self.free) / (len(self.free) - 1)
        variance = (left - explained) / np.maximum(self.counts, 1)
        return np.asarray(np.sqrt(np.maximum(variance, least**2)))


def block_errors(
    blocks: Sequence[QRFactors], sigma: Array, prior: Array, covariance: Array,
    found: PossibleEstimate, whole: Array | None = None,
) -> BlockErrors:
    """
    Predict each of several consecutive blocks of time by fits to the others.

    Parameters
    ----------
    blocks : sequence of QRFactors
        Rows of the blocks.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.
    prior : (k, b + 1) ndarray
        Rows of the prior.
    covariance : (b, b) ndarray
        Of the model's base parameters.
    found : PossibleEstimate
        Possible parameters of all rows.
    whole : (b + 1, b + 1) ndarray, optional
        Sums of products of all rows ``[W tau]``, weighted, where the blocks are not all of them.

    """
    b = prior.shape[1] - 1
    sizes = 1 / sigma[:, None, None]
    stacked = [(block.factors * sizes).reshape(-1, b + 1) for block in blocks]
    products = [rows.T @ rows for rows in stacked]
    known = prior.T @ prior[:, :b]
    whole = np.sum(products, axis=0) if whole is None else whole
    free, possible, explained = [], [], np.zeros(len(sigma))
    for block, own in zip(blocks, products, strict=True):
        others = whole - own
        information, score = others[:b, :b], others[:b, b]
        theta = inverse(information + known[:b]) @ (score + known[b])
        free.append(block.residual_squares(theta))
        values = found.fit.solve(
            information / found.colour, score / found.colour, found.values)
        possible.append(block.residual_squares(found.fit.prior.grouping @ values))
        W = block.factors[:, :, :-1]
        explained += np.einsum('jrb,bc,jrc->j', W, covariance, W, optimize=True)
    return BlockErrors(
        np.array([block.torque_squares() for block in blocks]), np.array(free),
        np.array(possible), explained, np.sum([block.rows for block in blocks], axis=0))
