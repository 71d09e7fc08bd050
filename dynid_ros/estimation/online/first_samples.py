"""The first seconds of a stream: held until they show the band and the delay of its rows."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import NamedTuple, ParamSpec, TypeVar

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.standstill import motion_windows, time_in_motion
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.band.ladder import USUAL_HZ
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed

#: Time in motion that shows a band, s: the lowest band of the ladder has ten blocks then.
FIRST_SECONDS = 10.0
#: Time from the first motion after which samples are no longer held, s: an arm that hardly moves
#: would fill memory. Of an arm that has not moved yet, the last ones are held.
LONGEST_SECONDS = 60.0
#: Time between two looks at the samples, s.
LOOK_SECONDS = 1.0

P = ParamSpec('P')
T = TypeVar('T')


class Band(NamedTuple):
    """Cut-off, Hz, delay of the drive signal, s, and cut-offs of positions, as chosen."""

    cutoff_hz: float
    delay: float
    position_hz: tuple[float, ...]


class AtOnce(Executor):
    """Does all work before it returns the future, so that nobody waits."""

    def submit(
        self, function: Callable[P, T], /, *arguments: P.args, **named: P.kwargs,
    ) -> Future[T]:
        """Call a function."""
        done: Future[T] = Future()
        done.set_result(function(*arguments, **named))
        return done


class FirstSamples(Checkpointed):
    """
    Samples of a stream whose cut-off nobody has given, until they show one.

    A stream has no later samples to choose by: its rows below one cut-off and delay come from the
    samples that are held, and then from all others as they come. A rest before the motion counts
    for nothing: a node that starts long before it chooses as a recording of the motion alone.

    The search takes many seconds of the processor at 1 kHz. An executor with a thread lets the
    stream go on meanwhile: samples that come until the search has ended are held, too, but decide
    nothing, so that the choice and all rows are those of a search for which the stream waits.

    Parameters
    ----------
    arm : ArmModel
        The arm; its ``conditioning`` may state the delay.
    delay : float, optional
        Time by which the drive signal lags behind the motion, s, if it is known.
    executor : Executor
        Runs the search.

    Attributes
    ----------
    held : (m, 1 + 2 n) ndarray
        Stamps, positions and drive signals that have not been handed on.
    deciding : int
        How many of them decide; zero until they show the band.
    cutoff_hz, delay : float
        As chosen, Hz and s; a cut-off of zero before that.
    position_hz : (n,) or (0,) ndarray
        As chosen; see `ConditioningSettings`.
    looked : float
        Stamp at which the samples were looked at last, s.
    search : Future or None
        The search, once it has begun; copies of a session share it.

    """

    saved = ('held', 'deciding', 'cutoff_hz', 'delay', 'position_hz', 'looked')

    def __init__(self, arm: ArmModel, delay: float | None, executor: Executor) -> None:
        self._arm, self._delay = arm, arm.stated_delay if delay is None else delay
        self._executor = executor
        self.search: Future[Band] | None = None
        self.held: Array = np.zeros((0, 1 + 2 * arm.n))
        self.deciding = 0
        self.cutoff_hz, self.delay, self.looked = 0.0, self._delay or 0.0, -np.inf
        self.position_hz: Array = np.zeros(0)

    def take(self, t: Array, q: Array, u: Array) -> None:
        """
        Hold samples, and let the search begin when they show the band.

        Which samples decide does not depend on the portions in which they come.

        Parameters
        ----------
        t, q, u : (k,) and (k, n) ndarray
            Next samples: stamps, positions and drive signals.

        """
        new = np.column_stack([t, q, u])
        while len(new) and not self.deciding:
            later = np.flatnonzero(new[:, 0] >= self.looked + LOOK_SECONDS)
            stop = int(later[0]) + 1 if len(later) else len(new)
            self.held, new = np.concatenate([self.held, new[:stop]]), new[stop:]
            if len(later):
                self.looked = float(self.held[-1, 0])
                if self._shown():
                    self.deciding = len(self.held)
        self.held = np.concatenate([self.held, new])

    def choose(self, wait: bool = False) -> bool:
        """
        Choose cut-off and delay, and return whether they are chosen.

        Parameters
        ----------
        wait : bool
            Whether to wait for the search, and where the samples do not show the band yet, to
            choose by what there is.

        """
        if wait:
            self.deciding = self.deciding or len(self.held)
        if self.cutoff_hz or not self.deciding:
            return self.cutoff_hz > 0
        if self.search is None:
            self.search = self._executor.submit(
                _choose, self._arm, self.held[:self.deciding], self._delay)
        if not (wait or self.search.done()):
            return False
        self.cutoff_hz, self.delay, position_hz = self.search.result()
        self.position_hz = np.array(position_hz)
        return True

    def hand_on(self, count: int | None) -> tuple[Array, Array, Array]:
        """Return the first samples, at most so many if given: stamps, positions, signals."""
        left, self.held = self.held[:count], self.held[len(self.held[:count]):]
        t, q, u = np.split(left, [1, 1 + self._arm.n], axis=1)
        return t[:, 0], q, u

    def _shown(self) -> bool:
        """Leave out a long rest before the motion; return whether that has lasted long enough."""
        begin, moved = self._motion()
        resting = begin == np.inf
        last = float(self.held[-1, 0])
        oldest = last - LONGEST_SECONDS if resting else begin
        self.held = self.held[~(self.held[:, 0] < oldest)]
        return not resting and (
            moved >= FIRST_SECONDS or last - float(self.held[0, 0]) >= LONGEST_SECONDS)

    def _motion(self) -> tuple[float, float]:
        """When the motion began and how long it lasted, of samples in the order of time, s."""
        t, q = self.held[:, 0], self.held[:, 1:1 + self._arm.n]
        good = np.isfinite(t) & np.isfinite(q).all(axis=1)
        t, q = t[good], q[good]
        later = t > np.maximum.accumulate(np.append(-np.inf, t))[:-1]
        t, q = t[later], q[later]
        found = motion_windows(t, q) if len(t) > 2 else None
        if found is None or not found[1].any():
            return np.inf, 0.0
        edges, moves = found
        return float(edges[moves.any(axis=1).argmax()]), float(time_in_motion(t, q)[-1])


def _choose(arm: ArmModel, samples: Array, delay: float | None) -> Band:
    """Search for the band of samples (m, 1 + 2 n), and for the delay unless it is known."""
    t, q, u = np.split(samples, [1, 1 + arm.n], axis=1)
    try:
        recording, _ = checked_recording(
            Recording(t[:, 0], q, u, arm.joint_names, arm.drive.signal, as_logged=True), arm,
            stamped=True)
        chosen = choose_conditioning(arm, [recording])
    except RecordingError:
        # A stream goes on with what is usual where a recording would be refused.
        return Band(USUAL_HZ, delay or 0.0, ())
    return Band(chosen.cutoff_hz, chosen.delay if delay is None else delay, chosen.position_hz)
