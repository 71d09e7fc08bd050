"""Friction terms, chosen by blocked cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import CURVE, friction_terms, PLAIN, PRESLIDING, TERMS, WARM
from dynid_ros.arm.model import ArmModel
from dynid_ros.cross_validation.products import Products
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.regression.kept_rows import KeptRows
from dynid_ros.regression.weighted_least_squares import carry_over, fit, QRFactors, stack

Array = NDArray[np.float64]
#: A friction term of a joint: the number of the joint, and the name of the term.
Own = tuple[int, str]

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
        the Panda, whose torque sensors see little friction, it is 0 to 2.2 better and lowers the
        error by two hundredths at most; on simulated arms with plain friction, 0 to 2.15.

    """

    folds: int = 10
    standard_errors: float = 1.0
    evidence: float = 2.0


THRESHOLDS = FrictionThresholds()


def choose_friction(folds: Folds) -> tuple[tuple[str, ...], dict[str, float]]:
    """
    Choose the friction terms by blocked cross-validation; see `chosen_of` for the rule.

    Parameters
    ----------
    folds : Folds
        Blocks of the training part.

    Returns
    -------
    terms : tuple of str
        The chosen terms.
    trials : dict of str to float
        Cross-validated relative error of each candidate, %.

    """
    scores = {' + '.join(terms): 100 * float(np.sqrt(error.mean()))
              for terms, error in folds.trials.items()}
    return chosen_of(folds.trials, apart=folds.apart), scores


def chosen_of(errors: Mapping[tuple[str, ...], Array], *, apart: bool) -> tuple[str, ...]:
    """
    Choose one of several candidates by their errors over the folds.

    It is the one with the fewest columns whose error is no more than one standard error above the
    best one's. With no fewer columns than plain friction it must be better than that by two, over
    folds that are longer than the low-pass reaches: rows of shorter ones are made of samples that
    were fitted.

    Parameters
    ----------
    errors : mapping of tuple of str to (k,) ndarray
        Share of the torque's square that each candidate leaves in each fold; plain friction is
        among them.
    apart : bool
        Whether each fold is longer than the low-pass reaches.

    References
    ----------
    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 7.10 (the
    one-standard-error rule, here on paired differences).

    """
    scores = {terms: float(np.sqrt(error.mean())) for terms, error in errors.items()}
    chosen = min(near_the_best(errors), key=lambda terms: (len(terms), scores[terms]))
    plain = min(PLAIN_FORMS, key=lambda terms: scores[terms])
    if len(chosen) >= len(plain) and not (apart and _better(errors[chosen], errors[plain])):
        return plain
    return chosen


def near_the_best(errors: Mapping[tuple[str, ...], Array]) -> list[tuple[str, ...]]:
    """Return the candidates within one standard error of the best one."""
    best = min(errors.values(), key=lambda error: float(error.mean()))
    return [terms for terms, error in errors.items() if _close(error, best)]


class Folds:
    """
    Consecutive blocks of time, each predicted by a fit to the others.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    rows : KeptRows
        Rows of the training part.

    Attributes
    ----------
    arm : ArmModel
        The arm with all terms to choose from.
    torque : (k, n) ndarray
        Squared torque of each joint in each block, Nm².
    apart : bool
        Whether each block is longer than the low-pass of the rows reaches to one side.

    """

    def __init__(self, arm: ArmModel, rows: KeptRows) -> None:
        start = arm.memoryless
        self._columns: dict[tuple[str, ...], NDArray[np.intp]] = {}
        self.arm = every = arm.with_friction(all_terms())
        self._start = carry_over(fit(start, rows).theta, start, every)
        self._blocks = blocks = [fold.part(rows.columns(every)) for fold in rows.factors(
            every, self._start, THRESHOLDS.folds)]
        self.torque = np.array([block.torque_squares() for block in blocks])
        settings, shortest = rows.settings, min(int(block.rows.max()) for block in blocks)
        self.apart = shortest * settings.decimation > settings.decimator().reach

    @cached_property
    def trials(self) -> dict[tuple[str, ...], Array]:
        """Share of the torque's square that each of `CANDIDATES` leaves in each block, (k,)."""
        return {terms: self.errors(terms) for terms in CANDIDATES}

    @cached_property
    def _others(self) -> list[Products]:
        return [self.without(k) for k in range(len(self._blocks))]

    def without(self, *left_out: int) -> Products:
        """Return the rows of all blocks but some."""
        rows = stack([block for k, block in enumerate(self._blocks) if k not in left_out])
        return Products(rows, self._start, arm_prior(self.arm))

    def errors(self, terms: tuple[str, ...]) -> Array:
        """Share of the torque's square that is left with friction terms, (k,)."""
        left = [self.left(k, self.fit(terms, k)).sum() for k in range(len(self._blocks))]
        return np.asarray(left / self.torque.sum(axis=1))

    def fit(self, terms: tuple[str, ...], k: int) -> Array:
        """Fit the parameters with friction terms to all blocks but one, (b,)."""
        return self._others[k].fit(self.columns(terms))

    def left(self, k: int, theta: Array) -> Array:
        """Predict a block, and return the squared torque of each joint that is left, (n,), Nm²."""
        return self._blocks[k].residual_squares(theta)

    def blocks(self, terms: tuple[str, ...]) -> tuple[list[QRFactors], list[Own | None]]:
        """Return the blocks with friction terms, and joint and term of each of their columns."""
        layout, base = self.arm.layout, base_parameters(self.arm)
        own = {layout.friction_column(joint, term.symbol): (joint, term.name)
               for term in friction_terms(terms) for joint in range(self.arm.n)}
        columns = self.columns(terms)
        return ([block.part(columns) for block in self._blocks],
                [own.get(int(base.columns[k])) for k in columns])

    def columns_of(self, arm: ArmModel) -> NDArray[np.intp]:
        """Columns of the terms that each joint of an arm has, as indices like `columns`."""
        gone = {self.arm.layout.friction_column(joint, term.symbol)
                for joint, lacking in enumerate(arm.friction_lacking)
                for term in friction_terms(lacking)}
        columns = base_parameters(self.arm).columns
        return np.array([k for k in self.columns(arm.friction) if columns[k] not in gone])

    def columns(self, terms: tuple[str, ...]) -> NDArray[np.intp]:
        """Columns of a candidate, as indices among the base columns of the arm."""
        if terms not in self._columns:
            layout, base = self.arm.layout, base_parameters(self.arm)
            unwanted = set(layout.friction) - {term.symbol for term in friction_terms(terms)}
            gone = {layout.friction_column(j, symbol) for j in range(self.arm.n)
                    for symbol in unwanted}
            self._columns[terms] = np.array(
                [k for k, column in enumerate(base.columns) if column not in gone])
        return self._columns[terms]


def all_terms() -> tuple[str, ...]:
    """Names of all terms to choose from."""
    return tuple(TERMS)


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
