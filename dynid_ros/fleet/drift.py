"""Drift of friction and drive gains of an arm over date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from dynid_ros.fleet.series import colour, find_slope, Slope

Array = NDArray[np.float64]
DAY = 86400.0


@dataclass(frozen=True)
class DriftThresholds:
    """
    Bounds of a drift that is reported.

    Attributes
    ----------
    chance : float
        Probability of any false drift in the whole fleet, for normal values. All series of all
        arms share it, so that a large fleet needs more standard errors.
    seen : float
        Change from first to last bag by the deviation of a single one.
    least_change : float
        Change by the level, for friction, or of the gain itself. Warming up changes friction by
        a tenth within an hour.

    """

    chance: float = 1e-4
    seen: float = 2.0
    least_change: float = 0.1


THRESHOLDS = DriftThresholds()


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
    values, std : (B,) ndarray
        Estimates, and standard deviations that the scatter of neighbours confirms.
    slope : Slope or None
        Line through them.
    drifts : bool
        Whether the line counts.

    """

    arm: str
    name: str
    date: Array
    values: Array
    std: Array
    slope: Slope | None
    drifts: bool

    @property
    def sentence(self) -> str:
        """Tell the change."""
        assert self.slope is not None
        days = (self.date[-1] - self.date[0]) / DAY
        return (f'{self.name} of {self.arm} changes from {self.slope.start:.3g} to '
                f'{self.slope.end:.3g} within {days:.0f} days '
                f'({self.slope.standard_errors:.0f} standard errors)')


def drifts(
    values: Mapping[tuple[str, str], tuple[Array, Array, Array]],
) -> tuple[Series, ...]:
    """
    Judge all series of a fleet together.

    Parameters
    ----------
    values : mapping of (str, str) to (date, values, std)
        Of each arm and coefficient, in the order of dates; NaN where a bag leaves it open.

    Returns
    -------
    tuple of Series
        All of them, those that drift marked.

    """
    chance = THRESHOLDS.chance / 2 / max(len(values), 1)
    found = []
    for (arm, name), (date, value, std) in values.items():
        known = np.isfinite(value) & np.isfinite(std) & (std > 0)
        date, value, std = date[known], value[known], std[known]
        slope = find_slope(date, value, std)
        found.append(Series(arm, name, date, value, std * colour(value, std), slope,
                            slope is not None and _counts(slope, value, chance)))
    return tuple(found)


def _counts(slope: Slope, values: Array, chance: float) -> bool:
    limit = float(t.isf(chance, len(values) - 2))
    level = float(np.abs(np.median(values)))
    return (slope.standard_errors > limit and slope.seen > THRESHOLDS.seen
            and abs(slope.end - slope.start) > THRESHOLDS.least_change * level)
