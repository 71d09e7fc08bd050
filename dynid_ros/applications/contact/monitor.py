# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""External torque and contact of an arm, from its samples and an identified model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynid_ros.applications.contact.alarm_levels import AlarmLevels, ALARMS_PER_HOUR
from dynid_ros.applications.contact.judgement import Judgement, StreamNoise
from dynid_ros.applications.contact.model_age import ModelAge
from dynid_ros.applications.contact.momentum_observer import (
    BANDWIDTH_HZ,
    HIGHEST,
    MomentumObserver,
)
from dynid_ros.arm.friction import JointHistory
from dynid_ros.data.streaming.causal_conditioning import ShortLag
from dynid_ros.data.streaming.joint_stream import JointStream
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Samples from which the rate is measured.
RATE_SAMPLES = 50
#: Time for which samples are collected before they are processed, s.
LIVE_PORTION_SECONDS = 0.005
#: Fewest samples processed at once, enough to reveal a clock that was set back; and most, limited
#: by memory.
FEWEST_TOGETHER, MOST_TOGETHER = 2, 512


class MonitoredSamples(NamedTuple):
    """
    External torque and contact of m consecutive samples.

    Attributes
    ----------
    t : (m,) ndarray
        Times, s.
    known : float
        Stamp of the newest sample received by then, s.
    q, qd : (m, n) ndarray
        rad, rad/s (m for prismatic joints).
    torque : (m, n) ndarray
        External torque, measured minus modelled and without the tare, Nm.
    std, threshold : (m, n) ndarray
        Its standard deviation without contact, and the magnitude that makes a contact, Nm.
    contact : (m, n) ndarray of bool
        Joints that feel one.

    """

    t: Array
    known: float
    q: Array
    qd: Array
    torque: Array
    std: Array
    threshold: Array
    contact: NDArray[np.bool_]


class Monitor(JointStream[MonitoredSamples]):
    """
    Watch an arm by its identified model.

    Samples are checked, resampled to a uniform rate, differentiated by `ShortLag`, and passed to
    the momentum observer; `Judgement` tells contact from noise. The first `RATE_SAMPLES` samples
    determine the rate.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    alarms_per_hour : float
        False alarms of all joints together, 1/h.
    bandwidth_hz : float
        Of the observer; at rates below ten times it, a tenth of the rate.
    portion : float
        Time for which samples are collected before they are processed, s.
    noise : StreamNoise, optional
        Noise of the stream so far; unknown if not given.

    Attributes
    ----------
    levels : AlarmLevels
        Levels of the residual.
    noise : StreamNoise
        Noise of the stream by now.
    age : ModelAge
        Whether the model still fits.

    Raises
    ------
    InputError
        A parameter is out of its range.

    """

    def __init__(
        self, model: IdentifiedModel, *, alarms_per_hour: float = ALARMS_PER_HOUR,
        bandwidth_hz: float = BANDWIDTH_HZ, portion: float = LIVE_PORTION_SECONDS,
        noise: StreamNoise | None = None,
    ) -> None:
        if not 0 < bandwidth_hz < np.inf:
            raise InputError(
                f'the bandwidth of an observer must be above zero, not {bandwidth_hz:g} Hz')
        super().__init__(model.arm)
        self.model, self._alarms, self._wanted = model, alarms_per_hour, bandwidth_hz
        self.bandwidth_hz = bandwidth_hz
        self.levels = AlarmLevels(model, bandwidth_hz, alarms_per_hour)
        self.noise = StreamNoise(model.arm.n, self.levels.rate) if noise is None else noise
        self.age = ModelAge(model)
        self._portion = portion
        self._judgement: Judgement | None = None
        self._stamps = np.zeros(0)

    def tare(self) -> None:
        """
        Subtract the external torque of the last half second from now on.

        Raises
        ------
        InputError
            It is not known yet.

        """
        if self._judgement is None or not self._judgement.can_tare:
            raise InputError('the external torque is not known yet; tare half a second later')
        self._judgement.tare()

    @property
    def wanted(self) -> int:
        """Return the number of samples that complete the next portion."""
        return self._size - len(self.samples)

    @property
    def _size(self) -> int:
        if not self.rate_hz:
            return RATE_SAMPLES
        return min(max(FEWEST_TOGETHER, round(self._portion * self.rate_hz)), MOST_TOGETHER)

    def allow(self, alarms_per_hour: float) -> None:
        """Change the rate of false alarms, 1/h."""
        self._alarms = alarms_per_hour
        self.levels = AlarmLevels(self.model, self.bandwidth_hz, alarms_per_hour)
        self.noise.rate = self.levels.rate
        if self._judgement is not None:
            self._judgement.levels = self.levels

    def _end_stretch(self) -> None:
        super()._end_stretch()
        self._stamps = self._stamps[:0]

    def _follow_rate(self, t: Array) -> bool:
        """Measure the rate once there are enough stamps; restart if it has changed."""
        self._stamps = np.append(self._stamps, t)
        if len(self._stamps) < RATE_SAMPLES - 2:
            return False
        stamps, self._stamps = self._stamps, self._stamps[-1:]
        return self._resampler.watch_rate(stamps)

    def _design(self, rate_hz: float) -> None:
        model = self.model
        bandwidth = min(self._wanted, HIGHEST * rate_hz)
        if bandwidth != self.bandwidth_hz:
            self.bandwidth_hz = bandwidth
            self.levels = AlarmLevels(model, bandwidth, self._alarms)
        self._conditioner = ShortLag(rate_hz, model.arm.n, model.treatment.delay)
        self._observer = MomentumObserver(model, rate_hz, bandwidth)
        self._judgement = Judgement(self.levels, model.treatment.cutoff_hz, rate_hz, self.noise)

    def _restart(self) -> None:
        super()._restart()
        assert self._judgement is not None
        self._observer.reset()
        self._judgement.restart()

    def _take(
        self, motion: Array, q: Array, qd: Array, tau: Array, history: JointHistory,
    ) -> list[MonitoredSamples]:
        assert self._judgement is not None
        torque, variance, friction = self._observer.apply(q, qd, tau, history)
        m = len(torque)
        if not m:
            return []
        # The observer lags by one sample.
        t, q, qd = np.split(motion[-m - 1:-1], [1, 1 + self.arm.n], axis=1)
        moving = np.abs(qd) >= self.arm.friction_shape.smooth_speed
        tared, std, threshold, contact = self._judgement.take(torque, variance, friction, moving)
        self.age.take(t[:, 0], q, torque, std, moving)
        return [MonitoredSamples(t[:, 0], self.newest, q, qd, tared, std, threshold, contact)]
