# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction between the samples of a decimated stretch."""

from __future__ import annotations

import numpy as np

from dynid_ros.data.signals.filters import Decimator
from dynid_ros.utilities.arrays import Array


class BetweenSamples:
    """
    Interpolates decimated samples to the recorded rate.

    At a reversal, friction changes within one decimated sample. So it is evaluated at the recorded
    rate, and then decimated by the same low-pass as the torque.

    Parameters
    ----------
    low_pass : Decimator or None
        Filter that decimated the stretch; None if it is not decimated.
    part : slice
        Times to interpolate to, counted in samples of the recording from the first of the stretch;
        they may lie beyond both ends.
    samples : int
        Number of samples of the stretch.

    Attributes
    ----------
    around : slice
        Samples from which they are interpolated.

    """

    def __init__(self, low_pass: Decimator | None, part: slice, samples: int) -> None:
        self._step, self.around = 1, part
        if low_pass is not None:
            self._step = step = low_pass.step
            first = part.start // step
            # Beyond the ends, the values there are held.
            places = np.clip(np.arange(first, (part.stop - 1) // step + 2), 0, samples - 1)
            self.around = slice(int(places[0]), int(places[-1]) + 1)
            self._places = places - places[0]
            self._inner = slice(part.start - first * step, part.stop - first * step)

    def finer(self, x: Array) -> Array:
        """Interpolate smooth signals (k, n) of the samples `around`, one in each row, (n, m)."""
        if self._step == 1:
            return np.ascontiguousarray(x.T)
        known = np.ascontiguousarray(x[self._places].T)
        share = np.arange(self._step)[:, None, None] / self._step
        # The steps of all samples first: long rows are faster than those of a few shares.
        fine = np.diff(known, axis=1) * share
        fine += known[:, :-1]
        return np.asarray(fine.transpose(1, 2, 0).reshape(len(known), -1)[:, self._inner])
