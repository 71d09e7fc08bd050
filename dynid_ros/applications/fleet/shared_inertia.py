"""Inertial parameters shared by all bags, while friction and offsets are those of each bag."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.regression.least_squares import inverse_of
from dynid_ros.estimation.regression.qr_factors import QRFactors
from dynid_ros.utilities.arrays import Array

Places = NDArray[np.intp]


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
    rows = (part.factors / sigma[:, None, None]).reshape(-1, b + 1)
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


def own_frictions(
    parts: Iterable[QRFactors], own: Places, sigma: Array, prior: Array, shared: Array,
) -> Iterator[tuple[Array, Array, Array]]:
    """
    Yield the own parameters of each bag, given the shared ones.

    Yields
    ------
    values : (f,) ndarray
        Coefficients in the order of `friction_places`.
    std : (f,) ndarray
        Their standard deviations for white residuals of the shared fit.
    data_share : (f,) ndarray
        Share by which the bag reduces the variance that each has in the prior.

    """
    f = len(own)
    before = _variances(np.asarray(np.linalg.inv(prior[np.ix_(own, own)])))
    for part in parts:
        rows, _ = eliminated(part, own, sigma, prior)
        half = inverse_of(rows[:, :f])
        variances = _variances(half)
        yield (half @ (rows[:, -1] - rows[:, f:-1] @ shared), np.sqrt(variances),
               1 - variances / before)


def _variances(half: Array) -> Array:
    """Diagonal (f,) of a covariance by its square root."""
    return np.asarray((half**2).sum(axis=1))
