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

#: Bags of an arm, or arms of a fleet, from which their spread is known.
FEWEST_COMPARED = 5
#: Residual by the usual one of a bag, from which a bag differs enough to matter.
ODD_RESIDUAL = 2.0
#: Fits to the half of the bags that agrees best, and then to all that are no outliers.
CONCENTRATION, REFITS = 2, 2
#: Standard deviation of the lower half of a normal distribution, by its own.
LOWER_HALF = 0.603
#: Standard deviations from which a bag does not take part in the next fit.
FAR = 2.5
#: Least mass of a load that a text states, kg; with less, only the moments differ.
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

    A fit to all bags follows those that differ, so that the others seem to. The half that
    drifts least is found as by Rousseeuw and Van Driessen 1999, A fast algorithm for the minimum
    covariance determinant estimator, Technometrics 41, then the bags that do not stray.

    Parameters
    ----------
    arm : ArmModel
        Their arm.
    factors : callable
        Factors of a bag by its number, with the base columns of the arm.
    bags : sequence of int
        Numbers of the bags; fewer than `FEWEST_COMPARED` do not differ.
    chance : float
        Probability with which a bag differs although nothing is wrong with it.

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
    # A load that changes in the middle of the bags would leave a fit to all in between.
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
    Return the value above which values stray from the others, outliers apart.

    One-sided: from the middle outwards, each value is compared with all smaller ones, until one
    is an outlier of them by Student's t. All further ones are outliers, too.

    Parameters
    ----------
    values : (B,) ndarray
        The values, normal but for outliers.
    chance : float
        Probability with which one of them is an outlier although none is.
    least : float
        Least standard deviation that is believed. The logarithm of squares of b parameters that
        are normal has ``sqrt(2 / b)``.

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
