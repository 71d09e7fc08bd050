"""Parallel filtering and decimation: the same low-pass for every column of W and for tau."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid_ros.signals.conditioning_settings import ConditioningSettings

Array = NDArray[np.float64]

#: Samples that are filtered at once.
BLOCK = 512


@dataclass(frozen=True)
class DecimationThresholds:
    """
    Shape of the low-pass, and rate of the samples that are kept.

    Measured figures are those of benchmarks/thresholds.py: real arms (UR10, Panda, TX40),
    simulated arms, and planted defects.

    Attributes
    ----------
    kaiser : float
        Shape parameter of the window. The gain is within 0.8 % of one up to half the cut-off.
    half_periods : float
        Reach of the filter to either side, periods of the cut-off. The gain is 0.8 % at most where
        content folds back.
    rate_per_cutoff : float
        Smallest rate of the samples that are kept, relative to the cut-off. Content from half this
        rate on folds back, so that the stop band has to begin there. Half and twice the rate
        change held-out errors by 0.03 % at most.

    """

    kaiser: float = 5.0
    half_periods: float = 1.5
    rate_per_cutoff: float = 3.0


THRESHOLDS = DecimationThresholds()


def decimation_step(rate_hz: float, cutoff_hz: float) -> int:
    """Decimation factor without aliasing: the stop band is at 1.5 fc."""
    return max(1, int(rate_hz / (THRESHOLDS.rate_per_cutoff * cutoff_hz)))


class Decimator:
    """
    Symmetric FIR low-pass that computes only the samples that are kept.

    It filters a recording in blocks, so that the whole regressor is never in memory.

    Parameters
    ----------
    treatment : ConditioningSettings
        Rate, cut-off and step.

    Attributes
    ----------
    step : int
        Number of samples for each kept one.
    reach : int
        Samples before and after that a kept sample depends on.

    """

    def __init__(self, treatment: ConditioningSettings) -> None:
        self.step = treatment.decimation
        self.reach = int(THRESHOLDS.half_periods * treatment.rate_hz / treatment.cutoff_hz)
        self._relative_cutoff = treatment.cutoff_hz / treatment.rate_hz

    @cached_property
    def taps(self) -> Array:
        """Coefficients, (2 reach + 1,), of unit gain at standstill."""
        k = np.arange(-self.reach, self.reach + 1)
        taps = np.sinc(2 * self._relative_cutoff * k) * np.kaiser(len(k), THRESHOLDS.kaiser)
        return np.asarray(taps / taps.sum())

    @cached_property
    def _matrix(self) -> Array:
        rows = max(1, BLOCK // self.step)
        matrix = np.zeros((rows, (rows - 1) * self.step + len(self.taps)))
        for k in range(rows):
            matrix[k, k * self.step:k * self.step + len(self.taps)] = self.taps
        return matrix

    def outputs(self, samples: int) -> int:
        """Count the samples kept out of so many."""
        return max(0, (samples - len(self.taps)) // self.step + 1)

    def blocks(self, samples: int) -> list[tuple[slice, int]]:
        """Consecutive input slices, and the number of outputs of each."""
        total, rows = self.outputs(samples), len(self._matrix)
        result = []
        for first in range(0, total, rows):
            count = min(rows, total - first)
            start = first * self.step
            stop = start + (count - 1) * self.step + len(self.taps)
            result.append((slice(start, stop), count))
        return result

    def apply(self, x: Array, count: int) -> Array:
        """
        Filter and decimate one block.

        Parameters
        ----------
        x : (N, ...) ndarray
            Samples of one slice of `blocks`.
        count : int
            Outputs of that slice.

        Returns
        -------
        (count, ...) ndarray
            Kept samples.

        """
        flat = np.ascontiguousarray(x).reshape(len(x), -1)
        kept = self._matrix[:count, : len(x)] @ flat
        return np.asarray(kept.reshape(count, *x.shape[1:]))

    def whole(self, x: Array) -> Array:
        """Filter and decimate a whole signal (N, ...)."""
        parts = [self.apply(x[s], count) for s, count in self.blocks(len(x))]
        return np.concatenate(parts) if parts else np.empty((0, *x.shape[1:]))
