# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Wrenches of a sensor and the columns of a load behind it, through one filter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynid_ros.arm.description.tree import Placement
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.data.files.wrench_reader import WRENCH_WIDTH
from dynid_ros.data.streaming.causal_conditioning import DIFFERENCE, REACH
from dynid_ros.data.streaming.resampling import Resampler
from dynid_ros.data.streaming.sample_validation import Counters
from dynid_ros.dynamics.kinematics.body_regressor import body_motion, body_regressor
from dynid_ros.utilities.arrays import Array

#: Samples from which the rate is measured.
FIRST = 50
#: Half of the window over which positions and wrenches are averaged first, s, as in the monitor.
HALF_SHORT = 0.015
#: Half of the window over which the wrench and the columns of the load are averaged, s: it passes
#: 7 Hz to -3 dB, which arms hardly exceed.
LONG_HALF_WINDOW_SECONDS = 0.05
#: Samples processed at once: their columns fill some 20 MB.
MOST = 4096


class WristSamples(NamedTuple):
    """
    Filtered samples.

    Attributes
    ----------
    t : (k,) ndarray
        Times, s.
    columns : (k, 6, 10) ndarray
        Of the load in the stated frame of the sensor; see `body_regressor`.
    wrench : (k, 6) ndarray
        ``[Tx Ty Tz Fx Fy Fz]`` as measured, by the same filters, Nm and N.

    """

    t: Array
    columns: Array
    wrench: Array


class WristStream:
    """
    Bring samples to a uniform rate, and filter wrench and columns of the load alike.

    Positions are averaged over a short window and differentiated; then the wrench, and the columns
    of the motion, pass one longer window, as the rows of an arm do: both have the same lag and
    bandwidth. Recordings and live samples are treated alike, in portions of any size.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    joint : int
        Joint that moves the link with the sensor.
    place : Placement
        Frame of the sensor in the frame of that link.

    Attributes
    ----------
    lag : float
        Lag of the output, s; zero until the rate is known.

    """

    def __init__(self, arm: ArmModel, joint: int, place: Placement) -> None:
        self._arm, self._joint, self._place = arm, joint, place
        width = 1 + arm.n + WRENCH_WIDTH
        self._resampler = Resampler(width, Counters())
        self._waiting = self._raw = np.zeros((0, width))
        # Stamp, wrench, columns.
        self._rows = np.zeros((0, 1 + WRENCH_WIDTH + WRENCH_WIDTH * len(INERTIAL)))
        self._last, self.lag = -np.inf, 0.0

    def push(self, t: Array, q: Array, wrench: Array) -> WristSamples:
        """
        Take in samples.

        Parameters
        ----------
        t : (k,) ndarray
            Stamps, s; samples that are not later than those before are left out.
        q : (k, n) ndarray
            Positions of the joints, rad or m.
        wrench : (k, 6) ndarray
            Nm and N.

        Returns
        -------
        WristSamples
            Samples that became complete.

        """
        rows = np.column_stack([t, q, wrench])
        rows = rows[np.isfinite(rows).all(axis=1)]
        newest = np.maximum.accumulate(np.append(self._last, rows[:, 0]))
        rows, self._last = rows[rows[:, 0] > newest[:-1]], float(newest[-1])
        if not self._resampler.rate_hz:
            self._waiting = np.concatenate([self._waiting, rows])
            if len(self._waiting) < FIRST:
                return _samples(self._rows[:0])
            self._design(self._waiting[:FIRST, 0])
            rows, self._waiting = self._waiting, self._waiting[:0]
        found = [self._rows[:0]]
        for k, stretch in enumerate(self._resampler.feed(rows)):
            if k > 0:
                self._raw, self._rows = self._raw[:0], self._rows[:0]
            found += [self._averaged(self._with_columns(stretch[start:start + MOST]))
                      for start in range(0, len(stretch), MOST)]
        return _samples(np.concatenate(found))

    def _design(self, t: Array) -> None:
        """Design the filters for the rate of some stamps."""
        self._resampler.watch_rate(t)
        rate = self._resampler.rate_hz
        short = _hann(HALF_SHORT, rate)
        # Taps begin with the oldest sample; all have one length and one centre.
        slope = rate * np.convolve(short, DIFFERENCE[::-1])
        self._short = np.array([
            np.pad(short, 2 * REACH), np.pad(slope, REACH),
            rate * np.convolve(slope, DIFFERENCE[::-1])])
        self._long = _hann(LONG_HALF_WINDOW_SECONDS, rate)
        self.lag = (self._short.shape[1] + len(self._long) - 2) / 2 / rate

    def _with_columns(self, stretch: Array) -> Array:
        """Differentiate positions, and add the columns of the load to wrenches."""
        windows, t, self._raw = _windows(self._raw, stretch, self._short.shape[1])
        if not len(t):
            return self._rows[:0]
        n = self._arm.n
        q, qd, qdd = np.einsum('knl,dl->dkn', windows[:, :n], self._short)
        columns = body_regressor(body_motion(self._arm, self._joint, self._place, q, qd, qdd))
        return np.column_stack([
            t, windows[:, n:] @ self._short[0], columns.reshape(len(t), -1)])

    def _averaged(self, rows: Array) -> Array:
        windows, t, self._rows = _windows(self._rows, rows, len(self._long))
        return np.column_stack([t, windows @ self._long])


def _hann(half: float, rate_hz: float) -> Array:
    """Return the weights of Hann's window of half a length, s, which are positive."""
    window = np.hanning(2 * int(half * rate_hz) + 3)[1:-1]
    return np.asarray(window / window.sum())


def _windows(held: Array, rows: Array, length: int) -> tuple[Array, Array, Array]:
    """Return windows (k, c, length), the stamps in their middle, and the rows to hold."""
    whole = np.concatenate([held, rows])
    count = max(0, len(whole) - length + 1)
    if not count:
        return np.zeros((0, whole.shape[1] - 1, length)), whole[:0, 0], whole
    windows = np.lib.stride_tricks.sliding_window_view(whole[:, 1:], length, axis=0)
    return windows, whole[length // 2:length // 2 + count, 0], whole[count:]


def _samples(rows: Array) -> WristSamples:
    return WristSamples(
        rows[:, 0], rows[:, 1 + WRENCH_WIDTH:].reshape(-1, WRENCH_WIDTH, len(INERTIAL)),
        rows[:, 1:1 + WRENCH_WIDTH])
