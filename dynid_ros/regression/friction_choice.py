"""Friction terms, chosen by blocked cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpocon

from dynid_ros.arm.friction import CURVE, friction_terms, PLAIN, PRESLIDING, TERMS, WARM
from dynid_ros.arm.model import ArmModel
from dynid_ros.compiled import kernel, sum_kernel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.regression.kept_rows import KeptRows
from dynid_ros.regression.product_kernels import elimination_order, fit_products
from dynid_ros.regression.weighted_least_squares import (
    carry_over,
    fit,
    noise_floor,
    QRFactors,
    reweighted,
    stack,
)

Array = NDArray[np.float64]

#: Fits with changing weights, which need not settle for a comparison of candidates.
ITERATIONS = 4
#: Least eigenvalue (by the norm of the inverse) of the normal equations of columns of one length,
#: below which they are not used. The error of a fold hardly changes near the estimate, so that
#: half of the digits of the parameters are enough.
WELL_CONDITIONED = 1e-9

#: Plain friction, with either form of Coulomb friction: the smooth one keeps to the data where a
#: joint hardly turns round.
PLAIN_FORMS = (PLAIN, ('viscous', 'coulomb_smooth', 'offset'))
_BY_VELOCITY_AND_LOAD: tuple[tuple[str, ...], ...] = (*(
    ('viscous', *coulomb, 'offset', *further)
    for coulomb in ((), ('coulomb',), ('coulomb_smooth',))
    for further in (
        (), ('load',), ('stribeck',), ('viscous_cuberoot',), ('stribeck', 'load'),
        ('viscous_cuberoot', 'load'), ('stribeck', 'viscous_cuberoot'),
        ('stribeck', 'viscous_cuberoot', 'load'),
    )
), ('viscous', *CURVE, 'offset'), ('viscous', *CURVE, 'offset', 'load'))
# A contact that bends before it slides is one that slides, too.
_COLD = (*_BY_VELOCITY_AND_LOAD, *(
    (*terms, PRESLIDING) for terms in _BY_VELOCITY_AND_LOAD
    if {'coulomb', 'coulomb_smooth'} & set(terms)))
CANDIDATES = tuple((*terms, *warm) for warm in ((), (WARM,)) for terms in _COLD)


@dataclass(frozen=True)
class FrictionThresholds:
    """
    Bounds of the choice of friction terms.

    Measured figures are those of benchmarks/thresholds.py: real arms (UR10, Panda, TX40),
    simulated arms, and planted defects.

    Attributes
    ----------
    folds : int
        Consecutive blocks of time of the cross-validation. Five give the UR10 a held-out error of
        2.4 % instead of 2.1 %, and plain friction, with 5.0 %, once a wrong gain doubles the
        torque of a wrist joint: the standard error of five differences is a rough one.
    standard_errors : float
        Standard errors of the difference, over the folds, by which a candidate with fewer columns
        may be worse than the best one: the one-standard-error rule. The true terms of simulated
        arms lie within 0.75; without Coulomb friction a candidate is 4.5 and more behind.
    evidence : float
        Standard errors by which a candidate with no fewer columns must be better than plain
        friction. Where the best one lowers the error over the folds by a tenth and more (UR10 and
        TX40, whole and their first parts, cut-offs of 2 Hz to 14 Hz), it is 2.05 to 6.8 better. On
        the Panda, whose torque sensors see little friction, it is 0 to 2.1 better and lowers the
        error by a hundredth at most; on simulated arms with plain friction, 0 to 2.15.

    """

    folds: int = 10
    standard_errors: float = 1.0
    evidence: float = 2.0


THRESHOLDS = FrictionThresholds()


def choose_friction(arm: ArmModel, rows: KeptRows) -> tuple[ArmModel, dict[str, float]]:
    """
    Choose the friction terms by blocked cross-validation.

    Of all candidates, it is the one with the fewest columns whose error over the folds is no more
    than one standard error above the best one's. With no fewer columns than plain friction it must
    be better than that by two, over folds that are longer than the low-pass reaches: rows of
    shorter ones are made of samples that were fitted.

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
    start = arm.memoryless
    every = arm.with_friction(all_terms())
    theta = fit(start, rows).theta
    folds = [fold.part(rows.columns(every)) for fold in rows.factors(
        every, carry_over(theta, start, every), THRESHOLDS.folds)]
    errors = _errors(every, folds)
    scores = {terms: float(np.sqrt(error.mean())) for terms, error in errors.items()}
    best = min(scores, key=lambda terms: scores[terms])
    good = [terms for terms in CANDIDATES if _close(errors[terms], errors[best])]
    chosen = min(good, key=lambda terms: (len(terms), scores[terms]))
    plain = min(PLAIN_FORMS, key=lambda terms: scores[terms])
    if len(chosen) >= len(plain) and not (
            _apart(folds, rows) and _better(errors[chosen], errors[plain])):
        chosen = plain
    return (arm.with_friction(chosen),
            {' + '.join(terms): 100 * score for terms, score in scores.items()})


def _errors(arm: ArmModel, folds: Sequence[QRFactors]) -> dict[tuple[str, ...], Array]:
    """Error of each candidate on each fold, fitted to the others."""
    others = [Products(stack([*folds[:k], *folds[k + 1:]])) for k in range(len(folds))]
    errors = {}
    for terms in CANDIDATES:
        columns = _columns(arm, terms)
        errors[terms] = np.array([
            _fold_error(*pair, columns) for pair in zip(folds, others, strict=True)])
    return errors


class Products:
    """
    Rows as their products, from which a fit to any columns takes a tenth of the time.

    Parameters
    ----------
    rows : QRFactors
        Rows of each joint.

    """

    def __init__(self, rows: QRFactors) -> None:
        self._rows = rows
        self._products = rows.factors.transpose(0, 2, 1) @ rows.factors
        self._squares = np.diagonal(self._products, axis1=1, axis2=2)[:, :-1].copy()
        self._order = elimination_order(self._squares > 0)

    def fit(self, columns: NDArray[np.intp]) -> Array:
        """Find the parameters of all columns, as `reweighted` does; zero for the other ones."""
        theta = np.zeros(self._squares.shape[1])
        if not self._normal_fit(columns, theta):
            theta[:] = 0.0
            theta[columns] = reweighted(self._rows.part(columns), iterations=ITERATIONS)[0]
        return theta

    def _normal_fit(self, columns: NDArray[np.intp], theta: Array) -> bool:
        """Fit by normal equations; return whether they are well-conditioned."""
        wanted = np.zeros(len(theta), dtype=np.bool_)
        wanted[columns] = True
        order = self._order[wanted[self._order]]
        upper = np.empty((len(order), len(order)))
        freedom, least = noise_floor(self._rows, len(order))
        filled = _fit_factors(
            self._rows.factors, self._products, self._squares, freedom, least, order, ITERATIONS,
            theta, upper)
        # Written so that NaN, which any matrix that is not definite leaves, fails, too.
        return bool(filled and dpocon(upper, 1.0)[0] >= WELL_CONDITIONED)


@kernel
def _fit_factors(
    factors: Array, products: Array, squares: Array, freedom: Array, least: float,
    order: NDArray[np.intp], passes: int, theta: Array, upper: Array,
) -> bool:
    """
    Fit parameters to all joints, weighted by the residuals of the rows themselves.

    A residual that is small beside the torque vanishes in products.

    Parameters
    ----------
    factors : (n, k, c + 1) ndarray
        Rows ``[W tau]`` of each joint.
    products : (n, c + 1, c + 1) ndarray
        Their products.
    squares : (n, c) ndarray
        Squared lengths of the columns of each joint.
    freedom : (n,) ndarray
        Degrees of freedom of the residual of each joint.
    least : float
        Least variance of a residual.
    order, passes, theta, upper
        As in `fit_products`.

    Returns
    -------
    bool
        Whether no column is zero.

    """
    n, c = squares.shape
    joints, floor = np.arange(n), np.full(n, least)
    variance, scale, left = np.ones(n), np.zeros(c), np.empty(n)
    for _ in range(passes):
        for a in order:
            square = 0.0
            for joint in range(n):
                square += squares[joint, a] / variance[joint]
            if square == 0:
                return False
            scale[a] = 1 / np.sqrt(square)
        fit_products(products, joints, freedom, variance, floor, scale, order, 0.0, 0.0, 1,
                     theta, upper)
        _row_squares(factors, theta, left)
        variance = np.maximum(left / freedom, least)
    return True


@sum_kernel
def _row_squares(factors: Array, theta: Array, out: Array) -> None:
    """Write the sum of squared residuals (n,) of the rows ``[W tau]`` (n, k, c + 1)."""
    c = theta.size
    for joint in range(factors.shape[0]):
        whole = 0.0
        for i in range(factors.shape[1]):
            row, total = factors[joint, i], 0.0
            for a in range(c):
                total += row[a] * theta[a]
            whole += (row[c] - total)**2
        out[joint] = whole


def all_terms() -> tuple[str, ...]:
    """Names of all terms to choose from."""
    return tuple(TERMS)


def _apart(folds: Sequence[QRFactors], rows: KeptRows) -> bool:
    """Whether each fold is longer than the low-pass of the rows reaches to one side."""
    settings = rows.settings
    shortest = min(int(fold.rows.max()) for fold in folds)
    return shortest * settings.decimation > settings.decimator().reach


def _close(error: Array, best: Array) -> bool:
    mean, standard_error = difference(error, best)
    return mean <= THRESHOLDS.standard_errors * standard_error


def _better(error: Array, plain: Array) -> bool:
    mean, standard_error = difference(plain, error)
    return mean > THRESHOLDS.evidence * standard_error


def difference(error: Array, other: Array) -> tuple[float, float]:
    """Mean over the folds of the difference of two errors, and its standard error."""
    more = error - other
    return float(more.mean()), float(more.std(ddof=1) / np.sqrt(len(more)))


def _columns(arm: ArmModel, terms: tuple[str, ...]) -> NDArray[np.intp]:
    """Columns of a candidate, as indices among the base columns of the arm."""
    layout, base = arm.layout, base_parameters(arm)
    unwanted = set(layout.friction) - {term.symbol for term in friction_terms(terms)}
    gone = {layout.friction_column(j, symbol) for j in range(arm.n) for symbol in unwanted}
    return np.array([k for k, column in enumerate(base.columns) if column not in gone])


def _fold_error(fold: QRFactors, others: Products, columns: NDArray[np.intp]) -> float:
    """Share of the torque's square that is left on a fold by a fit to the others."""
    left = fold.residual_squares(others.fit(columns))
    return float(left.sum() / fold.torque_squares().sum())
