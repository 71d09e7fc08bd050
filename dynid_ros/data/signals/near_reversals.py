# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction of a decimated stretch, with what happens between its samples at a reversal."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from dynid_ros.data.signals.filters import Decimator
from dynid_ros.utilities.arrays import Array

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
        v = qd[places].T
        change = np.abs(np.diff(v, axis=1))
        change[:, 1:] = np.maximum(change[:, 1:], change[:, :-1])
        near = np.abs(v[:, :-1]) < near_zero * change
        self._marks = _any_of(near, 2 * reach + 1)
        # Steps between samples that the low-pass of a marked one covers.
        beside = (2 * reach, 2 * reach)
        self._steps = _any_of(np.pad(self._marks, ((0, 0), beside)), 2 * reach + 1)
        number = np.cumsum(self._steps).reshape(self._steps.shape) - 1
        first = number[:, :self._marks.shape[1]][self._marks] + reach
        self._first = self._step * first - within

    def between(self, x: Array) -> Array:
        """Interpolate a signal (m, n) of the samples `around` near reversals, (s,)."""
        known = x[self._places].T
        share = np.arange(self._step) / self._step
        change = np.diff(known, axis=1)[self._steps]
        return np.asarray((known[:, :-1][self._steps, None] + change[:, None] * share).ravel())

    def decimated(self, values: Array, between: Array) -> Array:
        """
        Low-pass a column of friction near reversals.

        Parameters
        ----------
        values : (n, k) ndarray
            Column at the samples.
        between : (s,) ndarray
            Column by signals from `between`.

        Returns
        -------
        (n, k) ndarray
            Column at the samples, decimated where a reversal is near.

        """
        result = values.copy()
        if len(between):
            windows = sliding_window_view(between, len(self._taps))
            result[self._marks] = windows[self._first] @ self._taps
        return result


def _any_of(marks: NDArray[np.bool_], samples: int) -> NDArray[np.bool_]:
    """Whether any of some consecutive samples is marked, (n, k - samples + 1)."""
    count = np.cumsum(np.pad(marks, ((0, 0), (1, 0))), axis=1)
    return np.asarray(count[:, samples:] > count[:, :-samples])
