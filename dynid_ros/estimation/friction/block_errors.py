"""Blocks of time, each predicted by fits to the others: unconstrained and possible ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid_ros.estimation.friction.folds import Folds, growth, STANDARD_ERRORS
from dynid_ros.estimation.model.standard_parameters import StandardParameters
from dynid_ros.estimation.regression.qr_factors import QRFactors
from dynid_ros.utilities.arrays import Array

#: Ratio of root mean squares, in the geometric mean over the blocks, beyond which the possible
#: parameters predict clearly worse.
CLEARLY_WORSE = 1.1


@dataclass(frozen=True, eq=False)
class BlockErrors:
    """
    Squared torque that fits to the other blocks leave of K blocks.

    Attributes
    ----------
    free, possible : (K, n) ndarray
        By the unconstrained and by the possible parameters, Nm².
    explained : (n,) ndarray
        Sum of the variances of the predictions by the covariance of the parameters, Nm².
    counts : (n,) ndarray
        Rows of each joint.

    """

    free: Array
    possible: Array
    explained: Array
    counts: Array

    @property
    def growth(self) -> tuple[float, float]:
        """Compare what possible parameters leave with what free ones leave; see `growth`."""
        return growth(self.possible.sum(axis=1), self.free.sum(axis=1))

    @property
    def clearly_worse(self) -> bool:
        """Whether the possible parameters predict worse, by much and by more than chance."""
        mean, standard_error = self.growth
        return bool(mean > max(np.log(CLEARLY_WORSE), STANDARD_ERRORS * standard_error))

    @property
    def remark(self) -> str:
        """Warn that the possible parameters predict worse, and of what may cause it."""
        more = 100 * (np.exp(self.growth[0]) - 1)
        return (f'no physically possible parameters predict as well: they leave {more:.0f} % more '
                'torque in blocks that were not fitted; check the drive gains, the kinematics, '
                'and couplings between joints')

    def sigma(self, left: Array, least: Array) -> Array:
        """
        Error of the model itself, beside the error of its parameters.

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
    found: StandardParameters, whole: Array | None = None,
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
    found : StandardParameters
        Possible parameters of all rows.
    whole : (b + 1, b + 1) ndarray, optional
        Sums of products of all rows ``[W tau]``, weighted, where the blocks are not all of them.

    """
    folds = Folds(blocks, sigma, whole)
    possible = [
        found.prior.grouping @ found.nearest(information / found.colour, score / found.colour)
        for information, score in zip(folds.information, folds.score, strict=True)]
    explained = np.zeros(len(sigma))
    for block in blocks:
        W = block.factors[:, :, :-1]
        explained += np.einsum('jrb,bc,jrc->j', W, covariance, W, optimize=True)
    return BlockErrors(folds.predicted(prior), folds.left(np.array(possible)), explained,
                       np.sum([block.rows for block in blocks], axis=0))
