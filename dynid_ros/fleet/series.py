"""Values of many bags over date: their usual scatter, a step, a slope."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

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
    return float(np.median(np.abs(deviations))) / MAD if len(deviations) else 0.0


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
    return Step(int(cut[best]) + 1, float(change[best]), float(abs(ratio[best])),
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
    # Bags that differ slowly, as with the seasons, scatter more about a line than neighbours do.
    noise = max(1.0, float(np.sqrt((residual**2).sum() / (len(values) - 2))))
    start, end = (float(level + slope * (at - centre)) for at in (date[0], date[-1]))
    return Slope(start, end, float(abs(slope) * np.sqrt(spread) / noise),
                 float(abs(end - start) / np.median(own)))


def _without_strays(values: Array, std: Array) -> Array:
    """Pull outliers to within some deviations of the median of their neighbours."""
    half = NEIGHBOURS // 2
    padded = np.pad(values, half, mode='edge')
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, NEIGHBOURS), axis=1)
    return np.asarray(np.clip(values, middle - STRAY * std, middle + STRAY * std))
