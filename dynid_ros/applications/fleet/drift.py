# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Values of an arm over date, and whether they drift."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import cached_property

import numpy as np

from dynid_ros.utilities.arrays import Array

DAY = 86400.0
#: Probability of any false drift in the complete fleet, for values in any order. All series of
#: all arms share it.
DRIFT_CHANCE = 1e-4
#: Kendall's tau above which values follow the date: that of a line which rises by two standard
#: deviations of a single bag. Many bags would reveal changes that do not matter.
LEAST_TAU = 1 / 3
#: Least relative drift of friction, or of a gain. Warming up changes friction by a tenth within an
#: hour.
LEAST_CHANGE = 0.1


@dataclass(frozen=True, eq=False)
class Series:
    """
    One value of an arm over date.

    Attributes
    ----------
    arm, name : str
        The arm, and the coefficient, such as ``Fv2`` or ``gain 2``.
    date : (B,) ndarray
        Of the bags, s since 1970, ascending.
    values : (B,) ndarray
        Estimates.
    tau, probability : float
        Kendall's rank correlation with the date, and the probability of a larger one by chance.
    drifts : bool
        Whether the drift counts.

    References
    ----------
    Kendall 1938, A new measure of rank correlation, Biometrika 30.

    """

    arm: str
    name: str
    date: Array
    values: Array
    tau: float = 0.0
    probability: float = 1.0
    drifts: bool = False

    @cached_property
    def line(self) -> tuple[float, float]:
        """
        Return the values of the line of medians at the first and the last bag.

        Sen 1968, Estimates of the regression coefficient based on Kendall's tau, Journal of the
        American Statistical Association 63.
        """
        from scipy.stats import theilslopes

        if not np.ptp(self.date):
            return (float(np.median(self.values)),) * 2
        slope, level, *_ = theilslopes(self.values, self.date - self.date[0])
        return float(level), float(level + slope * np.ptp(self.date))

    @property
    def sentence(self) -> str:
        """State the change."""
        start, end = self.line
        return (f'{self.name} of {self.arm} changes from {start:.3g} to {end:.3g} within '
                f'{np.ptp(self.date) / DAY:.0f} days (by chance with a probability of '
                f'{self.probability:.0e})')


def day(date: float) -> str:
    """Write a date, s since 1970, as a day."""
    return f'{datetime.fromtimestamp(date, timezone.utc):%Y-%m-%d}'


def drifts(values: Mapping[tuple[str, str], tuple[Array, Array]]) -> tuple[Series, ...]:
    """
    Judge the series of all arms and coefficients of a fleet together.

    Each is dates, ascending, and values, NaN where a bag leaves them open.
    """
    from scipy.stats import kendalltau

    found = []
    for (arm, name), (date, value) in values.items():
        known = np.isfinite(value)
        if not known.any():
            continue
        date, value = date[known], value[known]
        tau, probability = (
            kendalltau(date, value) if np.ptp(date) and np.ptp(value) else (0.0, 1.0))
        series = Series(arm, name, date, value, float(tau), float(probability))
        found.append(replace(series, drifts=bool(
            probability < DRIFT_CHANCE / len(values) and abs(tau) > LEAST_TAU
            and abs(np.subtract(*series.line)) > LEAST_CHANGE * abs(np.median(value)))))
    return tuple(found)
