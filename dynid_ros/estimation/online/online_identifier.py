"""
Estimates of one arm from a stream of joint states.

The stages from a joint state to an estimate, each with the object that it takes and the one that
it makes; `replay` feeds a recording to the same:

1. `OnlineIdentifier.push`: stamps, motor positions and drive signals → time and joint positions
2. `SampleValidation`: samples → stretches without spikes, jumps and gaps
3. `Resampler`: stretches → samples at a uniform rate
4. `CausalConditioner`: uniform samples → low-passed positions, velocities and torque
5. `RowPipeline`: conditioned samples → `RowBlock`, filtered rows of the regressor
6. `RecursiveLeastSquares.predict`: `RowBlock` → innovations, which show outliers
7. `DoubtfulRows`: rows → rows that no outlier spoils
8. `RecursiveLeastSquares.learn`: rows → triangular factors, which `estimate` solves
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.drive import joint_position
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.quality import unmeasured
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.errors import InputError, RecordingError, ResultError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict import Finding
from dynid_ros.estimation.online.estimate import Estimate, Prior
from dynid_ros.estimation.online.online_result import online_result, RowHistory
from dynid_ros.estimation.online.streaming_least_squares import StreamingLeastSquares
from dynid_ros.estimation.regression.preparation import sample_bytes
from dynid_ros.estimation.regression.rows import RowBlock
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed, State
from dynid_ros.utilities.inputs import as_numbers
from dynid_ros.utilities.one_thread import one_thread

#: Of saved states: grows when something is added to them.
FORMAT = 10
#: Latest time that 64 bits hold in ns, in the year 2255, s.
LATEST = 9e9


class OnlineIdentifier(Checkpointed):
    """
    One session of `StreamingLeastSquares` on a live stream, with its history and its checks.

    A saved session gives the result that `dynid_ros.estimation.online.replay.replay` gives of the
    same samples, with the same cut-off, delay and memory.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    source : str
        Name of the stream, for the result.
    cutoff_hz, delay, memory, prior, start
        As for `StreamingLeastSquares`.

    Attributes
    ----------
    estimator : StreamingLeastSquares
        The estimator.
    samples : int
        Samples taken in so far.

    """

    saved = ('samples', '_span', '_signal')

    def __init__(
        self, arm: ArmModel, source: str = 'stream', *, cutoff_hz: float | None = None,
        delay: float | None = None, memory: float = np.inf,
        prior: Prior | None = None, start: IdentifiedModel | None = None,
    ) -> None:
        self._stated = arm
        self._source = source
        self._prior, self._start = prior, start
        self._settings = {'cutoff_hz': cutoff_hz, 'delay': delay, 'memory': memory}
        self.reset()

    @property
    def arm(self) -> ArmModel:
        """Return the arm, without gravity where the drive signal lacks it."""
        return self.estimator.pipeline.arm

    def reset(self) -> None:
        """Forget everything."""
        self.estimator = StreamingLeastSquares(
            self._stated, **self._settings, prior=self._prior,  # type: ignore[arg-type]
            start=self._start)
        self._estimate: Estimate | None = None
        self.history = RowHistory(self.arm.n)
        self._digest = hashlib.sha256()
        self.samples = 0
        self._span = np.zeros(2, dtype=np.int64)
        self._signal = np.array([[np.inf], [-np.inf]]).repeat(self.arm.n, axis=1)

    def forget_after(self, memory: float) -> None:
        """Change the memory, s; a session that has forgotten cannot begin to remember."""
        if memory == np.inf != self._settings['memory'] and self.samples:
            raise InputError('what this session has forgotten does not come back; reset it first')
        self._settings['memory'] = memory
        self.estimator.forget_after(memory)

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
            As from `StreamingLeastSquares.push`; times count from the first sample of the session.

        Raises
        ------
        InputError
            An argument has another shape, or a time is not finite.

        """
        stamps = as_numbers('t', t, 1)
        if not np.isfinite(stamps).all():
            raise InputError('t must be finite, but holds NaN or infinity')
        if (np.abs(stamps) > LATEST).any():
            raise InputError(f't must be in s, but is up to {stamps.max():g}; push_ns takes ns')
        return self._take_in(np.rint(1e9 * stamps).astype(np.int64), 'q', q, u)

    def push_ns(
        self, stamps: NDArray[np.int64], p: ArrayLike, u: ArrayLike,
    ) -> list[tuple[RowBlock, Array]]:
        """
        Take in samples as messages have them.

        Parameters
        ----------
        stamps : (k,) ndarray of int64
            Times since any fixed moment, ns.
        p, u : (k, n) array_like
            Positions of the encoders, which the drive settings of the arm bring to the joints, and
            drive signals, in the order of the joints.

        Returns
        -------
        list of (RowBlock, (k, n) ndarray)
            As from `push`.

        Raises
        ------
        InputError
            An argument has another shape.

        """
        return self._take_in(np.asarray(stamps, dtype=np.int64), 'p', p, u)

    def _take_in(
        self, stamps: NDArray[np.int64], name: str, positions: ArrayLike, signals: ArrayLike,
    ) -> list[tuple[RowBlock, Array]]:
        if not len(stamps):
            return []
        q, u = (as_numbers(each, value, 2, self.arm.n)
                for each, value in ((name, positions), ('u', signals)))
        if not len(stamps) == len(q) == len(u):
            raise InputError(
                f'stamps, {name} and u must have the same number of rows, but have '
                f'{len(stamps)}, {len(q)} and {len(u)}')
        if name == 'p':
            q = joint_position(q, self.arm.drive)
        if not self.samples:
            self._span[:] = stamps[0]
        self._span[1] = stamps[-1]
        self.samples += len(stamps)
        t = (stamps - self._span[0]) * 1e-9
        self._digest.update(sample_bytes(t, q, u))
        self._signal[0] = np.fmin(self._signal[0], np.fmin.reduce(u))
        self._signal[1] = np.fmax(self._signal[1], np.fmax.reduce(u))
        return self.take(t, q, u)

    def take(self, t: Array, q: Array, u: Array) -> list[tuple[RowBlock, Array]]:
        """Take in samples at times since the first one, s, with the positions of the joints."""
        return self._remembered(self.estimator.push(t, q, u))

    def flush(self) -> list[tuple[RowBlock, Array]]:
        """Learn from the samples that wait for later ones."""
        return self._remembered(self.estimator.flush())

    def _remembered(self, learned: list[tuple[RowBlock, Array]]) -> list[tuple[RowBlock, Array]]:
        self.history.add(learned)
        if learned:
            self._estimate = None
        return learned

    def validate(self, begin: float, end: float = np.inf) -> None:
        """
        Only predict what comes from one stamp to another, s, and do not learn from it.

        A motion that began before the session is learned from.
        """
        span = np.array([begin, end]) - self.first_stamp * 1e-9
        if self.samples and span[0] > 0:
            known = self.estimator.validation
            self.estimator.validation = np.vstack([known[known[:, 0] < span[0]], span])

    @one_thread()
    def estimate(self) -> Estimate:
        """Return all that is known now."""
        if self._estimate is None:
            self._estimate = self.estimator.estimate()
        return self._estimate

    def freeze(self, frozen: bool = True) -> None:
        """Keep the estimates as they are, or let them go on."""
        self.estimator.freeze(frozen)
        self._estimate = None

    @property
    def frozen(self) -> bool:
        """Whether the estimates stay as they are."""
        return self.estimator.recursion.frozen

    @property
    def counts(self) -> dict[str, int]:
        """Return how often each rule of the stream was applied."""
        return self.estimator.pipeline.counters.as_dict()

    @property
    def first_stamp(self) -> int:
        """Stamp of the first sample, ns."""
        return int(self._span[0])

    @property
    def dead_signals(self) -> tuple[Finding, ...]:
        """Find the joints that have moved with a drive signal that never changes."""
        low, high = self._signal
        return tuple(
            Finding('effort_dead', unmeasured(name, self.arm.drive.signal, value),
                    'record a topic that holds it', (name,))
            for name, value, dead in zip(
                self.arm.joint_names, low, (low == high) & (self.estimator.recursion.rows > 0),
                strict=True) if dead)

    def copy(self) -> OnlineIdentifier:
        """Return a session of its own that has learned the same."""
        other = copy(self)
        other.reset()
        other.restore(self.state())
        other._digest = self._digest.copy()
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
                f'{self._source}: nothing was learned from {self.samples} samples; let the arm '
                'move for some seconds first')
        seconds = float(self._span[1] - self._span[0]) * 1e-9
        return online_result(
            ended.estimator, ended.history, self._source, label=self._source, samples=self.samples,
            seconds=seconds, data_hash=self._digest.hexdigest(), defects=tuple(defects),
            known=self.dead_signals)

    def state(self) -> State:
        """Return everything that was learned, as arrays for ``np.savez``."""
        return {
            **super().state(), 'session:settings': self._fingerprint(),
            'session:digest': np.frombuffer(self._digest.digest(), dtype=np.uint8)}

    def restore(self, state: State) -> None:
        """
        Go on from a saved state. The data's hash then begins with that of the samples before.

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
        self._estimate = None
        self._digest = hashlib.sha256(state['session:digest'].tobytes())

    def _fingerprint(self) -> NDArray[np.uint8]:
        """Hash of all that a state depends on."""
        arm = self.arm
        settings = repr(
            [FORMAT, arm.name, arm.joint_names, arm.friction,
             arm.friction_shape, *self._settings.values()])
        digest = hashlib.sha256(settings.encode())
        prior = () if self._prior is None else (self._prior.rows, self._prior.sigma)
        start = () if self._start is None else (self._start.theta, self._start.covariance)
        for array in (arm.rotation, arm.translation, arm.gravity, arm.drive.gain, *prior, *start):
            digest.update(np.ascontiguousarray(array).tobytes())
        return np.frombuffer(digest.digest(), dtype=np.uint8)
