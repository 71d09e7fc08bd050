"""The fit of an arm's parameters, and its friction terms chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import friction_terms, TERMS
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.regression.kept_rows import KeptRows
from dynid_ros.regression.rows import Rows
from dynid_ros.regression.weighted_least_squares import (
    QRFactors,
    reweighted,
    Solution,
    solve,
    stack,
)

Array = NDArray[np.float64]

# The load on a joint follows from the estimate: three passes settle it within its error bars.
LOAD_PASSES = 3
#: Fits with changing weights, which need not settle for a comparison of candidates.
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


def fit(arm: ArmModel, rows: Rows) -> Solution:
    """
    Weighted least squares over all rows.

    Parameters
    ----------
    arm : ArmModel
        The arm; its friction terms are identified.
    rows : Rows
        Rows of its motions.

    Returns
    -------
    Solution
        Estimate; with a ``load`` friction term, consistent with the load that it predicts.

    """
    start = arm.without_load
    solution = solve(rows.compressed(start))
    if start.friction == arm.friction:
        return solution
    load_theta = carry_over(solution.theta, start, arm)
    for _ in range(LOAD_PASSES):
        solution = solve(rows.compressed(arm, load_theta))
        load_theta = solution.theta
    return solution


def carry_over(theta: Array, source: ArmModel, target: ArmModel) -> Array:
    """Map base parameters to another choice of friction terms; new ones are zero."""
    known = dict(zip(base_parameters(source).names, theta, strict=True))
    return np.array([known.get(name, 0.0) for name in base_parameters(target).names])


def choose_friction(arm: ArmModel, rows: KeptRows) -> tuple[ArmModel, dict[str, float]]:
    """
    Choose the friction terms by blocked cross-validation.

    Of all candidates, it is the one with the fewest columns whose error over the folds is no more
    than one standard error above the best one's.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    rows : KeptRows
        Rows of the training part.

    Returns
    -------
    arm : ArmModel
        With the chosen terms.
    trials : dict of str to float
        Cross-validated relative error of each candidate, %.

    References
    ----------
    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 7.10 (the
    one-standard-error rule, here on paired differences).

    """
    start = arm.without_load
    every = arm.with_friction(all_terms())
    theta = fit(start, rows).theta
    folds = [fold.part(rows.columns(every)) for fold in rows.factors(
        every, carry_over(theta, start, every), THRESHOLDS.folds)]
    errors = _errors(every, folds)
    scores = {terms: float(np.sqrt(error.mean())) for terms, error in errors.items()}
    best = min(scores, key=lambda terms: scores[terms])
    good = [terms for terms in CANDIDATES if _close(errors[terms], errors[best])]
    chosen = min(good, key=lambda terms: (len(terms), scores[terms]))
    return (arm.with_friction(chosen),
            {' + '.join(terms): 100 * score for terms, score in scores.items()})


def _errors(arm: ArmModel, folds: Sequence[QRFactors]) -> dict[tuple[str, ...], Array]:
    """Error of each candidate on each fold, fitted to the others."""
    others = [stack([*folds[:k], *folds[k + 1:]]) for k in range(len(folds))]
    errors = {}
    for terms in CANDIDATES:
        columns = _columns(arm, terms)
        errors[terms] = np.array([
            _fold_error(*pair, columns) for pair in zip(folds, others, strict=True)])
    return errors


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


def _fold_error(fold: QRFactors, others: QRFactors, columns: NDArray[np.intp]) -> float:
    """Share of the torque's square that is left on a fold by a fit to the others."""
    theta, *_ = reweighted(others.part(columns), iterations=ITERATIONS)
    left = fold.part(columns).residual_squares(theta)
    return float(left.sum() / fold.torque_squares().sum())
