"""Conditioned motions in a narrower band, with as many samples as that needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.signals.conditioning import (
    ConditionedMotion,
    ConditioningSettings,
    of_positions,
    position_cutoff,
)
from dynid_ros.data.signals.filters import butterworth, decimation_step, Decimator

#: Band of positions and torque that is kept, by the cut-off: far above it, so that the filters for
#: the cut-off alone decide what comes through.
KEPT = 10.0
#: Fewest samples that have derivatives.
FEWEST = 5


class NarrowBand:
    """
    Filters stretches further, for a lower cut-off.

    Parameters
    ----------
    settings : ConditioningSettings
        Those for which the Butterworth filter has conditioned the stretches.
    cutoff_hz : float
        The lower cut-off, Hz.

    Attributes
    ----------
    settings : ConditioningSettings
        Of the result: its rate is lower, too, where the cut-off is far below the rate.

    """

    def __init__(self, settings: ConditioningSettings, cutoff_hz: float) -> None:
        rate, top = settings.rate_hz, KEPT * cutoff_hz
        self._thinned = Decimator(rate, top, decimation_step(rate, top))
        self.settings = replace(settings, rate_hz=rate / self._thinned.step).at(cutoff_hz)

    def narrowed(
        self, motions: Sequence[ConditionedMotion], marks: Sequence[NDArray[np.bool_]],
    ) -> tuple[list[ConditionedMotion], list[NDArray[np.bool_]]]:
        """
        Filter stretches, and take their marks along.

        Parameters
        ----------
        motions : sequence of ConditionedMotion
            Stretches.
        marks : sequence of (N, n) ndarray of bool
            Marks of their samples.

        Returns
        -------
        motions, marks
            Without stretches that are too short.

        """
        if self._thinned.step == 1:
            return [self._filtered(motion) for motion in motions], list(marks)
        long = [(motion, some) for motion, some in zip(motions, marks, strict=True)
                if self._thinned.outputs(len(motion.t)) >= FEWEST]
        return ([self._filtered(motion) for motion, _ in long],
                [some[self._kept(len(some))] for _, some in long])

    def _filtered(self, motion: ConditionedMotion) -> ConditionedMotion:
        t, q, tau, rate = motion.t, motion.q, motion.tau, self.settings.rate_hz
        if self._thinned.step > 1:
            t = t[self._kept(len(t))]
            q, tau = self._thinned.whole(q), self._thinned.whole(tau)
        q = butterworth(q, rate, position_cutoff(self.settings))
        return of_positions(t, q, tau, rate, motion.warmth)

    def _kept(self, samples: int) -> NDArray[np.intp]:
        """Return the samples that are kept out of so many."""
        return self._thinned.reach + self._thinned.step * np.arange(
            self._thinned.outputs(samples))
