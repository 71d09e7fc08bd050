# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Covariance of an estimate by a jackknife over groups of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.utilities.arrays import Array, inverse_of

#: Half of a 95 % interval in standard deviations of a normal distribution.
INTERVAL = 1.96
#: Weight of the jackknife in the covariance. The rest is the white covariance times the mean
#: inflation: with ten groups, the jackknife has little bias and the mean little variance. Pairs of
#: recordings of the field arms chose it; halves of UR10, Panda and TX40, which were not used, have
#: the same coverage with 0 and 1.
JACKKNIFE_SHARE = 0.5
#: Least share of the variance from rows for a parameter to count in the mean inflation.
FROM_ROWS = 0.5
#: Rounding of the information of the other groups and the prior, relative to that of all.
INFORMATION_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Scatter:
    """
    Scatter of the rows of a fit, for any correlation of residuals within groups.

    Attributes
    ----------
    root : (m, b) ndarray
        Square root S of the covariance ``Sᵀ S`` of the score.
    colour : float
        Mean ratio of the variance of the parameters to that for white residuals: this many rows
        carry the information of one.

    """

    root: Array
    colour: float

    def covariance(self, solution: Solution, prior_scale: Array | float = 1.0) -> Array:
        """
        Return the covariance of an estimate, (b, b), its prior included.

        Parameters
        ----------
        solution : Solution
            The estimate.
        prior_scale : (b,) ndarray or float
            Factors of the standard deviations due to the prior.

        """
        rows = np.concatenate([self.root, solution.prior[:, :-1] * prior_scale]) @ solution.half
        half = rows @ solution.half.T
        return np.asarray(half.T @ half)


def group_scatter(
    parts: Sequence[QRFactors], solution: Solution, freedom: float = np.inf,
) -> Scatter:
    """
    Compute the scatter of a fit from its groups.

    Parameters
    ----------
    parts : sequence of QRFactors
        The rows that were fitted, by group.
    solution : Solution
        The fit to all of them.
    freedom : float
        As for `scatter_of`.

    """
    return scatter_of(whitened_changes(
        parts, solution.theta, solution.sigma, solution.half, solution.prior), solution, freedom)


def whitened_changes(
    parts: Sequence[QRFactors], theta: Array, sigma: Array, half: Array, prior: Array,
) -> Array:
    """
    Change of an estimate without each group, in coordinates that whiten its covariance.

    Parameters
    ----------
    parts : sequence of QRFactors
        The rows that were fitted, by group.
    theta : (b,) ndarray
        Estimate from all of them.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, which fixes the weights, Nm.
    half : (b, b) ndarray
        Upper triangle whose square is the covariance for white residuals.
    prior : (k, b + 1) ndarray
        Rows ``[w tau]`` of the prior.

    Returns
    -------
    (K, b) ndarray
        ``half⁻¹ (theta - theta_k)`` of the K groups that have rows.

    """
    groups = [part.normal(sigma) for part in parts if part.rows.any()]
    if not groups:
        return np.zeros((0, len(theta)))
    # Refine the estimate for these rows and weights: without a group that alone determines a
    # parameter, the smallest gradient would cause a large change.
    normal = np.sum(groups, axis=0) + prior[:, :-1].T @ prior
    matrix = half.T @ normal[:, :-1] @ half
    gradient = half.T @ (normal @ np.append(-theta, 1.0))
    theta = theta + half @ np.linalg.solve(matrix, gradient)
    changes = []
    for products in groups:
        eigenvalues, axes = np.linalg.eigh(matrix - half.T @ products[:, :-1] @ half)
        score = half.T @ (products @ np.append(-theta, 1.0))
        changes.append(axes @ ((axes.T @ score) / np.maximum(eigenvalues, INFORMATION_ROUNDING)))
    return np.array(changes)


def scatter_of(changes: Array, solution: Solution, freedom: float = np.inf) -> Scatter:
    """
    Compute the scatter from the change that each group makes.

    Parameters
    ----------
    changes : (K, b) ndarray
        From `whitened_changes`.
    solution : Solution
        The fit to all rows.
    freedom : float
        Degrees of freedom, where the groups share the information so unevenly that there are
        fewer than K - 1.

    Returns
    -------
    Scatter
        Inflated so that 1.96 standard deviations are the 95 % interval of Student's t with K - 1
        degrees of freedom, or fewer; that of white residuals for fewer than two groups.

    Notes
    -----
    The jackknife ``(K-1)/K Σ (theta - theta_k)(theta - theta_k)ᵀ`` allows any correlation of
    residuals within groups, and accounts for the noise that the fit absorbs.

    References
    ----------
    MacKinnon, Nielsen and Webb 2023, Cluster-robust inference: a guide to empirical practice,
    Journal of Econometrics 232, section 2 (CV3). Bell and McCaffrey 2002, Bias reduction in
    standard errors for linear regression with multi-stage samples, Survey Methodology 28(2).

    """
    from scipy.special import stdtrit

    count, R = len(changes), solution.root_information
    if count < 2:
        return Scatter(R, 1.0)
    spread = (changes @ solution.half.T) * np.sqrt((count - 1) / count)
    white = ((R @ solution.half @ solution.half.T)**2).sum(axis=0)
    from_rows = white >= FROM_ROWS * (solution.half**2).sum(axis=1)
    ratio = (spread**2).sum(axis=0)[from_rows] / white[from_rows]
    inflation = float(ratio.mean()) if from_rows.any() else 1.0
    wider = float(stdtrit(min(count - 1, freedom), 0.975)) / INTERVAL
    jackknife = (np.sqrt(JACKKNIFE_SHARE * (count - 1) / count)
                 * changes @ inverse_of(solution.half))
    mean = np.sqrt((1 - JACKKNIFE_SHARE) * inflation) * R
    # Negative correlation must not narrow the error bars.
    return Scatter(wider * np.concatenate([jackknife, mean]), max(1.0, inflation))
