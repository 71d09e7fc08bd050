# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction of a decimated stretch, with what happens between its samples at a reversal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.signals.filters import Decimator
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.compiled import kernel

#: Number of samples in which a velocity that counts as near a reversal would reach zero, at its
#: acceleration. All terms are analytic in the velocity except at zero and at imaginary values. So
#: in time, no singularity is nearer than this elsewhere, and folding changes a term by about
#: exp(-2 pi times this number). With 3, 5 and all samples, rows have the same error
#: (test_near_reversals.py).
SAMPLES_TO_ZERO = 3.0


class NearReversals:
    """
    Decimates friction as if it were evaluated at the rate of the recording.

    Torque was decimated by a low-pass, so friction has to pass it, too. Away from reversals,
    friction is as smooth as the motion, and its decimated samples are the friction at the
    decimated velocities. Near reversals it changes between samples. There, it is evaluated at the
    recorded rate, from signals on straight lines between samples, and decimated.

    Parameters
    ----------
    low_pass : Decimator or None
        Filter that decimated the stretch; None if it is not decimated.
    qd : (N, n) ndarray
        Velocities of the stretch, rad/s or m/s.
    part : slice
        Consecutive samples of it.

    Attributes
    ----------
    around : slice
        Samples of the stretch on which these depend.

    """

    def __init__(self, low_pass: Decimator | None, qd: Array, part: slice) -> None:
        self._taps, self._step, near_zero = np.ones(1), 1, 0.0
        if low_pass is not None:
            self._taps, self._step, near_zero = low_pass.taps, low_pass.step, SAMPLES_TO_ZERO
        within = len(self._taps) // 2
        reach = -(-within // self._step)
        # Beyond the ends, the values there are held.
        places = np.clip(np.arange(part.start - reach, part.stop + reach + 1), 0, len(qd) - 1)
        self.around = slice(int(places[0]), int(places[-1]) + 1)
        self._places = places - places[0]
        n, samples = qd.shape[1], part.stop - part.start
        self._marks = np.zeros((n, samples), dtype=np.bool_)
        # Steps between samples that the low-pass of a marked one covers.
        self._steps = np.zeros((n, samples + 2 * reach), dtype=np.bool_)
        self._first = np.zeros(n * samples, dtype=np.int64)
        count, self._between = mark_reversals(
            qd[places], near_zero, reach, self._marks, self._steps, self._first)
        self._first = self._step * self._first[:count] - within

    def between(self, x: Array) -> Array:
        """Interpolate a signal (m, n) of the samples `around` near reversals, (s,)."""
        result = np.empty(self._between * self._step)
        interpolate_steps(x[self._places], self._steps, self._step, result)
        return result

    def decimated(self, values: Array, between: Array) -> None:
        """
        Low-pass a column of friction near reversals.

        Parameters
        ----------
        values : (n, k) ndarray
            Column at the samples, replaced where a reversal is near.
        between : (s,) ndarray
            Column by signals from `between`.

        """
        if len(between):
            filtered = np.empty(len(self._first))
            low_pass_at(between, self._first, self._taps, filtered)
            values[self._marks] = filtered


@kernel
def mark_reversals(
    v: Array, near_zero: float, reach: int, marks: NDArray[np.bool_], covered: NDArray[np.bool_],
    first: NDArray[np.int64],
) -> tuple[int, int]:
    """
    Mark the samples near reversals, and the steps between samples that they depend on.

    Parameters
    ----------
    v : (k + 2 reach + 1, n) ndarray
        Velocities of the samples, and of those before and after on which they depend.
    near_zero : float
        Number of samples in which a velocity near a reversal would reach zero.
    reach : int
        Number of steps between samples that the low-pass covers to either side.
    marks : (n, k) ndarray of bool
        Output: whether such a velocity is within this reach.
    covered : (n, k + 2 reach) ndarray of bool
        Output: whether a step is within the reach of a marked sample.
    first : (n k,) ndarray of int
        Output: for each marked sample, the number of the step behind it among the covered ones.

    Returns
    -------
    marked, steps : int
        Number of marked samples, and of covered steps.

    """
    samples, marked, steps = marks.shape[1], 0, 0
    for j in range(v.shape[1]):
        latest = -1
        for i in range(samples + 2 * reach):
            change = abs(v[i + 1, j] - v[i, j])
            if i > 0:
                change = max(change, abs(v[i, j] - v[i - 1, j]))
            if abs(v[i, j]) < near_zero * change:
                latest = i
            k = i - 2 * reach
            if k >= 0:
                marks[j, k] = latest >= k
        latest = -1
        for i in range(samples + 2 * reach):
            if i < samples and marks[j, i]:
                latest = i
                first[marked] = steps + reach
                marked += 1
            if latest >= 0 and latest >= i - 2 * reach:
                covered[j, i] = True
                steps += 1
    return marked, steps


@kernel
def interpolate_steps(x: Array, covered: NDArray[np.bool_], parts: int, out: Array) -> None:
    """
    Interpolate signals on straight lines between samples.

    Parameters
    ----------
    x : (m + 1, n) ndarray
        Signals.
    covered : (n, m) ndarray of bool
        The steps to interpolate.
    parts : int
        Number of values in each step, the first of which is the sample before it.
    out : (s,) ndarray
        Output: the values, joint by joint.

    """
    place = 0
    for j in range(covered.shape[0]):
        for i in range(covered.shape[1]):
            if covered[j, i]:
                change = x[i + 1, j] - x[i, j]
                for k in range(parts):
                    out[place] = x[i, j] + change * (k / parts)
                    place += 1


@kernel
def low_pass_at(x: Array, first: NDArray[np.int64], taps: Array, out: Array) -> None:
    """
    Evaluate a low-pass at some places of a signal.

    Parameters
    ----------
    x : (s,) ndarray
        Signal.
    first : (k,) ndarray of int
        First sample of each place.
    taps : (L,) ndarray
        Coefficients.
    out : (k,) ndarray
        Output.

    """
    for i in range(first.size):
        # Four sums: each addition waits for the last one to the same sum.
        a = b = c = d = 0.0
        start, whole = first[i], taps.size - taps.size % 4
        for k in range(0, whole, 4):
            a += taps[k] * x[start + k]
            b += taps[k + 1] * x[start + k + 1]
            c += taps[k + 2] * x[start + k + 2]
            d += taps[k + 3] * x[start + k + 3]
        for k in range(whole, taps.size):
            a += taps[k] * x[start + k]
        out[i] = (a + b) + (c + d)
