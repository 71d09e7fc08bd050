"""External torque and contact of an arm, from its samples and an identified model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.applications.contact.alarm_levels import AlarmLevels, ALARMS_PER_HOUR
from dynid_ros.applications.contact.judgement import Judgement, StreamNoise
from dynid_ros.applications.contact.model_age import ModelAge
from dynid_ros.applications.contact.momentum_observer import (
    BANDWIDTH_HZ,
    HIGHEST,
    MomentumObserver,
)
from dynid_ros.arm.drive import joint_torque
from dynid_ros.arm.friction import JointHistory
from dynid_ros.data.recordings.history import RunningPresliding
from dynid_ros.data.recordings.warmth import RunningWarmth
from dynid_ros.data.streaming.causal_conditioning import ShortLag
from dynid_ros.data.streaming.resampling import Resampler
from dynid_ros.data.streaming.sample_validation import Counters, SampleValidation
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Samples from which the rate is measured.
FIRST = 50
#: Time for which samples are collected before they are worked on, s.
PORTION = 0.005
#: Fewest samples that are worked on at once, from which a clock that was set back shows; and most,
#: whose rows are in memory.
LEAST, MOST = 2, 512


class MonitoredSamples(NamedTuple):
    """
    External torque and contact of m consecutive samples.

    Attributes
    ----------
    t : (m,) ndarray
        Times, s.
    known : float
        Stamp of the newest sample that had come by then, s.
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


class Monitor:
    """
    Watch an arm by its identified model.

    Samples are checked, brought to a uniform rate, differentiated by `ShortLag`, and go through
    the momentum observer; `Judgement` finds contact in noise. The first `FIRST` samples give the
    rate.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    alarms_per_hour : float
        False alarms of all joints together, 1/h.
    bandwidth_hz : float
        Of the observer; at rates below ten times it, a tenth of the rate.
    portion : float
        Time for which samples are collected before they are worked on, s.
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
    counters : Counters
        Defects of the samples.
    rate_hz : float
        Rate of the samples, zero until it is known.

    Raises
    ------
    InputError
        A parameter is out of its range.

    """

    def __init__(
        self, model: IdentifiedModel, *, alarms_per_hour: float = ALARMS_PER_HOUR,
        bandwidth_hz: float = BANDWIDTH_HZ, portion: float = PORTION,
        noise: StreamNoise | None = None,
    ) -> None:
        if not 0 < bandwidth_hz < np.inf:
            raise InputError(
                f'the bandwidth of an observer must be above zero, not {bandwidth_hz:g} Hz')
        self.model, self._alarms, self._wanted = model, alarms_per_hour, bandwidth_hz
        self.bandwidth_hz = bandwidth_hz
        self.levels = AlarmLevels(model, bandwidth_hz, alarms_per_hour)
        self.noise = StreamNoise(model.arm.n, self.levels.rate) if noise is None else noise
        self.age = ModelAge(model)
        self.counters = Counters()
        self._portion = portion
        self._judgement: Judgement | None = None
        n = model.arm.n
        self._intake = SampleValidation(model.arm.limits.velocity, self.counters)
        self._resampler = Resampler(1 + 2 * n, self.counters)
        self._samples = np.zeros((0, 1 + 2 * n))
        self._stamps = np.zeros(0)
        self._before = np.zeros((0, 1 + 2 * n))
        self._warmth, self._presliding = RunningWarmth(n), RunningPresliding(n)

    @property
    def rate_hz(self) -> float:
        """Rate of the samples, zero until it is known, Hz."""
        return self._resampler.rate_hz

    def tare(self) -> None:
        """
        Take the external torque of the last half second off from now on.

        Raises
        ------
        InputError
            It is not known yet.

        """
        if self._judgement is None or not self._judgement.can_tare:
            raise InputError('the external torque is not known yet; tare half a second later')
        self._judgement.tare()

    def push(self, t: ArrayLike, q: ArrayLike, u: ArrayLike) -> list[MonitoredSamples]:
        """
        Take in samples.

        Parameters
        ----------
        t : float or (k,) array_like
            Stamps, s.
        q, u : (n,) or (k, n) array_like
            Positions of the joints, and the drive signal as recorded.

        Returns
        -------
        list of MonitoredSamples
            Those that became complete, in the order of time.

        """
        new = self._intake.rows(t, q, u)
        self._samples = np.concatenate([self._samples, new])
        found: list[MonitoredSamples] = []
        while (size := self._size) <= len(self._samples):
            block, self._samples = np.split(self._samples, [size])
            found += self._work_on(block)
        return found

    @property
    def wanted(self) -> int:
        """Return the number of samples with which the next ones become complete."""
        return self._size - len(self._samples)

    @property
    def _size(self) -> int:
        if not self.rate_hz:
            return FIRST
        return min(max(LEAST, round(self._portion * self.rate_hz)), MOST)

    def _work_on(self, block: Array) -> Iterator[MonitoredSamples]:
        newest = float(block[-1, 0])
        for k, stretch in enumerate(self._intake.accept(block)):
            self._warmth.take(stretch[:, 0], stretch[:, 1:1 + self.model.arm.n])
            fresh = k > 0
            if fresh:
                self._resampler.begin()
                self._stamps = self._stamps[:0]
            if self._follow_rate(stretch[:, 0]):
                self._design()
                fresh = True
            if self._judgement is None:
                continue
            for uniform in self._resampler.feed(stretch):
                if fresh:
                    self._restart()
                fresh = True
                found = self._observe(uniform, newest)
                if found is not None:
                    yield found

    def allow(self, alarms_per_hour: float) -> None:
        """Change the rate of false alarms, 1/h."""
        self._alarms = alarms_per_hour
        self.levels = AlarmLevels(self.model, self.bandwidth_hz, alarms_per_hour)
        self.noise.rate = self.levels.rate
        if self._judgement is not None:
            self._judgement.levels = self.levels

    def _follow_rate(self, t: Array) -> bool:
        """Look at the rate once there are enough stamps; a rate that is new begins anew."""
        self._stamps = np.concatenate([self._stamps, t])
        if len(self._stamps) < FIRST - 2:
            return False
        stamps, self._stamps = self._stamps, self._stamps[-1:]
        return self._resampler.watch_rate(stamps)

    def _design(self) -> None:
        """Design all filters for the rate."""
        model, rate = self.model, self.rate_hz
        bandwidth = min(self._wanted, HIGHEST * rate)
        if bandwidth != self.bandwidth_hz:
            self.bandwidth_hz = bandwidth
            self.levels = AlarmLevels(model, bandwidth, self._alarms)
        self._motion = ShortLag(rate, model.arm.n, model.treatment.delay)
        self._observer = MomentumObserver(model, rate, bandwidth)
        self._slow = model.arm.friction_shape.smooth_speed
        self._judgement = Judgement(self.levels, model.treatment.cutoff_hz, rate, self.noise)

    def _restart(self) -> None:
        assert self._judgement is not None
        self._before = self._before[:0]
        self._motion.reset()
        self._presliding.reset()
        self._observer.reset()
        self._judgement.restart()

    def _observe(self, uniform: Array, newest: float) -> MonitoredSamples | None:
        assert self._judgement is not None
        n = self.model.arm.n
        uniform[:, 1 + n:] = joint_torque(uniform[:, 1 + n:], self.model.arm.drive)
        t, q, qd, tau = self._motion.apply(uniform)
        if not len(t):
            return None
        whole = np.concatenate([self._before, np.column_stack([t, q, qd])])
        self._before = whole[-1:]
        history = JointHistory(self._warmth.at(t), self._presliding.take(q))
        torque, variance, friction = self._observer.apply(q, qd, tau, history)
        m = len(torque)
        if not m:
            return None
        # The observer lags by one sample.
        t, q, qd = np.split(whole[-m - 1:-1], [1, 1 + n], axis=1)
        moving = np.abs(qd) >= self._slow
        tared, std, threshold, contact = self._judgement.take(torque, variance, friction, moving)
        self.age.take(t[:, 0], q, torque, std, moving)
        return MonitoredSamples(t[:, 0], newest, q, qd, tared, std, threshold, contact)
