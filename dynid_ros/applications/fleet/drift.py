"""Values of many bags over date: their usual scatter, a step, a slope, and drift."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from dynid_ros.utilities.arrays import Array

DAY = 86400.0
#: Median absolute deviation of a normal distribution, by its standard deviation.
MAD = 0.6745
#: Neighbours whose median an outlier is pulled to, and standard deviations up to which one may
#: stray from it.
NEIGHBOURS, STRAY = 5, 4.0


@dataclass(frozen=True)
class Step:
    """
    A value that changes at once.

    Attributes
    ----------
    first : int
        First bag with the new value, by date.
    change : float
        By how much.
    standard_errors : float
        The change by its standard error.
    seen : float
        The change by the standard deviation of a single bag.

    """

    first: int
    change: float
    standard_errors: float
    seen: float


@dataclass(frozen=True)
class Slope:
    """
    A value that changes steadily.

    Attributes
    ----------
    start, end : float
        Its fitted values at the first and the last bag.
    standard_errors : float
        The slope by its standard error.
    seen : float
        The change from first to last by the standard deviation of a single bag.

    """

    start: float
    end: float
    standard_errors: float
    seen: float


def scatter(deviations: Array) -> float:
    """Return the standard deviation of deviations with outliers, from their absolute median."""
    known = np.abs(deviations[np.isfinite(deviations)])
    return float(np.median(known)) / MAD if len(known) else 0.0


def spread(deviations: Array) -> tuple[float, int]:
    """Return the standard deviation of deviations without those that stray, and their number."""
    kept = deviations[np.abs(deviations) <= STRAY * scatter(deviations)]
    size = float(np.sqrt((kept**2).sum() / max(len(kept) - 1, 1)))
    return max(size, np.finfo(float).tiny), len(kept)


def colour(values: Array, std: Array) -> float:
    """
    Return by how much bags differ from their neighbours, in units of their own deviations.

    Neither a step nor a slope counts, since neighbours share them.
    """
    if len(values) < 2:
        return 1.0
    return max(scatter(np.diff(values) / np.hypot(std[1:], std[:-1])), 1e-12)


def find_step(values: Array, std: Array, shortest: int, least: float) -> Step | None:
    """
    Find the step that the values speak for most.

    Parameters
    ----------
    values, std : (B,) ndarray
        Of the bags in the order of their dates.
    shortest : int
        Bags before and after it, at least.
    least : float
        Least `colour` that is believed: few bags may scatter little by chance.

    Returns
    -------
    Step or None
        None with too few bags.

    """
    count = len(values)
    if count < 2 * shortest:
        return None
    own = std * max(colour(values, std), least)
    pulled, w = _without_strays(values, own), 1 / own**2
    before, weighted = np.cumsum(w), np.cumsum(w * pulled)
    cut = np.arange(shortest, count - shortest + 1) - 1
    after = before[-1] - before[cut]
    change = (weighted[-1] - weighted[cut]) / after - weighted[cut] / before[cut]
    ratio = change / np.sqrt(1 / before[cut] + 1 / after)
    best = int(np.argmax(np.abs(ratio)))
    first = int(cut[best]) + 1
    level = np.repeat(
        [weighted[first - 1] / before[first - 1],
         (weighted[-1] - weighted[first - 1]) / after[best]], [first, count - first])
    noise = _noise((pulled - level) / own, pulled == values)
    return Step(first, float(change[best]), float(abs(ratio[best])) / noise,
                float(abs(change[best]) / np.median(own)))


def find_slope(date: Array, values: Array, std: Array) -> Slope | None:
    """
    Fit a line to values over date.

    Returns
    -------
    Slope or None
        None with fewer than four bags, or all of one date.

    """
    if len(values) < 4 or not np.ptp(date):
        return None
    own = std * colour(values, std)
    pulled, w = _without_strays(values, own), 1 / own**2
    centre = (w * date).sum() / w.sum()
    spread = (w * (date - centre) ** 2).sum()
    slope = (w * (date - centre) * pulled).sum() / spread
    level = (w * pulled).sum() / w.sum()
    residual = (pulled - level - slope * (date - centre)) / own
    noise = _noise(residual, pulled == values)
    start, end = (float(level + slope * (at - centre)) for at in (date[0], date[-1]))
    return Slope(start, end, float(abs(slope) * np.sqrt(spread) / noise),
                 float(abs(end - start) / np.median(own)))


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


def _noise(residual: Array, kept: NDArray[np.bool_]) -> float:
    """
    Return the noise of a fit to pulled values, in their own deviations; at least one.

    Bags that differ slowly, as with the seasons, scatter more about a line than neighbours do.
    Pulled values scatter less than the fit does: it follows those alone that are kept. By Huber
    1981, Robust Statistics, eq. 7.6.3 and 7.6.5, for the two parameters of a line or a step.
    """
    count, share = len(residual), float(max(kept.sum(), 1)) / len(residual)
    rms = float(np.sqrt((residual**2).sum() / (count - 2)))
    return max(1.0, (1 + 2 / count * (1 - share) / share) * rms / share)


def _without_strays(values: Array, std: Array) -> Array:
    """Pull outliers to within some deviations of the median of their neighbours."""
    half = NEIGHBOURS // 2
    padded = np.pad(values, half, mode='edge')
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, NEIGHBOURS), axis=1)
    return np.asarray(np.clip(values, middle - STRAY * std, middle + STRAY * std))
