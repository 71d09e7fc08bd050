"""
Estimates of one arm from a stream of joint states.

The stages from a joint state to an estimate, each with the object that it takes and the one that
it makes; `replay` feeds a recording to the same:

1. `OnlineIdentifier.push`: stamps, motor positions and drive signals → time and joint positions
2. `FirstSamples`: the first seconds, held until they show cut-off and delay, if nobody gives these
3. `SampleValidation`: samples → stretches without repeats, spikes, jumps and gaps
4. `Resampler`: stretches → samples at a uniform rate
5. `CausalConditioner`: uniform samples → low-passed positions, velocities and torque
6. `RowPipeline`: conditioned samples → `RowBlock`, filtered rows of the regressor
7. `RecursiveLeastSquares.predict`: `RowBlock` → innovations, which show outliers
8. `DoubtfulRows`: rows → rows that no outlier spoils
9. `RecursiveLeastSquares.learn`: rows → triangular factors, which `estimate` solves
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.drive import COMMAND
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters, column_scale
from dynid_ros.errors import InputError, RecordingError, ResultError
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.estimate.weights import carry_over
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.estimation.online.doubtful_rows import DoubtfulRows, Flags
from dynid_ros.estimation.online.estimate import Estimate, Prior
from dynid_ros.estimation.online.first_samples import FirstSamples
from dynid_ros.estimation.online.intake import Intake, stamps_of
from dynid_ros.estimation.online.online_result import online_result, RowHistory
from dynid_ros.estimation.online.recursive_least_squares import RecursiveLeastSquares
from dynid_ros.estimation.online.row_pipeline import RowPipeline
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed, State, state_of
from dynid_ros.utilities.one_thread import one_thread

#: Of saved states: grows when something is added to them.
FORMAT = 16


class OnlineIdentifier(Checkpointed):
    """
    One session on a live stream: samples in, estimate out, at any time.

    A saved session gives the result that `dynid_ros.estimation.online.replay.replay` gives of the
    same samples, with the same cut-off, delay and memory.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    source : str
        Name of the stream, for the result.
    cutoff_hz, delay : float, optional
        Cut-off of all filters, Hz, and time by which the drive signal lags behind the motion, s;
        the arm's if not given. Without a cut-off, the first seconds of the motion show both.
    memory : float
        Time after which the weight of old data falls to 1/e where new data replaces it, s;
        infinite for no forgetting.
    prior : Prior, optional
        Knowledge from a model; the `arm_prior` if not given.
    start : IdentifiedModel, optional
        Result of this arm: it gives cut-off and delay unless these are given, ``load`` friction
        has the load that it predicts, and friction stays as near zero as there. The estimate
        starts from nothing, so that data that are in the result, too, do not count twice.

    Attributes
    ----------
    stated : ArmModel
        The arm as it is stated, with gravity that the drive signal may lack.
    prior : ArmPrior
        Prior of the arm, as wide as it is before any row.
    pipeline : RowPipeline
        From samples to rows.
    recursion : RecursiveLeastSquares
        From rows to parameters.
    validation : (m, 2) ndarray
        From when to when the arm runs a motion that only validates, in the time of the rows, s.
    validating : bool
        Whether the last rows with motion are of such a motion, so that the metrics are, too.
    history : RowHistory
        All rows so far.

    """

    saved = ('validation', 'validating')

    def __init__(
        self, arm: ArmModel, source: str = 'stream', *, cutoff_hz: float | None = None,
        delay: float | None = None, memory: float = np.inf,
        prior: Prior | None = None, start: IdentifiedModel | None = None,
    ) -> None:
        if delay and arm.drive.signal == COMMAND:
            raise InputError(f'a delay of {delay:g} s is of measured signals; commands have the '
                             'delay that "conditioning.delay" in arm.yaml states')
        arm.drive.check_scale()
        self.stated, self._source = arm, source
        self._given, self._start = prior, start
        self.prior, self.friction_strength = arm_prior(self.arm), dict[str, float]()
        if start is not None:
            cutoff_hz = cutoff_hz or start.treatment.cutoff_hz
            delay = start.treatment.delay if delay is None else delay
            self.friction_strength = {
                name: each for name, each in start.friction_strength.items()
                if name in arm.friction}
            # Rows of a stream count all at first, as those did by which the result was fitted.
            self.prior = self.prior.with_friction(self.arm, self.friction_strength)
        self._cutoff_hz, self._delay, self._memory = cutoff_hz, delay, memory
        self.reset()

    @property
    def arm(self) -> ArmModel:
        """Return the arm, without gravity where the drive signal lacks it."""
        return self.stated.as_measured

    def reset(self) -> None:
        """Forget everything."""
        arm, start = self.arm, self._start
        count = base_parameters(arm).count
        known = self._cutoff_hz or arm.conditioning.cutoff_hz
        self._first = None if known else FirstSamples(arm, self._delay)
        self.pipeline = RowPipeline(
            arm, cutoff_hz=known, delay=self._delay,
            position_hz=() if start is None else start.treatment.position_hz)
        self.recursion = RecursiveLeastSquares(
            arm.n, count, column_scale(arm), self._given or self.prior)
        self._doubtful = DoubtfulRows(arm.n, count)
        self.validation, self.validating = np.zeros((0, 2)), False
        self.pipeline.load_theta = self.recursion.theta if start is None else (
            carry_over(start.theta, start.arm, arm))
        self._estimate: Estimate | None = None
        self.history = RowHistory(self.arm.n)
        self._intake = Intake(self.arm)

    def forget_after(self, memory: float) -> None:
        """Change the memory, s; a session that has forgotten cannot begin to remember."""
        if memory == np.inf != self._memory and self.samples:
            raise InputError('what this session has forgotten does not come back; reset it first')
        self._memory = memory
        if self.pipeline.settings is not None:
            self._follow_rate()

    def push(self, t: ArrayLike, q: ArrayLike, u: ArrayLike) -> list[tuple[RowBlock, Array]]:
        """
        Take in samples, as a `Recording` has them.

        Parameters
        ----------
        t : (k,) array_like
            Times since any fixed moment, s.
        q, u : (k, n) array_like
            Positions at the joints, rad or m, and drive signals, in the order of the joints.

        Returns
        -------
        list of (RowBlock, (k, n) ndarray)
            Rows that became complete, and the prediction of their torque before their use, Nm;
            times count from the first sample of the session.

        Raises
        ------
        InputError
            An argument has another shape, or a time is not finite.

        """
        return self._take_in(stamps_of(t), 'q', q, u)

    def push_ns(
        self, stamps: NDArray[np.int64], p: ArrayLike, u: ArrayLike,
    ) -> list[tuple[RowBlock, Array]]:
        """
        Take in samples as messages have them, with the stamps and the encoders of these.

        Parameters
        ----------
        stamps : (k,) ndarray of int64
            Times since any fixed moment, ns.
        p : (k, n) array_like
            Positions of the encoders, which the drive settings of the arm bring to the joints.
        u : (k, n) array_like
            Drive signals, in the order of the joints.

        """
        return self._take_in(np.asarray(stamps, dtype=np.int64), 'p', p, u)

    def _take_in(
        self, stamps: NDArray[np.int64], name: str, positions: ArrayLike, signals: ArrayLike,
    ) -> list[tuple[RowBlock, Array]]:
        if not len(stamps):
            return []
        return self.take(*self._intake.take(stamps, name, positions, signals))

    def take(self, t: Array, q: Array, u: Array) -> list[tuple[RowBlock, Array]]:
        """Take in samples at times since the first one, s, with the positions of the joints."""
        if self._first is None or not self.holding:
            return self._learn(self.pipeline.push(t, q, u))
        held = self._first.take(t, q, u)
        if held is None:
            return []
        return [*self._begin(), *self._learn(self.pipeline.push(t[held:], q[held:], u[held:]))]

    @property
    def holding(self) -> bool:
        """Return whether samples are held, as they do not show cut-off and delay yet."""
        return self._first is not None and not self._first.cutoff_hz

    def flush(self) -> list[tuple[RowBlock, Array]]:
        """Learn from the samples that wait for later ones, and from the rows that wait."""
        learned = self._begin() if self._first is not None and len(self._first.held) else []
        learned += self._learn(self.pipeline.flush())
        self._absorb(self._doubtful.flush())
        return learned

    def _begin(self) -> list[tuple[RowBlock, Array]]:
        """Choose cut-off and delay by the samples that were held, and learn from these."""
        assert self._first is not None
        samples = self._first.decide()
        self._follow_first()
        return self._learn(self.pipeline.push(*samples))

    def _follow_first(self) -> None:
        first = self._first
        if first is not None and first.cutoff_hz:
            load_theta = self.pipeline.load_theta
            self.pipeline = RowPipeline(
                self.arm, cutoff_hz=first.cutoff_hz, delay=first.delay,
                position_hz=tuple(first.position_hz.tolist()))
            self.pipeline.load_theta = load_theta

    def unseen(self, t: Array) -> Flags:
        """Which times (k,) lie within a validation motion."""
        return np.asarray(np.searchsorted(self.validation.ravel(), t, side='right') % 2 == 1)

    def _learn(self, blocks: list[RowBlock]) -> list[tuple[RowBlock, Array]]:
        learned = []
        for block in blocks:
            if block.segment != self._doubtful.segment:
                self._absorb(self._doubtful.flush())
                self._doubtful.segment = block.segment
            self._follow_rate()
            seen = block.moving & ~self.unseen(block.t)[:, None]
            if block.moving.any() and self.validating == bool(seen.any()):
                self.validating = not self.validating
                self.recursion.innovations.restart_metrics(
                    endless=self.validating or self.recursion.frozen)
            e, wild, doubtful = self.recursion.predict(block.W, block.tau, block.moving)
            self._absorb(self._doubtful.take(replace(block, moving=seen), wild, doubtful))
            learned.append((block, block.tau - e))
        self.history.add(learned)
        if learned:
            self._estimate = None
        return learned

    def _follow_rate(self) -> None:
        settings = self.pipeline.settings
        assert settings is not None
        rate = settings.rate_hz / settings.decimation
        self.recursion.memory = self._memory * rate
        self._doubtful.reach = -(-settings.decimator().reach // settings.decimation)

    def _absorb(self, rows: tuple[Array, Array, Flags]) -> None:
        if rows[2].any():
            self.recursion.learn(*rows)
            self._follow_load()

    def _follow_load(self) -> None:
        if self._start is None:
            self.pipeline.load_theta = self.recursion.theta

    def validate(self, begin: float, end: float = np.inf) -> None:
        """
        Only predict what comes from one stamp to another, s, and do not fit it.

        A motion that began before the session is fitted.
        """
        span = np.array([begin, end]) - self.first_stamp * 1e-9
        if self.samples and span[0] > 0:
            known = self.validation
            self.validation = np.vstack([known[known[:, 0] < span[0]], span])

    @one_thread()
    def estimate(self) -> Estimate:
        """Return all that is known now."""
        if self._estimate is None:
            self._estimate = self.recursion.estimate()
        return self._estimate

    def freeze(self, frozen: bool = True) -> None:
        """Learn from the rows that wait, and keep the estimates as they are, or let them go on."""
        self._absorb(self._doubtful.flush())
        self.recursion.freeze(frozen)
        self._estimate = None

    @property
    def samples(self) -> int:
        """Return the number of samples taken in so far."""
        return self._intake.samples

    @property
    def first_stamp(self) -> int:
        """Stamp of the first sample, ns."""
        return int(self._intake.span[0])

    @property
    def dead_signals(self) -> tuple[Finding, ...]:
        """Find the joints that have moved with a drive signal that never changes."""
        return self._intake.dead_signals(self.recursion.rows > 0)

    def copy(self) -> OnlineIdentifier:
        """Return a session of its own with the same estimate."""
        other = copy(self)
        other.reset()
        other.restore(self.state())
        other._intake.digest = self._intake.digest.copy()
        return other

    @one_thread()
    def result(self, defects: Sequence[Defect] = ()) -> IdentifiedModel:
        """
        Return what is known, with samples that wait for their block; the stream may go on.

        Raises
        ------
        RecordingError
            No rows yet.

        """
        ended = self.copy()
        ended.flush()
        if not len(ended.history.rows):
            raise RecordingError(
                f'{self._source}: no row was fitted from {self.samples} samples; let the arm '
                'move for some seconds first')
        return online_result(
            ended, self._source, label=self._source, samples=self.samples,
            seconds=float(np.ptp(self._intake.span)) * 1e-9,
            data_hash=self._intake.digest.hexdigest(), defects=tuple(defects),
            known=self.dead_signals)

    def state(self) -> State:
        """Return the complete state, as arrays for ``np.savez``."""
        return {**super().state(), 'session:settings': self._fingerprint()}

    def restore(self, state: State) -> None:
        """
        Go on from a saved state.

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
        if self._first is not None:
            # The filters follow from the band.
            self._first.restore(state_of('first', state))
            self._follow_first()
        super().restore(state)
        self._follow_load()
        self._estimate = None

    def _fingerprint(self) -> NDArray[np.uint8]:
        """Hash of all that a state depends on."""
        arm = self.arm
        damping = None if arm.drive.damping is None else arm.drive.damping.tolist()
        settings = repr(
            [FORMAT, arm.name, arm.joint_names, arm.friction, arm.friction_shape,
             arm.drive.signal, damping, arm.conditioning.delay,
             self._cutoff_hz, self._delay, self._memory])
        digest = hashlib.sha256(settings.encode())
        prior = () if self._given is None else (self._given.rows, self._given.sigma)
        start = () if self._start is None else (self._start.theta, self._start.covariance)
        for array in (arm.rotation, arm.translation, arm.gravity, arm.drive.gain, *prior, *start):
            digest.update(np.ascontiguousarray(array).tobytes())
        return np.frombuffer(digest.digest(), dtype=np.uint8)
