"""Merging of bags: one fit to all of them, with error bars clustered by bag."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dynid_ros.estimation.regression.qr_factors import QRFactors, stack
from dynid_ros.estimation.regression.weighted_least_squares import Solution
from dynid_ros.utilities.arrays import Array

#: Bags whose factors are stacked at once: fewer repeat the factorisation, more only take memory.
TOGETHER = 16


def merged(parts: Iterable[QRFactors]) -> QRFactors | None:
    """
    Merge the factors of bags, in any order.

    Parameters
    ----------
    parts : iterable of QRFactors
        Of the same columns; they are read one after the other.

    Returns
    -------
    QRFactors or None
        Those of all rows; None without any bag.

    """
    waiting: list[QRFactors] = []
    for part in parts:
        waiting.append(part)
        if len(waiting) == TOGETHER:
            waiting = [stack(waiting)]
    return stack(waiting) if waiting else None


@dataclass(frozen=True, eq=False)
class Clustered:
    """
    Sums over the bags of a fit.

    Attributes
    ----------
    meat : (b, b) ndarray
        ``sum_b s_b s_bᵀ`` of their scores.
    bags : int
        Number of bags.
    left_out_squares : (n,) ndarray
        Squared residuals of each joint, each bag predicted by the fit to all others, Nm².
    torque_squares : (n,) ndarray
        Squared torque of the same rows.

    """

    meat: Array
    bags: int
    left_out_squares: Array
    torque_squares: Array


def score(part: QRFactors, theta: Array, sigma: Array) -> Array:
    """
    Score of a bag, ``sum_i R_iᵀ (z_i - R_i theta) / sigma_i²``, (b,).

    The factors give that of the rows themselves, as ``RᵀR`` and ``Rᵀz`` are theirs.
    """
    R, z = part.factors[:, :, :-1], part.factors[:, :, -1]
    residual = (z - R @ theta) / sigma[:, None] ** 2
    return np.asarray(np.einsum('imb,im->b', R, residual))


def clustered(parts: Iterable[QRFactors], solution: Solution) -> Clustered:
    """
    Sum up scores and held-out residuals over the bags of a fit.

    Parameters
    ----------
    parts : iterable of QRFactors
        The bags that were fitted.
    solution : Solution
        The fit to all of them.

    Returns
    -------
    Clustered
        Its sums.

    """
    theta, sigma, bread = solution.theta, solution.sigma, solution.white_covariance
    meat = np.zeros_like(bread)
    left, torque, bags = np.zeros(len(sigma)), np.zeros(len(sigma)), 0
    for part in parts:
        own = score(part, theta, sigma)
        meat += np.outer(own, own)
        left += part.residual_squares(theta - _influence(part, own, sigma, bread))
        torque += part.torque_squares()
        bags += 1
    return Clustered(meat, bags, left, torque)


def _influence(part: QRFactors, own: Array, sigma: Array, bread: Array) -> Array:
    """
    Change of the estimate by a bag: ``theta - theta_without_it``, (b,).

    ``(N - A)⁻¹ s = P (I - A P)⁻¹ s`` with the bag's normal matrix A and ``P = N⁻¹``.
    """
    weighted = (part.factors[:, :, :-1] / sigma[:, None, None]).reshape(-1, len(own))
    system = np.eye(len(own)) - weighted.T @ (weighted @ bread)
    return np.asarray(bread @ np.linalg.solve(system, own))


def cluster_covariance(sums: Clustered, solution: Solution) -> Array:
    """
    Covariance of an estimate from the scatter of the bags.

    Parameters
    ----------
    sums : Clustered
        Scores of at least two bags.
    solution : Solution
        The fit to all of them.

    Returns
    -------
    (b, b) ndarray
        ``P (B/(B-1) sum_b s_b s_bᵀ + L) P`` with the information L of the prior: bags are
        independent, rows within one are not. With no more bags than parameters the sum has not
        the full rank, but the diagonal holds.

    References
    ----------
    Liang and Zeger 1986, Longitudinal data analysis using generalized linear models,
    Biometrika 73; Cameron and Miller 2015, A practitioner's guide to cluster-robust inference.

    """
    scatter = sums.bags / max(sums.bags - 1, 1) * sums.meat + solution.prior_information
    return np.asarray(solution.white_covariance @ scatter @ solution.white_covariance)
