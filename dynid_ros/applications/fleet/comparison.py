# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Which bags of an arm differ from the others, or which arms of a fleet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from dynid_ros.applications.fleet.deviations import Deviations, deviations
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.blocks.qr_factors import QRFactors, stack
from dynid_ros.estimation.estimate.weights import Solution, solve
from dynid_ros.utilities.arrays import Array

#: Factors of a bag by its number.
Factors = Callable[[int], QRFactors]
Mask = NDArray[np.bool_]

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


@dataclass(frozen=True, eq=False)
class Comparison:
    """
    Bags of an arm, compared with each other.

    Attributes
    ----------
    bags : sequence of int
        Their numbers.
    fit : Solution
        The fit to those that do not differ.
    found : Deviations
        Deviations from it.
    odd, loaded : (B,) ndarray of bool
        Bags that differ, and bags that do so by a load alone.

    """

    bags: Sequence[int]
    fit: Solution
    found: Deviations
    odd: Mask
    loaded: Mask

    @property
    def usual(self) -> list[int]:
        """Return the numbers of the bags that are not odd."""
        return list(compress(self.bags, ~self.odd))

    def difference(self, k: int) -> str:
        """Describe how an odd bag differs."""
        if self.loaded[k]:
            return f'load: {load_text(self.found.load[k])}'
        usual = float(np.median(self.found.error_percent[~self.odd]))
        return (f'the model of the others leaves {self.found.error_percent[k]:.0f} % of its '
                f'torque, usually {usual:.0f} %')


def compare(
    arm: ArmModel, factors: Factors, bags: Sequence[int], chance: float,
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
    bags : sequence of int
        Numbers of the bags; fewer than `FEWEST_COMPARED` do not differ.
    chance : float
        Probability that a good bag differs.

    """
    place, half = np.arange(len(bags)), (len(bags) + 1) // 2
    least = np.sqrt(2 / base_parameters(arm).count)

    def fitted(chosen: Mask) -> Solution:
        return solve(merged(map(factors, compress(bags, chosen))), arm_prior(arm))

    def deviating(chosen: Mask, fit: Solution) -> Deviations:
        return deviations(map(factors, bags), arm, fit, chosen)

    def closer_half(chosen: Mask, fit: Solution) -> tuple[Mask, Solution]:
        drift = deviating(chosen, fit).drift
        closer = drift <= np.sort(drift)[half - 1]
        return closer, fitted(closer)

    every = place >= 0
    if len(bags) < FEWEST_COMPARED:
        fit = fitted(every)
        return Comparison(bags, fit, deviating(every, fit), ~every, ~every)
    # A fit to all would lie between two loads that half of the bags carry each.
    starts = [closer_half(start, fitted(start))
              for start in (every, place < half, place >= len(bags) - half)]
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
    return Comparison(bags, fit, found, odd, odd & (found.beyond_load <= beyond))


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
