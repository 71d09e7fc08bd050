# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Zero-phase filtering of complete signals by second-order sections."""

from __future__ import annotations

import numpy as np

from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel


def both_ways(sections: Array, x: Array, padding: int) -> Array:
    """
    Filter forwards and backwards, without phase lag.

    Equivalent to ``sosfiltfilt`` of SciPy, whose module takes a second to import.

    Parameters
    ----------
    sections : (S, 6) ndarray
        Coefficients b0, b1, b2, 1, a1 and a2 of sections of unit gain at standstill.
    x : (N, n) ndarray
        Signals, column by column.
    padding : int
        Number of samples by which point reflection extends both ends; less than N.

    Returns
    -------
    (N, n) ndarray
        Filtered signals.

    """
    before = 2 * x[:1] - x[padding:0:-1]
    behind = 2 * x[-1:] - x[-2:-padding - 2:-1]
    # C order, for which the kernel is compiled.
    whole = np.array(np.concatenate([before, x, behind]) if padding else x, float, order='C')
    for backwards in (False, True):
        pass_sections(sections, whole, backwards)
    return whole[padding:len(whole) - padding]


@kernel
def pass_sections(sections: Array, x: Array, backwards: bool) -> None:
    """
    Filter once, in the transposed direct form II.

    Parameters
    ----------
    sections : (S, 6) ndarray
        As for `both_ways`; their initial state is steady at the first sample.
    x : (N, n) ndarray
        Signals; replaced by the filtered ones.
    backwards : bool
        Whether to filter from the last sample to the first.

    """
    samples, n = x.shape
    state = np.empty((sections.shape[0], 2, n))
    for s in range(sections.shape[0]):
        for j in range(n):
            first = x[samples - 1 if backwards else 0, j]
            state[s, 0, j] = (1.0 - sections[s, 0]) * first
            state[s, 1, j] = (sections[s, 2] - sections[s, 5]) * first
    for number in range(samples):
        k = samples - 1 - number if backwards else number
        for s in range(sections.shape[0]):
            b0, b1, b2 = sections[s, 0], sections[s, 1], sections[s, 2]
            a1, a2 = sections[s, 4], sections[s, 5]
            for j in range(n):
                given = x[k, j]
                out = b0 * given + state[s, 0, j]
                state[s, 0, j] = b1 * given - a1 * out + state[s, 1, j]
                state[s, 1, j] = b2 * given - a2 * out
                x[k, j] = out
