"""What lies between the samples of a thinned stretch."""

from __future__ import annotations

import numpy as np

from dynid_ros.data.signals.filters import Decimator
from dynid_ros.utilities.arrays import Array


class BetweenSamples:
    """
    Some samples of a stretch as they were before it was thinned.

    Friction changes within a sample where a joint turns round. Evaluated at the rate of the
    recording and brought to fewer samples by the low-pass that the torque has passed, it stays
    what the torque holds of it.

    Parameters
    ----------
    low_pass : Decimator or None
        Which has thinned the stretch; None if nothing has, and all signals are what they are.
    part : slice
        The samples.

    Attributes
    ----------
    around : slice
        Samples that are needed to know what lies between.

    """

    def __init__(self, low_pass: Decimator | None, part: slice) -> None:
        self._low_pass, self.around = low_pass, part
        if low_pass is not None:
            beside = -(-low_pass.reach // low_pass.step)
            self.around = slice(max(part.start - beside, 0), part.stop + beside)
            self._places = np.arange(
                part.start * low_pass.step - low_pass.reach,
                (part.stop - 1) * low_pass.step + low_pass.reach + 1) / low_pass.step

    def finer(self, x: Array) -> Array:
        """Interpolate smooth signals (k, n) of the samples around; the ends of a stretch stay."""
        if self._low_pass is None:
            return x
        known = self.around.start + np.arange(len(x))
        return np.column_stack([np.interp(self._places, known, column) for column in x.T])

    def thinned(self, x: Array) -> Array:
        """Low-pass signals at the rate of the recording (m, c), and keep those of the samples."""
        return x if self._low_pass is None else self._low_pass.whole(x)
