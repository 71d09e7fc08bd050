# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Compensated wrenches of an identified sensor, live or recorded."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from dynid_ros.applications.sensor.estimate import WristSensor
from dynid_ros.applications.sensor.wrist_stream import LONG_HALF_WINDOW_SECONDS, WristStream
from dynid_ros.data.files.wrench_reader import WRENCH_WIDTH, WrenchRecording
from dynid_ros.errors import InputError
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.utilities.arrays import Array

#: Time over which a tare averages, s.
TARE_SECONDS = 0.5


class Compensated(NamedTuple):
    """
    Compensated wrenches.

    Attributes
    ----------
    t : (k,) ndarray
        Times, s.
    wrench : (k, 6) ndarray
        ``[Tx Ty Tz Fx Fy Fz]`` in the stated frame of the sensor, without the load behind it and
        without bias, Nm and N.
    interval : (k, 6) ndarray
        Half of the 95 % interval of each around zero while nothing touches the tool.

    """

    t: Array
    wrench: Array
    interval: Array


class Compensator:
    """
    Subtract load and biases from a stream of wrenches.

    The biases are those at the end of the recording of the sensor, until `tare` replaces them.
    Portions of any size give the same wrenches.

    Parameters
    ----------
    sensor : WristSensor
        The sensor.

    """

    def __init__(self, sensor: WristSensor) -> None:
        self._sensor, fit = sensor, sensor.fit
        self._turn = np.kron(np.eye(2), fit.rotation)
        self._stream = WristStream(sensor.arm, sensor.joint, sensor.place)
        self._last: deque[tuple[float, Array, Array]] = deque()
        self._offset = np.zeros(WRENCH_WIDTH)
        self._reference = np.zeros((WRENCH_WIDTH, len(fit.values)))
        # The noise of a tare falls with the number of windows in its average.
        self._noise = fit.sigma**2

    @property
    def lag(self) -> float:
        """Lag of the wrenches behind the samples, s; zero until their rate is known."""
        return self._stream.lag

    def push(self, t: Array, q: Array, wrench: Array) -> Compensated:
        """
        Take in samples; see `WristStream`.

        Returns
        -------
        Compensated
            Wrenches that became complete.

        """
        found = self._stream.push(t, q, wrench)
        predicted, columns = self._sensor.fit.predicted(found.columns, np.ones(len(found.t)))
        left = found.wrench - predicted
        for each in zip(found.t.tolist(), left, columns, strict=True):
            self._last.append(each)
        while self._last and self._last[-1][0] - self._last[0][0] > TARE_SECONDS:
            self._last.popleft()
        unknown = self._turn @ (columns - self._reference)
        covariance = self._sensor.fit.covariance
        variance = np.einsum('kip,pq,kiq->ki', unknown, covariance, unknown)
        noise = np.diag(self._turn @ np.diag(self._noise) @ self._turn.T)
        return Compensated(
            found.t, (left - self._offset) @ self._turn.T, INTERVAL * np.sqrt(variance + noise))

    def tare(self) -> None:
        """
        Subtract the wrench of the last half second from now on.

        Raises
        ------
        InputError
            It is not known yet.

        """
        seconds = self._last[-1][0] - self._last[0][0] if self._last else 0.0
        if seconds < TARE_SECONDS / 2:
            raise InputError(
                f'the wrench is known for {seconds:.2g} s only; tare half a second later')
        self._offset = np.mean([left for _, left, _ in self._last], axis=0)
        # Errors of load and bias in the tare cancel.
        self._reference = np.mean([columns for *_, columns in self._last], axis=0)
        windows = max(1.0, seconds / (2 * LONG_HALF_WINDOW_SECONDS))
        self._noise = self._sensor.fit.sigma**2 * (1 + 1 / windows)


def compensate(sensor: WristSensor, recording: WrenchRecording) -> Compensated:
    """Compensate a recording as the node does live."""
    return Compensator(sensor).push(recording.t, recording.q, recording.wrench)
