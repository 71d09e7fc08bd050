"""Low-pass filters, differentiation and decimation of uniformly sampled signals, without lag."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynid_ros.arrays import Array
from dynid_ros.compiled import kernel
from dynid_ros.large_arrays import large_array

FIR_ORDER = 30
FIR_CUTOFF = 0.07
#: Samples that are filtered at once.
BLOCK = 512


def nuttall_fir(x: Array) -> Array:
    """
    Low-pass forwards and backwards with the FIR filter of the two-axis article.

    Order 30, Nuttall window, cut-off at 0.07 of the Nyquist frequency, whatever the rate.

    Parameters
    ----------
    x : (N, n) ndarray
        Signals, column by column.

    Returns
    -------
    (N, n) ndarray
        Without phase lag.

    """
    from scipy.signal import filtfilt, firwin

    taps = firwin(FIR_ORDER + 1, FIR_CUTOFF, window='nuttall')
    return np.asarray(filtfilt(taps, 1.0, x, axis=0, padlen=min(len(x) - 1, 3 * FIR_ORDER)))


def differentiate(x: Array, rate_hz: float) -> Array:
    """
    Differentiate by central differences over five points, three and two at the ends.

    Parameters
    ----------
    x : (N, n) ndarray
        Signals, column by column, at least five samples.
    rate_hz : float
        Sample rate.

    Returns
    -------
    (N, n) ndarray
        Derivative by time. Five points, since three lose 0.7 % of a 1 Hz motion at 30 Hz.

    """
    result, period = large_array(x.shape), 1 / rate_hz
    result[0], result[-1] = (x[1] - x[0]) / period, (x[-1] - x[-2]) / period
    result[1], result[-2] = (x[2] - x[0]) / (2 * period), (x[-1] - x[-3]) / (2 * period)
    inner = result[2:-2].reshape(-1)
    five_points(np.ascontiguousarray(x, dtype=float).reshape(-1), x.shape[1], rate_hz / 12, inner)
    return result


@kernel
def five_points(x: Array, joints: int, factor: float, out: Array) -> None:
    """Difference over five samples, of signals (N n,) that lie sample by sample."""
    far, near, ahead, farther = (
        x[:out.size], x[joints:], x[3 * joints:], x[4 * joints:])
    for k in range(out.size):
        out[k] = (8 * (ahead[k] - near[k]) - (farther[k] - far[k])) * factor


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
    rate_hz, cutoff_hz : float
        Rate of the samples, and cut-off of the low-pass.
    step : int
        Number of samples for each kept one.

    Attributes
    ----------
    step : int
        Of the parameters.
    reach : int
        Samples before and after that a kept sample depends on.

    """

    def __init__(self, rate_hz: float, cutoff_hz: float, step: int) -> None:
        self.step = step
        self.reach = int(THRESHOLDS.half_periods * rate_hz / cutoff_hz)
        self._relative_cutoff = cutoff_hz / rate_hz

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
        return np.concatenate([
            np.empty((0, *x.shape[1:])),
            *(self.apply(x[some], count) for some, count in self.blocks(len(x)))])
