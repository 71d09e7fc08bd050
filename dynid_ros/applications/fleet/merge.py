"""Merging of bags: one fit to all, error bars clustered by bag, and the friction of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.blocks.least_squares import inverse_of
from dynid_ros.estimation.blocks.products import Products
from dynid_ros.estimation.blocks.qr_factors import QRFactors, stack
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.utilities.arrays import Array

Places = NDArray[np.intp]

#: Bags whose factors are stacked at once: fewer repeat the factorisation, more only take memory.
TOGETHER = 16


def merged(parts: Iterable[QRFactors]) -> QRFactors:
    """
    Merge the factors of bags, in any order.

    Parameters
    ----------
    parts : iterable of QRFactors
        Of the same columns; they are read one after the other.

    Returns
    -------
    QRFactors
        Of all rows; empty without any bag.

    """
    waiting: list[QRFactors] = []
    for part in parts:
        waiting.append(part)
        if len(waiting) == TOGETHER:
            waiting = [stack(waiting)]
    return stack(waiting) if waiting else QRFactors.empty(0, 0)


def changes(parts: Iterable[QRFactors], solution: Solution) -> tuple[Array, Array]:
    """
    Return the change of a fit without each bag, and the residuals of the bag then.

    Parameters
    ----------
    parts : iterable of QRFactors
        The B bags that were fitted.
    solution : Solution
        The fit to all of them.

    Returns
    -------
    changes : (B, b) ndarray
        As of `whitened_changes`; the other bags may lie on other machines.
    left_out_squares : (B, n) ndarray
        Squared residuals of each joint, the bag predicted by the fit to all others, Nm².

    """
    found, left, half = [], [], solution.half
    for part in parts:
        normal = Products.of(part).weighted(solution.sigma)[:-1]
        # theta less that without the bag, (N - A)⁻¹ s, by the bag's normal matrix A and all N.
        system = np.eye(len(solution.theta)) - half.T @ normal[:, :-1] @ half
        own = np.linalg.solve(system, half.T @ (normal @ np.append(-solution.theta, 1.0)))
        found.append(own)
        left.append(part.residual_squares(solution.theta - half @ own))
    return np.array(found), np.array(left)


def eliminated(
    part: QRFactors, own: Places, sigma: Array, prior: Array,
) -> tuple[Array, Array]:
    """
    Eliminate the parameters that belong to one bag.

    Parameters
    ----------
    part : QRFactors
        Factors of the bag.
    own : (f,) ndarray of int
        Columns of its own parameters.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.
    prior : (b, b + 1) ndarray
        Prior of all parameters, as of `Solution`: its row of each own parameter counts.

    Returns
    -------
    own_rows : (f, f + s + 1) ndarray
        Rows that give the own parameters once the s shared ones are known.
    shared_rows : (m, s + 1) ndarray
        Rows of the shared parameters: the triangular factor of the Schur complement.

    """
    b = part.factors.shape[2] - 1
    shared = np.setdiff1d(np.arange(b), own)
    order = np.concatenate([own, shared, [b]])
    rows = part.weighted(sigma)
    R = np.asarray(np.linalg.qr(np.concatenate([rows, prior[own]])[:, order], mode='r'))
    return R[:len(own)], R[len(own):, len(own):]


def solve_shared(rows: Sequence[Array], own: Places, prior: Array) -> Array:
    """
    Solve the rows of the shared parameters of several bags, or of several such triangles.

    Parameters
    ----------
    rows : sequence of (m, s + 1) ndarray
        As `eliminated` gives them.
    own, prior
        As for it: the rows of the prior of each shared parameter count.

    Returns
    -------
    (s,) ndarray
        The same as of one fit with all own parameters beside each other.

    """
    known = np.delete(np.delete(prior, own, axis=0), own, axis=1)
    R = np.asarray(np.linalg.qr(np.concatenate([*rows, known]), mode='r'))
    return np.asarray(inverse_of(R[:-1, :-1]) @ R[:-1, -1])


def shared_rows(parts: Iterable[QRFactors], own: Places, sigma: Array, prior: Array) -> Array:
    """Compress the rows that `eliminated` leaves of the shared parameters of some bags."""
    rows = [eliminated(part, own, sigma, prior)[1] for part in parts]
    return np.asarray(np.linalg.qr(np.concatenate(rows), mode='r'))


def own_frictions(
    parts: Iterable[QRFactors], own: Places, sigma: Array, prior: Array, shared: Array,
) -> tuple[Array, Array, Array]:
    """
    Return the own parameters of each bag, given the shared ones.

    Returns
    -------
    values : (B, f) ndarray
        Coefficients in the order of `friction_places`.
    std : (B, f) ndarray
        Their standard deviations for white residuals of the shared fit.
    data_share : (B, f) ndarray
        Share by which the bag reduces the variance that each has in the prior.

    """
    f, values, variances = len(own), [], []
    for part in parts:
        rows, _ = eliminated(part, own, sigma, prior)
        half = inverse_of(rows[:, :f])
        values.append(half @ (rows[:, -1] - rows[:, f:-1] @ shared))
        variances.append((half**2).sum(axis=1))
    before = (np.linalg.inv(prior[np.ix_(own, own)])**2).sum(axis=1)
    return np.array(values), np.sqrt(variances), 1 - np.array(variances) / before
