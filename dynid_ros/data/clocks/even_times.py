"""The even clock of samples that are stamped late."""

from __future__ import annotations

import numpy as np

from dynid_ros.data.clocks.roughness import Index, Roughness
from dynid_ros.utilities.arrays import Array


def even_times(stamps: Array, rough: Roughness, stretch: Index) -> tuple[Array, float] | None:
    """
    Find the times of even samples that are stamped late, by chance.

    Parameters
    ----------
    stamps : (N,) ndarray
        Stamps, s.
    rough : Roughness
        Of the motion.
    stretch : (N,) ndarray of int
        Number of the stretch that a sample belongs to; each has a beginning of its own.

    Returns
    -------
    times : (N,) ndarray
        Of one period in all stretches, s.
    period : float
        s. None instead of both if the times would not increase.

    """
    usual = float(np.median(np.diff(stamps)))
    # No measurement is missing; or those that never arrived take their time.
    found = [_even(stamps, np.append(0, np.cumsum(np.maximum(passed, 1))), stretch)
             for passed in (np.ones(len(stamps) - 1), np.rint(np.diff(stamps) / usual))]
    return min((each for each in found if np.diff(each[0]).min() > 0),
               key=lambda each: rough.overall(each[0]), default=None)


def _even(stamps: Array, count: Array, stretch: Index) -> tuple[Array, float]:
    """Fit even stamps of one period, each stretch with its own beginning."""
    size = np.bincount(stretch)

    def centred(x: Array) -> Array:
        return np.asarray(x - (np.bincount(stretch, x) / size)[stretch])

    middle, own = centred(count), centred(stamps)
    period = float(middle @ own) / max(float(middle @ middle), 1.0)
    return stamps - own + period * middle, period
