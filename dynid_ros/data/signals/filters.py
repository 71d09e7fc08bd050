# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Low-pass filters, differentiation and decimation of uniformly sampled signals, without lag."""

from __future__ import annotations

from functools import cached_property
import math

import numpy as np

from dynid_ros.data.signals.second_order import both_ways
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed
from dynid_ros.utilities.in_blocks import blocks

FIR_ORDER = 30
FIR_CUTOFF = 0.07
BUTTERWORTH_ORDER = 4


def butterworth(x: Array, rate_hz: float, cutoff_hz: float) -> Array:
    """
    Low-pass forwards and backwards with a Butterworth filter of order four.

    Parameters
    ----------
    x : (N, n) ndarray
        Signals, column by column.
    rate_hz, cutoff_hz : float
        Sample rate, and where the gain of one pass falls to -3 dB.

    Returns
    -------
    (N, n) ndarray
        Without phase lag.

    """
    # For a low cut-off, `scipy.signal.butter` would round the poles, which are close to one.
    warped = np.tan(np.pi * cutoff_hz / rate_hz)
    damping = 2 * warped * np.cos(
        np.pi * np.arange(1, BUTTERWORTH_ORDER, 2) / (2 * BUTTERWORTH_ORDER))
    high = 1 + damping + warped**2
    gain = warped**2 / high
    sections = np.column_stack([
        gain, 2 * gain, gain, np.ones_like(gain), 2 * (warped**2 - 1) / high,
        (1 - damping + warped**2) / high])
    # The transient lasts three periods of the cut-off.
    padding = min(len(x) - 1, int(3 * rate_hz / cutoff_hz))
    return both_ways(sections, x, padding)


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
    result, period = np.empty(x.shape), 1 / rate_hz
    result[0], result[-1] = (x[1] - x[0]) / period, (x[-1] - x[-2]) / period
    result[1], result[-2] = (x[2] - x[0]) / (2 * period), (x[-1] - x[-3]) / (2 * period)
    result[2:-2] = (8 * (x[3:-1] - x[1:-3]) - (x[4:] - x[:-4])) * (rate_hz / 12)
    return result


# Shape of the low-pass, and rate of the samples that are kept. Measured figures come from
# benchmarks/thresholds.py: real arms (UR10, Panda, TX40), simulated arms, and planted defects.
#: Shape parameter of the window. The gain is within 0.8 % of one up to half the cut-off.
KAISER = 5.0
#: Reach of the filter to either side, periods of the cut-off. The gain is 0.8 % at most at
#: frequencies that alias.
REACH_PERIODS = 1.5
#: Least rate of the kept samples, relative to the cut-off. Content above half this rate aliases,
#: so the stop band has to begin there. Half and twice the rate change held-out errors by 0.03 % at
#: most.
RATE_PER_CUTOFF = 3.0


def decimation_step(rate_hz: float, cutoff_hz: float) -> int:
    """Decimation factor without aliasing: the stop band is at 1.5 fc."""
    return max(1, int(rate_hz / (RATE_PER_CUTOFF * cutoff_hz)))


class Decimator:
    """
    Symmetric FIR low-pass that computes only the kept samples.

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
        Number of samples before and after on which a kept sample depends.

    """

    def __init__(self, rate_hz: float, cutoff_hz: float, step: int) -> None:
        self.step = step
        self.reach = int(REACH_PERIODS * rate_hz / cutoff_hz)
        self._relative_cutoff = cutoff_hz / rate_hz

    @cached_property
    def taps(self) -> Array:
        """Coefficients, (2 reach + 1,), of unit gain at standstill."""
        k = np.arange(-self.reach, self.reach + 1)
        taps = np.sinc(2 * self._relative_cutoff * k) * np.kaiser(len(k), KAISER)
        return np.asarray(taps / taps.sum())

    def outputs(self, samples: int) -> int:
        """Return the number of kept samples for a number of samples."""
        return max(0, (samples - len(self.taps)) // self.step + 1)

    def whole(self, x: Array) -> Array:
        """Filter and decimate a complete signal (N, ...)."""
        flat = x.reshape(len(x), math.prod(x.shape[1:]))
        stream = StreamDecimator(self, flat.shape[1])
        # Its buffer would be a second signal of full length.
        kept = np.concatenate([stream.apply(flat[part]) for part in blocks(len(flat))] or [flat])
        return kept.reshape(len(kept), *x.shape[1:])


class Shares:
    """
    Coefficients of a decimator for blocks of consecutive samples.

    Parameters
    ----------
    decimator : Decimator
        The filter.
    samples : int
        Number of samples in a block.

    """

    def __init__(self, decimator: Decimator, samples: int) -> None:
        self._step, self._length, self._samples = decimator.step, len(decimator.taps), samples
        beside = np.zeros(samples)
        self._windows = np.lib.stride_tricks.sliding_window_view(
            np.concatenate([beside, decimator.taps, beside]), samples)
        # Blocks at the same offset have the same coefficients.
        self._cache: dict[tuple[int, int], Array] = {}

    def of(self, start: int, outputs: int) -> tuple[slice, Array]:
        """
        Return the outputs that a block contributes to, and its coefficients.

        Parameters
        ----------
        start : int
            Index of the first sample of the block.
        outputs : int
            Number of outputs of the signal.

        Returns
        -------
        within : slice
            The outputs, k of them.
        share : (k, samples) ndarray
            Coefficients.

        """
        low = max(0, (start - self._length) // self._step + 1)
        high = min(outputs, (start + self._samples - 1) // self._step + 1)
        key = start - self._step * low, high - low
        if key not in self._cache:
            # The coefficients of each further output are shifted by a step.
            places = self._samples + key[0] - self._step * np.arange(key[1])
            self._cache[key] = self._windows[places]
        return slice(low, high), self._cache[key]


class StreamDecimator(Checkpointed):
    """
    Filter a stream as `Decimator` filters a recording, and keep each `step`-th sample.

    The output lags by the reach of the filter. Blocks of any lengths give the same numbers.

    Parameters
    ----------
    decimator : Decimator
        The filter.
    columns : int
        Number of signals c.

    Attributes
    ----------
    buffer : (k, c) ndarray
        Samples on which further outputs depend.

    """

    saved = ('buffer',)

    def __init__(self, decimator: Decimator, columns: int) -> None:
        self._decimator = decimator
        self.buffer = np.zeros((0, columns))

    def reset(self) -> None:
        """Forget all samples, as after a gap."""
        self.buffer = self.buffer[:0]

    def apply(self, x: Array) -> Array:
        """
        Filter the next samples.

        Parameters
        ----------
        x : (k, c) ndarray
            Signals.

        Returns
        -------
        (m, c) ndarray
            Complete outputs.

        """
        taps, step = self._decimator.taps, self._decimator.step
        whole = np.concatenate([self.buffer, x])
        count = self._decimator.outputs(len(whole))
        self.buffer = whole[count * step:]
        if not count:
            return np.zeros((0, x.shape[1]))
        windows = np.lib.stride_tricks.sliding_window_view(whole, len(taps), axis=0)
        return np.asarray(windows[:count * step:step] @ taps)
