"""Values of many bags over date: their usual scatter, a step, a slope, and drift."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import median_filter
from scipy.special import stdtrit

from dynid_ros.utilities.arrays import Array

DAY = 86400.0
#: Median absolute deviation of a normal distribution, by its standard deviation.
MAD = 0.6745
#: Neighbours whose median an outlier is pulled to, and standard deviations up to which one may
#: stray from it.
NEIGHBOURS, STRAY = 5, 4.0
#: Bags of an arm, and arms of a fleet, from which their scatter is known.
FEWEST = 5
#: Bags before and after a change, at least: fewer are odd bags.
SHORTEST = 3
#: A change of load, or a drift, by the deviation of a single bag: the mean of many shows changes
#: that matter to nobody.
SEEN = 2.0
#: Probability of any false drift in the complete fleet, for normal values. All series of all arms
#: share it, so that a large fleet needs more standard errors.
DRIFT_CHANCE = 1e-4
#: Drift by the level, for friction, or of the gain itself. Warming up changes friction by a tenth
#: within an hour.
LEAST_CHANGE = 0.1


class Trend:
    """
    A value that changes over the bags, steadily or at once.

    It is a line over x, fitted to values whose strays are pulled, with deviations of their own.
    Bags that differ slowly, as with the seasons, scatter more about a line than neighbours do.
    Pulled values scatter less than the fit does: it follows those alone that are kept. By Huber
    1981, Robust Statistics, eq. 7.6.3 and 7.6.5, for the two parameters of a line or a step.

    Attributes
    ----------
    start, end : float
        Its fitted values at the first and the last bag.
    standard_errors : float
        The change by its standard error.
    seen : float
        The change by the standard deviation of a single bag.

    """

    def __init__(self, x: Array, values: Array, pulled: Array, own: Array) -> None:
        w = 1 / own**2
        centred = x - w @ x / w.sum()
        spread = w @ centred**2
        slope, level = w @ (centred * pulled) / spread, w @ pulled / w.sum()
        residual, count = (pulled - level - slope * centred) / own, len(values)
        share = max(int((pulled == values).sum()), 1) / count
        rms = float(np.sqrt((residual**2).sum() / (count - 2)))
        noise = max(1.0, (1 + 2 / count * (1 - share) / share) * rms / share)
        self.start, self.end = (float(level + slope * centred[k]) for k in (0, -1))
        self.standard_errors = float(abs(slope) * np.sqrt(spread) / noise)
        self.seen = float(abs(self.end - self.start) / np.median(own))


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


def find_step(values: Array, std: Array, least: float) -> tuple[int, Trend] | None:
    """
    Find the step that the values speak for most, with `SHORTEST` bags before and after it.

    Parameters
    ----------
    values, std : (B,) ndarray
        Of the bags in the order of their dates.
    least : float
        Least `colour` that is believed: few bags may scatter little by chance.

    Returns
    -------
    first : int
        First bag with the new value.
    step : Trend
        The change. None instead of both with too few bags.

    """
    count = len(values)
    if count < 2 * SHORTEST:
        return None
    own = std * max(colour(values, std), least)
    pulled, w = _without_strays(values, own), 1 / own**2
    cut = np.arange(SHORTEST, count - SHORTEST + 1)
    before, left = np.cumsum(w), np.cumsum(w * (pulled - (w @ pulled) / w.sum()))
    # Weighted squares that a level of their own explains in the bags before and after.
    share = left[cut - 1]**2 * (1 / before[cut - 1] + 1 / (before[-1] - before[cut - 1]))
    first = int(cut[np.argmax(share)])
    return first, Trend(np.where(np.arange(count) < first, 0.0, 1.0), values, pulled, own)


def find_slope(date: Array, values: Array, std: Array) -> Trend | None:
    """
    Fit a line to values over date.

    Returns
    -------
    Trend or None
        None with fewer than four bags, or all of one date.

    """
    if len(values) < 4 or not np.ptp(date):
        return None
    own = std * colour(values, std)
    return Trend(date, values, _without_strays(values, own), own)


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
    slope : Trend or None
        Line through them.
    drifts : bool
        Whether the line counts.

    """

    arm: str
    name: str
    date: Array
    values: Array
    std: Array
    slope: Trend | None
    drifts: bool

    @property
    def sentence(self) -> str:
        """State the change."""
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
    chance = DRIFT_CHANCE / 2 / max(len(values), 1)
    found = []
    for (arm, name), (date, value, std) in values.items():
        known = np.isfinite(value) & np.isfinite(std) & (std > 0)
        date, value, std = date[known], value[known], std[known]
        slope = find_slope(date, value, std)
        counts = slope is not None and (
            slope.standard_errors > -stdtrit(len(value) - 2, chance)
            and slope.seen > SEEN
            and abs(slope.end - slope.start) > LEAST_CHANGE * abs(np.median(value)))
        found.append(Series(
            arm, name, date, value, std * colour(value, std), slope, bool(counts)))
    return tuple(found)


def _without_strays(values: Array, std: Array) -> Array:
    """Pull outliers to within some deviations of the median of their neighbours."""
    middle = median_filter(values, NEIGHBOURS, mode='nearest')
    return np.asarray(np.clip(values, middle - STRAY * std, middle + STRAY * std))
