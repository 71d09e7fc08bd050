"""Covariance of an estimate by its changes where one group of its rows is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid_ros.estimation.blocks.least_squares import inverse_of
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.utilities.arrays import Array

#: Half of a 95 % interval in standard deviations of a normal distribution.
NORMAL = 1.96
#: Share of the covariance that follows from the changes of each single parameter. The rest has the
#: mean of their changes by those of white residuals: with ten groups, the one has little bias and
#: the other little variance. It was chosen on pairs of recordings of the field arms. Halves of
#: UR10, Panda and TX40 played no part, and have the same coverage with 0 and 1.
OWN_SHARE = 0.5
#: Share of the variance of a parameter that must come from its rows for it to show their colour.
FROM_ROWS = 0.5
#: Rounding of the information that the other groups and the prior have, relative to that of all.
LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Scatter:
    """
    How the rows of a fit scatter, whatever their residuals have to do with each other.

    Attributes
    ----------
    root : (m, b) ndarray
        Its squares are the covariance of the score of the estimate.
    colour : float
        Ratio of the variance of the parameters to their variance for white residuals: that many
        rows carry the information of one.

    """

    root: Array
    colour: float

    def covariance(self, solution: Solution, relaxed: Array | float = 1.0) -> Array:
        """
        Return the covariance of an estimate, (b, b), its prior included.

        Parameters
        ----------
        solution : Solution
            The estimate.
        relaxed : (b,) ndarray or float
            Factors of the standard deviations that the prior gives.

        """
        rows = np.concatenate([self.root, solution.prior[:, :-1] * relaxed]) @ solution.half
        half = rows @ solution.half.T
        return np.asarray(half.T @ half)


def group_scatter(parts: Sequence[Products], solution: Solution) -> Scatter:
    """
    Find the scatter of the groups of a fit.

    Parameters
    ----------
    parts : sequence of Products
        The rows that were fitted, by group.
    solution : Solution
        The fit to all of them.

    """
    return scatter_of(whitened_changes(
        parts, solution.theta, solution.sigma, solution.half, solution.prior), solution)


def whitened_changes(
    parts: Sequence[Products], theta: Array, sigma: Array, half: Array, prior: Array,
) -> Array:
    """
    Change of an estimate without each group, in coordinates in which its white covariance is one.

    Parameters
    ----------
    parts : sequence of Products
        The rows that were fitted, by group.
    theta : (b,) ndarray
        Estimate from all of them.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, whose weights are kept, Nm.
    half : (b, b) ndarray
        Upper triangle whose square is the covariance for white residuals.
    prior : (k, b + 1) ndarray
        Rows ``[w tau]`` of the prior.

    Returns
    -------
    (K, b) ndarray
        ``half⁻¹ (theta - theta_k)`` of the K groups that have rows.

    """
    own = [part.weighted(sigma)[:-1] for part in parts if part.rows.any()]
    if not own:
        return np.zeros((0, len(theta)))
    # The rows may have the load of another estimate, and its weights are settled only nearly.
    # Without a group that alone shows a parameter, the smallest difference would count for much.
    normal = np.sum(own, axis=0) + prior[:, :-1].T @ prior
    matrix = half.T @ normal[:, :-1] @ half
    off = half.T @ (normal @ np.append(-theta, 1.0))
    theta = theta + half @ np.linalg.solve(matrix, off)
    found = []
    for each in own:
        left, axes = np.linalg.eigh(matrix - half.T @ each[:, :-1] @ half)
        score = half.T @ (each @ np.append(-theta, 1.0))
        found.append(axes @ ((axes.T @ score) / np.maximum(left, LEAST)))
    return np.array(found)


def scatter_of(changes: Array, solution: Solution) -> Scatter:
    """
    Find the scatter of groups from the changes that each of them makes.

    Parameters
    ----------
    changes : (K, b) ndarray
        From `whitened_changes`.
    solution : Solution
        The fit to all rows.

    Returns
    -------
    Scatter
        Wide enough for intervals of 1.96 standard deviations to hold as those of Student's t with
        K - 1 degrees of freedom do; as of white residuals where there are fewer than two groups.

    Notes
    -----
    The jackknife ``(K-1)/K Σ (theta - theta_k)(theta - theta_k)ᵀ`` holds for residuals that are
    correlated in any way within groups, and knows that a fit takes up a part of the noise.

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
    known = white >= FROM_ROWS * (solution.half**2).sum(axis=1)
    ratio = (spread**2).sum(axis=0)[known] / white[known]
    inflation = float(ratio.mean()) if known.any() else 1.0
    wider = float(stdtrit(count - 1, 0.975)) / NORMAL
    own = np.sqrt(OWN_SHARE * (count - 1) / count) * changes @ inverse_of(solution.half)
    mean = np.sqrt((1 - OWN_SHARE) * inflation) * R
    # A row never counts for more than itself.
    return Scatter(wider * np.concatenate([own, mean]), max(1.0, inflation))
