# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Which bags of an arm differ from the others, or which arms of a fleet.

All of it is algebra on the factors of bags: a fit to some of them, what each bag adds to its
information and score, and what parameters of its own explain of its residual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.special import stdtrit

from dynid_ros.arm.description.tree import Placement
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters, friction_places
from dynid_ros.dynamics.load_columns import friction_names, load_columns, LOAD_STD
from dynid_ros.estimation.blocks.qr_factors import QRFactors, stack
from dynid_ros.estimation.estimate.possible_parameters import FROM_DATA
from dynid_ros.estimation.estimate.weights import Solution, solve
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.utilities.arrays import Array

#: Factors of a bag by its number.
Factors = Callable[[int], QRFactors]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]

#: Prior standard deviation of a relative gain, and of a level of friction: each may be zero, or
#: twice the usual one.
GAIN = 1.0
#: Level of friction, relative to the usual one, that temperature explains.
LEAST_LEVEL, MOST_LEVEL = 0.5, 2.0
#: Mass and first moments of a load. Its inertias need longer recordings than most bags.
LOAD = 4
#: Fewest bags of an arm, or arms of a fleet, that show their spread.
FEWEST_COMPARED = 5
#: Residual of a bag relative to the usual one, above which the difference matters.
ODD_RESIDUAL = 2.0
#: Fits to the half of the bags that agrees best, and then to all but outliers.
CONCENTRATION, REFITS = 2, 2
#: Standard deviation of the lower half of a normal distribution, relative to the whole.
LOWER_HALF = 0.603
#: Standard deviations above which the next fit leaves a bag out.
FAR = 2.5
#: Least mass of a load in a message, kg; below it, only the moments differ.
LIGHT = 1e-3
#: Bags whose factors are stacked at once: fewer repeat the factorisation, more only take memory.
STACKED_TOGETHER = 16


class Deviations(NamedTuple):
    """
    Deviations of B bags from the fit to the others.

    Attributes
    ----------
    drift : (B,) ndarray
        Logarithm of the reduction in squares, in units of the residuals of the fit, by parameters
        of the bag's own.
    beyond_load : (B,) ndarray
        The same for a bag that may carry another load.
    residual : (B,) ndarray
        Residual of the bag with the parameters of the others, relative to their own residual.
    error_percent : (B,) ndarray
        The same relative to the torque of the bag, with the usual friction.
    load : (B, 4) ndarray
        Mass and first moments of the last link beyond those of the fit, kg and kg m.
    coefficients : (B, f + n) ndarray
        Friction coefficients, and drive gains relative to the usual ones, fitted with another
        load; NaN where the prior determines them.

    """

    drift: Array
    beyond_load: Array
    residual: Array
    error_percent: Array
    load: Array
    coefficients: Array


def coefficient_names(arm: ArmModel) -> list[str]:
    """Name the coefficients of `Deviations`."""
    return [*friction_names(arm), *(f'gain {k + 1}' for k in range(arm.n))]


def deviations(
    parts: Iterable[QRFactors], arm: ArmModel, fit: Solution, fitted: Iterable[bool],
) -> Deviations:
    """
    Compare bags with the others.

    If one model fits the bag and the others, the residual of the bag has the covariance
    ``I - W N⁻¹ Wᵀ``, with the information N of both: a bag cannot differ where the others
    determine nothing. Its own parameters reduce the squares as in Chow's test. In addition, the
    friction of each joint has a level of its own, to allow for temperature.

    Parameters
    ----------
    parts : iterable of QRFactors
        Factors of the bags, with the base columns of the arm.
    arm : ArmModel
        The arm.
    fit : Solution
        The fit to the others.
    fitted : iterable of bool
        Whether each bag is among them.

    References
    ----------
    Chow 1960, Tests of equality between sets of coefficients in two linear regressions,
    Econometrica 28.

    """
    own = _OwnParameters(arm, fit)
    found = map(own.deviations, parts, fitted)
    return Deviations(*map(np.array, zip(*found, strict=True)))


class _OwnParameters:
    """Parameters of one bag: changes from a fit, a load, drive gains, and levels of friction."""

    def __init__(self, arm: ArmModel, fit: Solution) -> None:
        b, n, self._own = len(fit.theta), arm.n, friction_places(arm)
        self._fit = fit
        by_gain, by_level = fit.theta.copy(), np.zeros(b)
        by_gain[self._own] = 0.0
        rubs = self._own[[not name.startswith('Fo') for name in friction_names(arm)]]
        by_level[rubs] = fit.theta[rubs]
        prior = [fit.prior_information, np.eye(len(INERTIAL)) / LOAD_STD**2,
                 np.eye(2 * n) / GAIN**2]
        self._prior = block_diag(*prior)
        self._places = np.split(np.arange(len(self._prior)), np.cumsum(
            [b, LOAD, len(INERTIAL) - LOAD, n]))
        # Columns of own parameters, and the residual, as sums of the columns of each joint.
        self._sums = np.zeros((n, b + 1, len(self._prior) + 1))
        self._sums[:, :b, :b] = np.eye(b)
        self._sums[:, :b, b:b + len(INERTIAL)] = load_columns(arm, Placement())
        self._sums[:, :, -1] = np.append(-fit.theta, 1.0)
        for joint, (gain, level) in enumerate(zip(*self._places[-2:], strict=True)):
            self._sums[joint, :b, gain], self._sums[joint, :b, level] = by_gain, by_level

    def deviations(self, part: QRFactors, fitted: bool) -> tuple[Array | float, ...]:
        """Return the deviations of one bag, as `Deviations` holds them."""
        base, load, inertia, gains, levels = self._places
        columns = part.factors @ self._sums / self._fit.sigma[:, None, None]
        products = np.asarray(np.tensordot(columns, columns, ((0, 1), (0, 1))))
        information, score = self._beside_fit(products, fitted)

        def explained(*places: Places, of: Array = score) -> tuple[Array, Array, float]:
            """Return values, NaN where the prior determines them, and the squares explained."""
            chosen = np.concatenate(places)
            prior = self._prior[np.ix_(chosen, chosen)]
            covariance = np.linalg.inv(information[np.ix_(chosen, chosen)] + prior)
            values, before = covariance @ of[chosen], np.diag(np.linalg.inv(prior))
            known = before - np.diag(covariance) >= FROM_DATA * before
            return values, np.where(known, values, np.nan), float(of[chosen] @ values)

        def beside_level(*given: Places) -> tuple[Array, float]:
            """Return the level of friction, less one, and squares beyond it and given places."""
            level = explained(*given, levels)[0][-len(levels):]
            level = np.clip(level, LEAST_LEVEL - 1, MOST_LEVEL - 1)
            rest = score - information[:, levels] @ level
            known = explained(*given, of=rest)[2] if given else 0.0
            squares = explained(base, load, inertia, of=rest)[2] - known
            return level, float(np.log(max(squares, TINY)))

        level, drift = beside_level()
        loaded, rubs, _ = explained(self._own, load)
        factors = explained(self._own, load, gains)[1][-len(gains):]
        residual = columns[:, :, -1] - columns[:, :, levels] @ level
        error = np.sqrt(part.residual_squares(self._fit.theta).sum() / part.torque_squares().sum())
        return (drift, beside_level(load, inertia)[1],
                np.linalg.norm(residual) / np.sqrt(part.rows.sum()), 100 * error, loaded[-LOAD:],
                np.append(self._fit.theta[self._own] + rubs[:-LOAD], 1 + factors))

    def _beside_fit(self, products: Array, fitted: bool) -> tuple[Array, Array]:
        """Return information and score of own parameters, given the uncertainty of the fit."""
        # In coordinates in which the covariance of the fit is one.
        half = self._fit.half
        common = half.T @ products[:len(half)]
        shared: Array = np.eye(len(half))
        if not fitted:
            shared = np.asarray(np.linalg.inv(shared + common[:, :len(half)] @ half))
            products = products - common.T @ shared @ common
        else:
            products[:, :-1] -= common.T @ common[:, :-1]
        return products[:-1, :-1], products[:-1, -1]


@dataclass(frozen=True, eq=False)
class Comparison:
    """
    Bags of an arm, compared with each other.

    Attributes
    ----------
    fit : Solution
        The fit to those that do not differ.
    found : Deviations
        Deviations from it.
    odd, loaded : (B,) ndarray of bool
        Bags that differ from the others, and those whose difference a load explains.

    """

    fit: Solution
    found: Deviations
    odd: Mask
    loaded: Mask

    def difference(self, k: int) -> str:
        """Describe how an odd bag differs."""
        if self.loaded[k]:
            return f'load: {load_text(self.found.load[k])}'
        usual = float(np.median(self.found.error_percent[~self.odd]))
        return (f'the model of the others leaves {self.found.error_percent[k]:.0f} % of its '
                f'torque, usually {usual:.0f} %')


def compare(
    arm: ArmModel, factors: Factors, count: int, chance: float,
) -> Comparison:
    """
    Find the bags that differ from the others.

    Odd bags would bias a fit to all. So the half that drifts least is fitted first (Rousseeuw and
    Van Driessen 1999, A fast algorithm for the minimum covariance determinant estimator,
    Technometrics 41), then all bags but outliers.

    Parameters
    ----------
    arm : ArmModel
        Their arm.
    factors : callable
        Factors of a bag by its number, with the base columns of the arm.
    count : int
        Number of bags; fewer than `FEWEST_COMPARED` do not differ.
    chance : float
        Probability that a good bag differs.

    """
    bags, half = np.arange(count), (count + 1) // 2
    least = np.sqrt(2 / base_parameters(arm).count)

    def fitted(chosen: Mask) -> Solution:
        return solve(merged(map(factors, np.flatnonzero(chosen).tolist())), arm_prior(arm))

    def deviating(chosen: Mask, fit: Solution) -> Deviations:
        return deviations(map(factors, range(count)), arm, fit, chosen)

    def closer_half(chosen: Mask, fit: Solution) -> tuple[Mask, Solution]:
        drift = deviating(chosen, fit).drift
        closer = drift <= np.sort(drift)[half - 1]
        return closer, fitted(closer)

    every = bags >= 0
    if count < FEWEST_COMPARED:
        fit = fitted(every)
        return Comparison(fit, deviating(every, fit), ~every, ~every)
    # A fit to all would lie between two loads that half of the bags carry each.
    starts = [closer_half(start, fitted(start))
              for start in (every, bags < half, bags >= count - half)]
    chosen, fit = min(starts, key=lambda each: float(np.log(each[1].sigma).sum()))
    for _ in range(CONCENTRATION):
        chosen, fit = closer_half(chosen, fit)
    drift = deviating(chosen, fit).drift
    spread = max(float(np.std(drift[chosen], ddof=1)) / LOWER_HALF, least)
    chosen = drift <= drift[chosen].max() + FAR * spread
    for _ in range(REFITS):
        fit = fitted(chosen)
        found = deviating(chosen, fit)
        chosen = found.drift <= upper_limit(found.drift, chance, least)
    odd = ~chosen & (found.residual > ODD_RESIDUAL * np.median(found.residual[chosen]))
    beyond = upper_limit(found.beyond_load[~odd], chance, least)
    return Comparison(fit, found, odd, odd & (found.beyond_load <= beyond))


def merged(parts: Iterable[QRFactors]) -> QRFactors:
    """Merge the factors of bags, which are read one after the other, in any order."""
    waiting: list[QRFactors] = []
    for part in parts:
        waiting.append(part)
        if len(waiting) == STACKED_TOGETHER:
            waiting = [stack(waiting)]
    return stack(waiting) if waiting else QRFactors.empty(0, 0)


def upper_limit(values: Array, chance: float, least: float) -> float:
    """
    Return the limit above which values are outliers.

    From the median upwards, each value is compared with all smaller ones by Student's t, until one
    is an outlier. All larger ones are outliers, too.

    Parameters
    ----------
    values : (B,) ndarray
        The values, normal but for outliers.
    chance : float
        Probability of a false outlier among them.
    least : float
        Least credible standard deviation. The logarithm of squares of b normal parameters has
        ``sqrt(2 / b)``.

    References
    ----------
    Rosner 1983, Percentage points for a generalized ESD many-outlier procedure, Technometrics 25.

    """
    ordered, limit = np.sort(values), np.inf
    for count in range(max((len(values) + 1) // 2, 2), len(values) + 1):
        inner = ordered[:count]
        spread = max(float(np.std(inner, ddof=1)), least) * np.sqrt(1 + 1 / count)
        limit = float(inner.mean() - stdtrit(count - 1, chance) * spread)
        if count < len(values) and ordered[count] > limit:
            break
    return limit


def load_text(values: Array) -> str:
    """Write a load (4,) as mass and centre."""
    mass, moment = values[0], values[1:]
    where = ''
    if abs(mass) > LIGHT:
        where = f' at ({", ".join(f"{x / mass:.2f}" for x in moment)}) m'
    return f'{mass:+.2f} kg{where} in the frame of the last link'
