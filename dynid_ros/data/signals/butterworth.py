"""Butterworth low-pass forwards and backwards, all joints in one sweep."""

from __future__ import annotations

import numpy as np

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel

ORDER = 4


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

    Notes
    -----
    Both ends are mirrored through the first and the last sample, and each sweep begins settled at
    its first value (Gustafsson, IEEE Trans. Signal Processing 44, 1996, compares the ways).

    """
    # The transient of a low cut-off is as long as three of its periods.
    padding = min(len(x) - 1, int(3 * rate_hz / cutoff_hz))
    extended = np.concatenate([
        2 * x[0] - x[padding:0:-1], x, 2 * x[-1] - x[len(x) - padding - 1:len(x) - 1][::-1]])
    factors = sections(rate_hz, cutoff_hz)
    for back in (False, True):
        state = settled(factors, extended[-1 if back else 0])
        filter_part(factors, state, back, extended)
    return extended[padding:padding + len(x)]


def sections(rate_hz: float, cutoff_hz: float) -> Array:
    """
    Design the filter as sections of order two with unit gain at standstill.

    Parameters
    ----------
    rate_hz, cutoff_hz : float
        As for `butterworth`.

    Returns
    -------
    (2, 3) ndarray
        Of each section: the factor of ``1 + 2/z + 1/z²`` in the numerator, and the factors of 1/z
        and 1/z² in the denominator, by the bilinear transform with prewarping.

    """
    warped = np.tan(np.pi * cutoff_hz / rate_hz)
    # Poles lie on a circle, at these angles from the negative real axis.
    damping = 2 * np.cos(np.pi * np.arange(1, ORDER, 2) / (2 * ORDER)) * warped
    highest = 1 + damping + warped**2
    return np.asarray(np.column_stack([
        np.full(len(damping), warped**2), np.full(len(damping), 2 * (warped**2 - 1)),
        1 - damping + warped**2]) / highest[:, None])


def settled(sections: Array, x: Array) -> Array:
    """
    Find the state of a filter that has seen one value for ever.

    Parameters
    ----------
    sections : (s, 3) ndarray
        As `sections` makes them.
    x : (n,) ndarray
        The value of each signal, which a section passes unchanged.

    Returns
    -------
    (s, 2, n) ndarray
        State of each section.

    """
    b, a1, a2 = sections.T[:, :, None]
    later = (b - a2) * x
    return np.stack([(2 * b - a1) * x + later, later], axis=1)


@kernel
def filter_part(sections: Array, state: Array, back: bool, x: Array) -> None:
    """
    Filter a part of signals in place.

    Parameters
    ----------
    sections : (s, 3) ndarray
        As `sections` makes them.
    state : (s, 2, n) ndarray
        State after the part before, and then after this one.
    back : bool
        Whether to go from the last sample to the first.
    x : (N, n) ndarray
        Signals, column by column.

    Notes
    -----
    Direct form II, transposed: the state of each section is two numbers a joint.

    """
    last, joints = x.shape[0] - 1, x.shape[1]
    for i in range(x.shape[0]):
        k = last - i if back else i
        for s in range(sections.shape[0]):
            b, a1, a2 = sections[s, 0], sections[s, 1], sections[s, 2]
            for j in range(joints):
                share = b * x[k, j]
                result = share + state[s, 0, j]
                state[s, 0, j] = 2 * share - a1 * result + state[s, 1, j]
                state[s, 1, j] = share - a2 * result
                x[k, j] = result
