# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Estimates of one arm from a stream of joint states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from copy import copy
import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.drive import COMMAND
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.dynamics.arm_prior import arm_prior, ArmPrior
from dynid_ros.errors import InputError, RecordingError, ResultError
from dynid_ros.estimation.blocks.preparation import sample_bytes
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.estimate.weights import carry_over
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.estimation.online.intake import dead_signals, joint_samples, stamps_of
from dynid_ros.estimation.online.online_result import online_result
from dynid_ros.estimation.online.recursive_least_squares import LiveEstimate
from dynid_ros.estimation.online.row_learner import RowLearner
from dynid_ros.estimation.online.row_pipeline import RowPipeline
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed, State
from dynid_ros.utilities.one_thread import one_thread

#: Version of saved states, raised with each change of their content.
STATE_VERSION = 20

#: New rows, and their torque as predicted before they were learned, (k, n), Nm.
Learned = list[tuple[RowBlock, Array]]


class OnlineIdentifier(Checkpointed):
    """
    One session on a live stream: samples in, an estimate at any time.

    A saved session has the same result as `dynid_ros.estimation.online.replay.replay` of the same
    samples, with the same cut-off, delay and memory.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    source : str
        Name of the stream, for the result.
    cutoff_hz, delay : float, optional
        Cut-off of all filters, Hz, and lag of the drive signal behind the motion, s; those of the
        arm if not given. Without a cut-off, both are chosen from the first seconds of the motion.
    memory : float
        Time after which the weight of old data falls to 1/e where new data replaces it, s;
        infinite for no forgetting.
    prior : ArmPrior, optional
        Of the parameters, such as `known_prior` of a model; the `arm_prior` if not given.
    start : IdentifiedModel, optional
        Earlier result of this arm. It supplies cut-off and delay unless given, the load for
        ``load`` friction, and the strengths of friction terms. The estimate itself starts from
        the prior, so that data of the result do not count twice.
    executor : Executor, optional
        Runs the search for cut-off and delay while the stream continues. Held samples are then
        processed in portions: estimates lag for some seconds, but end up the same. Without an
        executor, `push` blocks during the search.

    Attributes
    ----------
    stated : ArmModel
        The arm as stated, with gravity even if the drive signal lacks it.
    prior : ArmPrior
        Prior of the parameters, not scaled to any torque.
    pipeline : RowPipeline
        From samples to rows.
    learner : RowLearner
        From rows to parameters.
    samples : int
        Samples taken in so far.
    span : (2,) ndarray of int64
        Stamps of the first and the last sample, ns.
    signals : (2, n) ndarray
        Lowest and highest drive signal of each joint.

    """

    saved = ('samples', 'span', 'signals')

    def __init__(
        self, arm: ArmModel, source: str = 'stream', *, cutoff_hz: float | None = None,
        delay: float | None = None, memory: float = np.inf,
        prior: ArmPrior | None = None, start: IdentifiedModel | None = None,
        executor: Executor | None = None,
    ) -> None:
        if delay and arm.drive.signal == COMMAND:
            raise InputError(f'a delay of {delay:g} s applies to measured signals; state that of '
                             'commands as "conditioning.delay" in arm.yaml')
        arm.drive.check_scale()
        self.stated, self._source, self._executor = arm, source, executor
        self._start, self.friction_strength = start, dict[str, float]()
        self.prior = arm_prior(self.arm) if prior is None else prior
        if start is not None:
            cutoff_hz = cutoff_hz or start.treatment.cutoff_hz
            delay = start.treatment.delay if delay is None else delay
            self.friction_strength = {
                name: each for name, each in start.friction_strength.items()
                if name in arm.friction}
            # The strengths hold for white residuals, which a stream assumes at first.
            self.prior = self.prior.with_friction(self.arm, self.friction_strength)
        self._cutoff_hz, self._delay, self._memory = cutoff_hz, delay, memory
        self.reset()

    @property
    def arm(self) -> ArmModel:
        """Return the arm, without gravity if the drive signal lacks it."""
        return self.stated.as_measured

    def reset(self) -> None:
        """Forget everything."""
        arm, start = self.arm, self._start
        self.pipeline = RowPipeline(
            arm, cutoff_hz=self._cutoff_hz, delay=self._delay, executor=self._executor,
            position_hz=() if start is None else start.treatment.position_hz)
        self.learner = RowLearner(arm, self.prior)
        self.pipeline.load_theta = self.learner.recursion.theta if start is None else (
            carry_over(start.theta, start.arm, arm))
        self.samples, self.span = 0, np.zeros(2, dtype=np.int64)
        self.signals = np.array([[np.inf], [-np.inf]]).repeat(arm.n, axis=1)
        # `restore` continues from the saved hash.
        self._digest = hashlib.sha256()

    def forget_after(self, memory: float) -> None:
        """Change the memory, s; a session that forgets cannot change to infinite memory."""
        if memory == np.inf != self._memory and self.samples:
            raise InputError('forgotten data does not come back; reset the session first')
        self._memory = memory
        self._follow_rate()

    def push(self, t: ArrayLike, q: ArrayLike, u: ArrayLike) -> Learned:
        """
        Process samples as in a `Recording`; an empty call continues with held samples.

        Parameters
        ----------
        t : (k,) array_like
            Times since any fixed moment, s.
        q, u : (k, n) array_like
            Positions at the joints, rad or m, and drive signals, in the order of the joints.

        Returns
        -------
        list of (RowBlock, (k, n) ndarray)
            New rows, and their torque as predicted before they were learned, Nm; times count from
            the first sample of the session.

        Raises
        ------
        InputError
            An argument has another shape, or a time is not finite.

        """
        return self._take_in(stamps_of(t), 'q', q, u)

    def push_ns(self, stamps: NDArray[np.int64], p: ArrayLike, u: ArrayLike) -> Learned:
        """
        Process samples as in messages, with stamps in ns and positions of encoders.

        Parameters
        ----------
        stamps : (k,) ndarray of int64
            Times since any fixed moment, ns.
        p : (k, n) array_like
            Positions of the encoders, converted to joint positions by the drive of the arm.
        u : (k, n) array_like
            Drive signals, in the order of the joints.

        """
        return self._take_in(np.asarray(stamps, dtype=np.int64), 'p', p, u)

    def _take_in(
        self, stamps: NDArray[np.int64], name: str, positions: ArrayLike, signals: ArrayLike,
    ) -> Learned:
        if not len(stamps):
            none = np.zeros((0, self.arm.n))
            return self.take(np.zeros(0), none, none)
        q, u = joint_samples(self.arm, stamps, name, positions, signals)
        if not self.samples:
            self.span[:] = stamps[0]
        self.span[1] = stamps[-1]
        self.samples += len(stamps)
        t = (stamps - self.span[0]) * 1e-9
        self._digest.update(sample_bytes(t, q, u))
        self.signals[0] = np.fmin(self.signals[0], np.fmin.reduce(u))
        self.signals[1] = np.fmax(self.signals[1], np.fmax.reduce(u))
        return self.take(t, q, u)

    def take(self, t: Array, q: Array, u: Array) -> Learned:
        """Process samples at times since the first one, s, with joint positions."""
        return self._learn(self.pipeline.rows(t, q, u))

    @property
    def holding(self) -> bool:
        """Return whether samples are held for the choice of cut-off and delay."""
        return self.pipeline.holding

    def flush(self) -> Learned:
        """Learn from all samples and rows that wait for later ones."""
        learned = self._learn(self.pipeline.flush())
        self.learner.flush()
        self._follow_load()
        return learned

    def _learn(self, blocks: Iterable[RowBlock]) -> Learned:
        learned = []
        for block in blocks:
            self._follow_rate()
            learned.append((block, self.learner.learn(block)))
            self._follow_load()
        return learned

    def _follow_rate(self) -> None:
        if self.pipeline.settings is not None:
            self.learner.follow(self.pipeline.settings, self._memory)

    def _follow_load(self) -> None:
        if self._start is None:
            self.pipeline.load_theta = self.learner.recursion.theta

    def validate(self, begin: float, end: float = np.inf) -> None:
        """
        Predict, but do not fit, the samples between two stamps, s.

        A motion that began before the session is fitted.
        """
        span = np.array([begin, end]) - self.first_stamp * 1e-9
        if self.samples and span[0] > 0:
            self.learner.validate(span)

    @one_thread()
    def estimate(self) -> LiveEstimate:
        """Return the current estimate."""
        return self.learner.estimate()

    def freeze(self, frozen: bool = True) -> None:
        """Learn from waiting rows, then freeze or unfreeze the estimates."""
        self.learner.freeze(frozen)
        self._follow_load()

    @property
    def first_stamp(self) -> int:
        """Stamp of the first sample, ns."""
        return int(self.span[0])

    @property
    def dead_signals(self) -> tuple[Finding, ...]:
        """Report moved joints whose drive signal never changes."""
        lowest, highest = self.signals
        return dead_signals(self.arm, lowest, highest, self.learner.recursion.rows > 0)

    def copy(self) -> OnlineIdentifier:
        """Return an independent copy of the session."""
        other = copy(self)
        other.reset()
        other.restore(self.state())
        other._digest = self._digest.copy()
        other.pipeline.search = self.pipeline.search
        return other

    @one_thread()
    def result(self, defects: Sequence[Defect] = ()) -> IdentifiedModel:
        """
        Return the result so far, waiting samples included; the stream may continue.

        Raises
        ------
        RecordingError
            No rows yet.

        """
        ended = self.copy()
        ended.flush()
        if not len(ended.learner.history.rows):
            raise RecordingError(
                f'{self._source}: no row was fitted from {self.samples} samples; let the arm '
                'move for some seconds first')
        return online_result(
            ended, self._source, label=self._source, samples=self.samples,
            seconds=float(np.ptp(self.span)) * 1e-9,
            data_hash=self._digest.hexdigest(), defects=tuple(defects),
            known=self.dead_signals)

    def state(self) -> State:
        """Return the complete state, as arrays for ``np.savez``."""
        digest = np.frombuffer(self._digest.digest(), dtype=np.uint8)
        return {**super().state(), 'digest': digest, 'session:settings': self._fingerprint()}

    def restore(self, state: State) -> None:
        """
        Continue from a saved state.

        Raises
        ------
        ResultError
            The state belongs to another arm or other settings.

        """
        if state['session:settings'].tobytes() != self._fingerprint().tobytes():
            raise ResultError(
                'the saved state belongs to another arm or model, to another cut-off, delay or '
                'memory, or to an older version; use the settings of that session, or start '
                'without resuming')
        super().restore(state)
        self._digest = hashlib.sha256(state['digest'].tobytes())
        self._follow_rate()
        self._follow_load()

    def _fingerprint(self) -> NDArray[np.uint8]:
        """Hash of all settings that a state depends on."""
        arm = self.arm
        damping = None if arm.drive.damping is None else arm.drive.damping.tolist()
        settings = repr(
            [STATE_VERSION, arm.name, arm.joint_names, arm.friction, arm.friction_shape,
             arm.drive.signal, damping, arm.conditioning.delay,
             self._cutoff_hz, self._delay, self._memory])
        digest = hashlib.sha256(settings.encode())
        prior = self.prior.values, self.prior.std, self.prior.grouping
        start = () if self._start is None else (self._start.theta, self._start.covariance)
        for array in (arm.rotation, arm.translation, arm.gravity, arm.drive.gain, *prior, *start):
            digest.update(np.ascontiguousarray(array).tobytes())
        return np.frombuffer(digest.digest(), dtype=np.uint8)
