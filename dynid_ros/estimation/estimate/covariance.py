"""Covariance of an estimate by its changes where one group of its rows is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid_ros.dynamics.base import ROUNDING
from dynid_ros.estimation.blocks.least_squares import inverse_of
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.utilities.arrays import Array

#: Half of a 95 % interval in standard deviations of a normal distribution.
NORMAL = 1.96
#: Share of the covariance that follows from the changes of each single parameter. The rest has the
#: mean of their changes by those of white residuals: with ten groups, the one has little bias and
#: the other little variance.
OWN_SHARE = 0.5
#: Share of the variance of a parameter that must come from its rows for it to show their colour.
FROM_ROWS = 0.5
#: Least information that rounding leaves beside a group, by that of all rows.
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
        Variance of the parameters by that of white residuals: how many rows count as one.

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
    changes = whitened_changes(parts, solution) if any(part.rows.any() for part in parts) else (
        np.zeros((0, len(solution.theta))))
    return scatter_of(changes, solution)


def whitened_changes(parts: Sequence[Products], solution: Solution) -> Array:
    """
    Change of an estimate without each group, in coordinates in which its white covariance is one.

    Parameters
    ----------
    parts, solution
        As for `group_scatter`.

    Returns
    -------
    (K, b) ndarray
        ``half⁻¹ (theta - theta_k)`` of the K groups that have rows, the weights of joints kept.

    """
    half = solution.half
    own = [part.weighted(solution.sigma)[:-1] for part in parts if part.rows.any()]
    # The rows may have the load of another estimate, and its weights are settled only nearly.
    # Without a group that alone shows a parameter, the smallest difference would count for much.
    normal = np.sum(own, axis=0) + solution.prior[:, :-1].T @ solution.prior
    matrix = half.T @ normal[:, :-1] @ half
    off = half.T @ (normal @ np.append(-solution.theta, 1.0))
    theta = solution.theta + half @ np.linalg.solve(matrix, off)
    return np.array([_change(each, half, theta, matrix) for each in own])


def change_without(part: Products, solution: Solution) -> Array:
    """Change of an estimate without one of many groups, (b,), of which the others are unknown."""
    if not part.rows.any():
        return np.zeros_like(solution.theta)
    normal = part.weighted(solution.sigma)[:-1]
    return _change(
        normal, solution.half, solution.theta, np.eye(len(solution.theta)), ROUNDING)


def _change(
    normal: Array, half: Array, theta: Array, matrix: Array, least: float = LEAST,
) -> Array:
    """Change of theta without the normal equations (b, b + 1) of a group, (b,), whitened."""
    score = half.T @ (normal @ np.append(-theta, 1.0))
    left, axes = np.linalg.eigh(matrix - half.T @ normal[:, :-1] @ half)
    return np.asarray(axes @ ((axes.T @ score) / np.maximum(left, least)))


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
