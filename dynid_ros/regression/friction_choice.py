"""Friction terms chosen by cross-validation inside the training part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import friction_terms, TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.regression.qr_factors import QRFactors

Array = NDArray[np.float64]

#: Passes in which the weights of the joints settle.
ITERATIONS = 4

CANDIDATES: tuple[tuple[str, ...], ...] = tuple(
    ('viscous', *coulomb, 'offset', *further)
    for coulomb in ((), ('coulomb',), ('coulomb_smooth',))
    for further in (
        (), ('load',), ('stribeck',), ('viscous_cuberoot',), ('stribeck', 'load'),
        ('viscous_cuberoot', 'load'), ('stribeck', 'viscous_cuberoot'),
        ('stribeck', 'viscous_cuberoot', 'load'),
    )
)


@dataclass(frozen=True)
class FrictionThresholds:
    """
    Bounds of the choice of friction terms.

    Measured figures are those of benchmarks/thresholds.py: real arms (UR10, Panda, TX40),
    simulated arms, and planted defects.

    Attributes
    ----------
    folds : int
        Consecutive blocks of time of the cross-validation. Half and twice as many give held-out
        errors of 2.6 and 2.1 % instead of 2.4 %.
    standard_errors : float
        Standard errors of the difference, over the folds, by which a candidate with fewer columns
        may be worse than the best one: the one-standard-error rule. The true terms of simulated
        arms lie within 0.75; without Coulomb friction a candidate is 4.5 and more behind.

    """

    folds: int = 5
    standard_errors: float = 1.0


THRESHOLDS = FrictionThresholds()


@dataclass(frozen=True)
class FrictionChoice:
    """
    Outcome of a choice.

    Attributes
    ----------
    terms : tuple of str
        The chosen terms.
    trials : dict of str to float
        Cross-validated relative error of each candidate, %.

    """

    terms: tuple[str, ...]
    trials: dict[str, float]


def choose_friction(arm: ArmModel, folds: Sequence[QRFactors]) -> FrictionChoice:
    """
    Choose the friction terms by blocked cross-validation.

    Parameters
    ----------
    arm : ArmModel
        The arm with all known friction terms, as in the folds.
    folds : sequence of QRFactors
        Consecutive blocks of time of the training part.

    Returns
    -------
    FrictionChoice
        The candidate with the fewest columns whose error over the folds is no more than one
        standard error above the best one's.

    References
    ----------
    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 7.10 (the
    one-standard-error rule, here on paired differences).

    """
    squares = np.array([fold.square for fold in folds])
    rows = np.array([fold.rows for fold in folds])
    errors = {
        terms: _fold_errors(squares, rows, _columns(arm, terms)) for terms in CANDIDATES
    }
    scores = {terms: np.sqrt(error.mean()) for terms, error in errors.items()}
    best = min(scores, key=lambda terms: float(scores[terms]))
    good = [terms for terms in CANDIDATES if _close(errors[terms], errors[best])]
    chosen = min(good, key=lambda terms: (len(terms), float(scores[terms])))
    return FrictionChoice(
        chosen, {' + '.join(terms): float(100 * score) for terms, score in scores.items()})


def all_terms() -> tuple[str, ...]:
    """Names of all terms to choose from."""
    return tuple(TERMS)


def _close(error: Array, best: Array) -> bool:
    difference = error - best
    standard_error = difference.std(ddof=1) / np.sqrt(len(difference))
    return bool(difference.mean() <= THRESHOLDS.standard_errors * standard_error)


def _columns(arm: ArmModel, terms: tuple[str, ...]) -> NDArray[np.intp]:
    """Columns of a candidate, as indices among the base columns of the arm."""
    layout, base = arm.layout, base_parameters(arm)
    unwanted = set(layout.friction) - {term.symbol for term in friction_terms(terms)}
    gone = {layout.friction_column(j, symbol) for j in range(arm.n) for symbol in unwanted}
    return np.array([k for k, column in enumerate(base.columns) if column not in gone])


def _fold_errors(squares: Array, rows: Array, columns: NDArray[np.intp]) -> Array:
    """Relative squared residual on each fold of a fit to the others."""
    keep = np.append(columns, squares.shape[-1] - 1)
    squares = squares[:, :, keep[:, None], keep]
    result = np.empty(len(squares))
    for k in range(len(squares)):
        others = np.delete(squares, k, axis=0).sum(axis=0)
        theta = _weighted(others, np.delete(rows, k, axis=0).sum(axis=0))
        vector = np.append(-theta, 1.0)
        left = vector @ squares[k] @ vector
        result[k] = left.sum() / squares[k][:, -1, -1].sum()
    return result


def _weighted(squares: Array, rows: Array) -> Array:
    """
    Weighted least squares from the normal equations.

    They lose half the digits, which does not matter for a comparison of candidates.
    """
    theta = np.zeros(squares.shape[-1] - 1)
    weights = np.ones(len(squares))
    for _ in range(ITERATIONS):
        normal = np.tensordot(weights, squares, axes=1)
        scale = np.sqrt(np.maximum(np.diag(normal)[:-1], np.finfo(float).tiny))
        A = normal[:-1, :-1] / np.outer(scale, scale)
        theta = np.linalg.lstsq(A, normal[:-1, -1] / scale, rcond=1e-12)[0] / scale
        vector = np.append(-theta, 1.0)
        weights = rows / np.maximum(vector @ squares @ vector, np.finfo(float).tiny)
    return theta
