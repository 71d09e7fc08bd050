# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction between the samples of a decimated stretch."""

from __future__ import annotations

import numpy as np

from dynid_ros.data.signals.filters import Decimator
from dynid_ros.utilities.arrays import Array


class BetweenSamples:
    """
    Interpolates decimated samples to the recorded rate, and decimates functions of them.

    At a reversal, friction changes within one decimated sample. So it is evaluated at the recorded
    rate, and then decimated by the same low-pass as the torque.

    Parameters
    ----------
    low_pass : Decimator or None
        Filter that decimated the stretch; None if it is not decimated.
    part : slice
        The samples.

    Attributes
    ----------
    around : slice
        Samples from which the part is interpolated.

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
        """Interpolate smooth signals (k, n) of the samples `around`; extrapolate by constants."""
        if self._low_pass is None:
            return x
        indices = self.around.start + np.arange(len(x))
        return np.column_stack([np.interp(self._places, indices, column) for column in x.T])

    def thinned(self, x: Array) -> Array:
        """Decimate signals at the recorded rate, (m, c), to those of the samples."""
        return x if self._low_pass is None else self._low_pass.whole(x)
