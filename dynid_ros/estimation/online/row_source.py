# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Make rows of samples as they arrive, once the first seconds determine cut-off and delay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.online.row_pipeline import PROCESSED_TOGETHER, RowPipeline
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed, State

#: Time in motion that determines a band, s: the lowest band of the ladder then has ten blocks.
FIRST_SECONDS = 10.0
#: Time from the first motion after which samples are no longer held, s: an arm that hardly moves
#: would fill memory. Before the first motion, this many of the last seconds are held.
HELD_SECONDS = 60.0
#: Time between two checks of the samples, s.
LOOK_SECONDS = 1.0
#: Held samples that are processed at a time after a search in an executor: less than 0.1 s of work
#: for an arm of seven joints, so that the next messages do not wait for long.
HELD_TOGETHER = 500

P = ParamSpec('P')
T = TypeVar('T')


class Band(NamedTuple):
    """Chosen cut-off, Hz, delay of the drive signal, s, and cut-offs of positions, Hz."""

    cutoff_hz: float
    delay: float
    position_hz: tuple[float, ...]


class AtOnce(Executor):
    """Executor that runs each task at once in the calling thread."""

    def submit(
        self, function: Callable[P, T], /, *arguments: P.args, **named: P.kwargs,
    ) -> Future[T]:
        """Call a function."""
        done: Future[T] = Future()
        done.set_result(function(*arguments, **named))
        return done


class RowSource(Checkpointed):
    """
    Make rows of samples; hold the first ones until cut-off and delay are chosen from them.

    Rows with this cut-off and delay are then made of the held samples and of all later ones. A
    rest before the motion does not count: a node that starts long before the motion makes the same
    choice as a recording of the motion alone.

    The search takes many seconds of processor time at 1 kHz. With a threaded executor, the stream
    continues meanwhile: samples that arrive during the search are held, too, but do not affect the
    choice. So the choice and all rows are the same as if the stream had waited.

    Parameters
    ----------
    arm : ArmModel
        The arm; its ``conditioning`` may state cut-off and delay.
    cutoff_hz, delay : float or None
        As for `RowPipeline`; without a cut-off, both are chosen from the first samples, unless the
        delay is stated.
    position_hz : tuple of float
        As for `RowPipeline`.
    executor : Executor or None
        Runs the search; None to block during it.

    Attributes
    ----------
    pipeline : RowPipeline
        From samples to rows; it is replaced once the band is chosen.
    held : (m, 1 + 2 n) ndarray
        Stamps, positions and drive signals that wait.
    deciding : int
        Number of held samples used for the choice; zero until they suffice.
    cutoff_hz, delay : float
        As given or chosen, Hz and s; the cut-off is zero until then.
    position_hz : (n,) or (0,) ndarray
        As given or chosen; see `ConditioningSettings`.
    looked : float
        Stamp of the last check, s.
    search : Future or None
        The search, once started; copies of a session share it.

    """

    saved = ('held', 'deciding', 'cutoff_hz', 'delay', 'position_hz', 'looked')

    def __init__(
        self, arm: ArmModel, cutoff_hz: float | None, delay: float | None,
        position_hz: tuple[float, ...], executor: Executor | None,
    ) -> None:
        self._arm, self._delay = arm, arm.stated_delay if delay is None else delay
        self._executor = executor or AtOnce()
        self._portion = None if executor is None else HELD_TOGETHER
        self.search: Future[Band] | None = None
        self.held: Array = np.zeros((0, 1 + 2 * arm.n))
        self.deciding, self.looked = 0, -np.inf
        self._begin(Band(
            cutoff_hz or arm.conditioning.cutoff_hz or 0.0, self._delay or 0.0, position_hz))

    @property
    def holding(self) -> bool:
        """Return whether samples are held: the band is unknown, or they are not processed yet."""
        return not self.cutoff_hz or len(self.held) > 0

    def take(self, t: Array, q: Array, u: Array) -> Iterator[RowBlock]:
        """
        Yield rows of new samples, or of held ones.

        Blocks are yielded one by one because load friction needs the parameters learned from
        earlier ones, whatever the portions of the samples.

        Parameters
        ----------
        t, q, u : (k,) and (k, n) ndarray
            Next samples, if any: times, s, positions and drive signals.

        """
        if self.holding:
            self._hold(np.column_stack([t, q, u]))
            yield from self._release()
        else:
            yield from self._rows(t, q, u)

    def flush(self) -> Iterator[RowBlock]:
        """Yield rows of all waiting samples."""
        yield from self._release(wait=True)
        yield from self.pipeline.flush()

    def restore(self, state: State) -> None:
        """Continue from a saved state; the band determines the filters."""
        self._follow(Band(float(state['cutoff_hz']), float(state['delay']),
                          tuple(state['position_hz'].tolist())))
        super().restore(state)

    def _follow(self, band: Band) -> None:
        """Make the next rows with another band."""
        load_theta = self.pipeline.load_theta
        self._begin(band)
        self.pipeline.load_theta = load_theta

    def _begin(self, band: Band) -> None:
        self.cutoff_hz, self.delay, self.position_hz = (
            band.cutoff_hz, band.delay, np.array(band.position_hz))
        self.pipeline = RowPipeline(
            self._arm, cutoff_hz=band.cutoff_hz or None, delay=band.delay,
            position_hz=band.position_hz)

    def _hold(self, new: Array) -> None:
        """
        Hold samples, and mark them for the search once they suffice.

        Which samples are used does not depend on the portions in which they arrive.
        """
        while len(new) and not self.deciding:
            later = np.flatnonzero(new[:, 0] >= self.looked + LOOK_SECONDS)
            stop = int(later[0]) + 1 if len(later) else len(new)
            self.held, new = np.concatenate([self.held, new[:stop]]), new[stop:]
            if len(later):
                self.looked = float(self.held[-1, 0])
                if self._enough_motion():
                    self.deciding = len(self.held)
        self.held = np.concatenate([self.held, new])

    def _release(self, wait: bool = False) -> Iterator[RowBlock]:
        """Yield rows of held samples if the band is chosen; wait for it if asked to."""
        if self._chosen(wait):
            count = len(self.held) if wait else self._portion
            released, self.held = self.held[:count], self.held[len(self.held[:count]):]
            t, q, u = np.split(released, [1, 1 + self._arm.n], axis=1)
            yield from self._rows(t[:, 0], q, u)

    def _chosen(self, wait: bool) -> bool:
        """
        Choose cut-off and delay if the samples suffice, and return whether they are chosen.

        Parameters
        ----------
        wait : bool
            Whether to wait for the search; if the samples do not suffice, it uses what there is.

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
        self._follow(self.search.result())
        return True

    def _rows(self, t: Array, q: Array, u: Array) -> Iterator[RowBlock]:
        for k in range(0, len(t), PROCESSED_TOGETHER):
            part = slice(k, k + PROCESSED_TOGETHER)
            yield from self.pipeline.push(t[part], q[part], u[part])

    def _enough_motion(self) -> bool:
        """Drop a long rest before the motion; return whether the motion has lasted long enough."""
        begin, moved = self._motion()
        resting = begin == np.inf
        last = float(self.held[-1, 0])
        oldest = last - HELD_SECONDS if resting else begin
        self.held = self.held[~(self.held[:, 0] < oldest)]
        return not resting and (
            moved >= FIRST_SECONDS or last - float(self.held[0, 0]) >= HELD_SECONDS)

    def _motion(self) -> tuple[float, float]:
        """Return the begin of the motion and its duration, s, from samples in order of time."""
        t, q = self.held[:, 0], self.held[:, 1:1 + self._arm.n]
        good = np.isfinite(t) & np.isfinite(q).all(axis=1)
        t, q = t[good], q[good]
        later = t > np.maximum.accumulate(np.append(-np.inf, t))[:-1]
        t, q = t[later], q[later]
        windows = motion_windows(t, q) if len(t) > 2 else None
        if windows is None or not windows[1].any():
            return np.inf, 0.0
        edges, moves = windows
        return float(edges[moves.any(axis=1).argmax()]), float(time_in_motion(t, q)[-1])


def _choose(arm: ArmModel, samples: Array, delay: float | None) -> Band:
    """Choose the band for samples (m, 1 + 2 n), and the delay unless it is known."""
    t, q, u = np.split(samples, [1, 1 + arm.n], axis=1)
    try:
        recording, _ = checked_recording(
            Recording(t[:, 0], q, u, arm.joint_names, arm.drive.signal, as_logged=True), arm,
            stamped=True)
        chosen = choose_conditioning(arm, [recording])
    except RecordingError:
        # The samples make no valid recording: continue with the usual cut-off.
        return Band(USUAL_HZ, delay or 0.0, ())
    return Band(chosen.cutoff_hz, chosen.delay if delay is None else delay, chosen.position_hz)
