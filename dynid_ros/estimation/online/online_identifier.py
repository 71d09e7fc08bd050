# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Estimates of one arm from a stream of joint states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from copy import copy
from dataclasses import replace
import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.drive import COMMAND
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.dynamics.arm_prior import arm_prior, ArmPrior
from dynid_ros.dynamics.base import base_parameters, column_scale
from dynid_ros.errors import InputError, RecordingError, ResultError
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.estimate.weights import carry_over
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.estimation.online.doubtful_rows import DoubtfulRows, Flags
from dynid_ros.estimation.online.intake import Intake, stamps_of
from dynid_ros.estimation.online.online_result import online_result, RowHistory
from dynid_ros.estimation.online.recursive_least_squares import (
    LiveEstimate,
    RecursiveLeastSquares,
)
from dynid_ros.estimation.online.row_pipeline import RowPipeline
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed, State
from dynid_ros.utilities.one_thread import one_thread

#: Version of saved states, raised with each change of their content.
STATE_VERSION = 21

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
    intake : Intake
        From arguments to checked samples.
    pipeline : RowPipeline
        From samples to rows.
    recursion : RecursiveLeastSquares
        From rows to parameters.
    history : RowHistory
        All rows so far.
    validation : (m, 2) ndarray
        Begin and end of each validation motion, in the time of the rows, s.
    validating : bool
        Whether the last rows with motion, and so the metrics, are of a validation motion.

    """

    saved = ('validation', 'validating')

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
        self.stated, self.source, self._executor = arm, source, executor
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
        count = base_parameters(arm).count
        self.intake = Intake(arm)
        self.pipeline = RowPipeline(
            arm, cutoff_hz=self._cutoff_hz, delay=self._delay, executor=self._executor,
            position_hz=() if start is None else start.treatment.position_hz)
        self.recursion = RecursiveLeastSquares(arm.n, count, column_scale(arm), self.prior)
        self.history = RowHistory(arm.n)
        self.validation, self.validating = np.zeros((0, 2)), False
        self._doubtful = DoubtfulRows(arm.n, count)
        self.pipeline.load_theta = self.recursion.theta if start is None else (
            carry_over(start.theta, start.arm, arm))

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
        return self.take(*self.intake.take(stamps, name, positions, signals))

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
        self._learn_doubtful()
        return learned

    def _learn(self, blocks: Iterable[RowBlock]) -> Learned:
        learned = []
        for block in blocks:
            self._follow_rate()
            learned.append((block, self._predict(block)))
            self._follow_load()
        self.history.add(learned)
        return learned

    def _predict(self, block: RowBlock) -> Array:
        """Predict the torque (k, n) of rows, Nm, then learn from those to fit."""
        if block.segment != self._doubtful.segment:
            self._learn_doubtful()
            self._doubtful.segment = block.segment
        seen = block.moving & ~self.unseen(block.t)[:, None]
        if block.moving.any() and self.validating == bool(seen.any()):
            self.validating = not self.validating
            self.recursion.innovations.restart_metrics(
                endless=self.validating or self.recursion.frozen)
        e, wild, doubtful = self.recursion.predict(block.W, block.tau, block.moving)
        self.recursion.learn(*self._doubtful.take(replace(block, moving=seen), wild, doubtful))
        return np.asarray(block.tau - e)

    def _learn_doubtful(self) -> None:
        """Learn from the rows that wait because they may belong to an outlier."""
        self.recursion.learn(*self._doubtful.flush())
        self._follow_load()

    def _follow_rate(self) -> None:
        settings = self.pipeline.settings
        if settings is not None:
            self.recursion.memory = self._memory * settings.rate_hz / settings.decimation
            self._doubtful.reach = -(-settings.decimator().reach // settings.decimation)

    def _follow_load(self) -> None:
        if self._start is None:
            self.pipeline.load_theta = self.recursion.theta

    def unseen(self, t: Array) -> Flags:
        """Return a mask of the times (k,) within a validation motion."""
        return np.asarray(np.searchsorted(self.validation.ravel(), t, side='right') % 2 == 1)

    def validate(self, begin: float, end: float = np.inf) -> None:
        """
        Predict, but do not fit, the samples between two stamps, s; planned later ones are fitted.

        A motion that began before the session is fitted.
        """
        span = np.array([begin, end]) - self.intake.span[0] * 1e-9
        if self.samples and span[0] > 0:
            earlier = self.validation[self.validation[:, 0] < span[0]]
            self.validation = np.vstack([earlier, span])

    @one_thread()
    def estimate(self) -> LiveEstimate:
        """Return the current estimate."""
        return self.recursion.estimate()

    def freeze(self, frozen: bool = True) -> None:
        """Learn from waiting rows, then freeze or unfreeze the estimates."""
        self._learn_doubtful()
        self.recursion.freeze(frozen)

    @property
    def samples(self) -> int:
        """Return the number of samples so far."""
        return self.intake.samples

    @property
    def dead_signals(self) -> tuple[Finding, ...]:
        """Report moved joints whose drive signal never changes."""
        return self.intake.dead_signals(self.recursion.rows > 0)

    def copy(self) -> OnlineIdentifier:
        """Return an independent copy of the session."""
        other = copy(self)
        other.reset()
        other.restore(self.state())
        other.intake.digest = self.intake.digest.copy()
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
        if not len(ended.history.rows):
            raise RecordingError(
                f'{self.source}: no row was fitted from {self.samples} samples; let the arm '
                'move for some seconds first')
        return online_result(ended, self.source, defects)

    def state(self) -> State:
        """Return the complete state, as arrays for ``np.savez``."""
        return {**super().state(), 'session:settings': self._fingerprint()}

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
