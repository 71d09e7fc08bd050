# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A stream of joint states: checked, at a uniform rate, filtered and differentiated."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.drive import COMMAND, damping_torque, deviation, joint_torque
from dynid_ros.arm.friction import JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.history import RunningPresliding
from dynid_ros.data.recordings.warmth import RunningWarmth
from dynid_ros.data.streaming.causal_conditioning import StreamFilter
from dynid_ros.data.streaming.resampling import Resampler
from dynid_ros.data.streaming.sample_validation import Counters, SampleValidation
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed

Output = TypeVar('Output')


class JointStream(Checkpointed, Generic[Output]):
    """
    Process samples of an arm in blocks; subclasses define the output.

    Parameters
    ----------
    arm : ArmModel
        The arm.

    Attributes
    ----------
    arm : ArmModel
        The same.
    counters : Counters
        Counts of the rules applied.
    samples : (m, 1 + 2 n) ndarray
        Samples of the incomplete block.
    before : (0 or 1, 1 + 2 n) ndarray
        Stamp, positions and velocities of the last conditioned sample.
    commands : (m, 1 + n) ndarray
        Stamps and commands of the last samples, if they have a delay.
    newest : float
        Stamp of the last processed sample, s.

    """

    saved: tuple[str, ...] = ('samples', 'before', 'commands')
    #: Made by `_design`.
    _conditioner: StreamFilter

    def __init__(self, arm: ArmModel) -> None:
        n = arm.n
        self.arm, self.counters, self.newest = arm, Counters(), -np.inf
        self._intake = SampleValidation(arm.limits.velocity, self.counters)
        self._resampler = Resampler(1 + 2 * n, self.counters)
        self._warmth, self._presliding = RunningWarmth(n), RunningPresliding(n)
        self.samples = np.zeros((0, 1 + 2 * n))
        self.before, self.commands = np.zeros((0, 1 + 2 * n)), np.zeros((0, 1 + n))

    @property
    def rate_hz(self) -> float:
        """Rate of the samples, zero until it is known, Hz."""
        return self._resampler.rate_hz

    def push(self, t: ArrayLike, q: ArrayLike, u: ArrayLike) -> list[Output]:
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
        list of Output
            Completed output, in the order of time.

        """
        new = self._intake.rows(t, q, u)
        self.samples = np.concatenate([self.samples, new]) if len(self.samples) else new
        found: list[Output] = []
        while (size := self._size) <= len(self.samples):
            block, self.samples = self.samples[:size], self.samples[size:]
            found += self._process(block)
        return found

    @property
    def _size(self) -> int:
        """Return the samples of a block."""
        raise NotImplementedError

    def _design(self, rate_hz: float) -> None:
        """Design all filters for a rate."""
        raise NotImplementedError

    def _take(
        self, motion: Array, q: Array, qd: Array, tau: Array, history: JointHistory,
    ) -> list[Output]:
        """
        Take in conditioned samples of one stretch.

        Parameters
        ----------
        motion : (k or k + 1, 1 + 2 n) ndarray
            Stamps, positions and velocities; the sample before comes first.
        q, qd, tau : (k, n) ndarray
            Positions, velocities and torque.
        history : JointHistory
            History of the joints.

        """
        raise NotImplementedError

    def _follow_rate(self, t: Array) -> bool:
        """Measure the rate of the next stamps; return whether it has changed."""
        return self._resampler.watch_rate(t)

    def _end_stretch(self) -> None:
        """Let the next sample begin a new stretch."""
        self._resampler.begin()

    def _restart(self) -> None:
        """Forget all samples, as after a gap."""
        self.before, self.commands = self.before[:0], self.commands[:0]
        self._presliding.reset()
        self._conditioner.reset()

    def _process(self, block: Array) -> list[Output]:
        found: list[Output] = []
        self.newest = float(block[-1, 0])
        for k, stretch in enumerate(self._intake.accept(block)):
            if self.arm.needs_history:
                self._warmth.take(stretch[:, 0], stretch[:, 1:1 + self.arm.n])
            fresh = k > 0
            if fresh:
                self._end_stretch()
            if self._follow_rate(stretch[:, 0]):
                self._design(self.rate_hz)
                fresh = True
            if not self.rate_hz:
                continue
            for uniform in self._resampler.feed(stretch):
                if fresh:
                    self._restart()
                found += self._condition(uniform)
                fresh = True
        return found

    def _condition(self, uniform: Array) -> list[Output]:
        n, drive = self.arm.n, self.arm.drive
        if drive.signal == COMMAND:
            uniform[:, 1 + n:] = deviation(
                self._answered(uniform), uniform[:, 1:1 + n], drive)
        uniform[:, 1 + n:] = joint_torque(uniform[:, 1 + n:], drive)
        t, q, qd, tau = self._conditioner.apply(uniform)
        if not len(t):
            return []
        tau = tau - damping_torque(qd, drive)
        motion = np.concatenate([self.before, np.column_stack([t, q, qd])])
        self.before = motion[-1:]
        history = JointHistory(self._warmth.at(t), self._presliding.take(q))
        return self._take(motion, q, qd, tau, history)

    def _answered(self, uniform: Array) -> Array:
        """Commands (k, n) to which the drives respond at the times of samples."""
        n, delay = self.arm.n, self.arm.conditioning.delay
        if not delay:
            return uniform[:, 1 + n:]
        commands = np.concatenate([self.commands, np.delete(uniform, range(1, 1 + n), axis=1)])
        self.commands = commands[commands[:, 0] >= commands[-1, 0] - delay - 1 / self.rate_hz]
        times = uniform[:, 0] - delay
        return np.column_stack([
            np.interp(times, commands[:, 0], column) for column in commands[:, 1:].T])
