# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Causal pipeline from samples to rows of the regression, without acceleration."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, Future
from dataclasses import replace
from functools import partial

import numpy as np

from dynid_ros.arm.friction import JointHistory
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals import conditioning
from dynid_ros.data.signals.conditioning import ConditioningSettings, position_cutoff
from dynid_ros.data.signals.filters import decimation_step, StreamDecimator
from dynid_ros.data.signals.first_order import FirstOrderFilter
from dynid_ros.data.signals.standstill import RunningStandstill
from dynid_ros.data.streaming.causal_conditioning import CausalConditioner
from dynid_ros.data.streaming.joint_stream import JointStream
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.momentum import momentum_regressors
from dynid_ros.estimation.blocks.prediction import friction_load
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.online.first_band import Band, choose_band, from_motion
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import State, state_of

#: Samples processed at a time.
PROCESSED_TOGETHER = 50
#: Time between two checks of the held samples, s.
LOOK_SECONDS = 1.0
#: Held samples that are processed at a time after a search in an executor: less than 0.1 s of work
#: for an arm of seven joints, so that the next messages do not wait for long.
HELD_TOGETHER = 500


class RowPipeline(JointStream[RowBlock]):
    """
    The online pipeline of an arm: samples in, rows of ``W theta = tau`` out.

    Samples are checked, resampled to a uniform rate, low-passed and differentiated once.
    First-order filters turn the regressors of momentum and force into regressor rows, which pass
    the low-pass of the batch together with the torque. Samples are processed in blocks of
    `PROCESSED_TOGETHER`, so that rows do not depend on the portions in which they arrive.

    Without a cut-off, the first samples are held until cut-off and delay are chosen from them;
    rows are then made of these and of all later samples. A rest before the motion does not count:
    a node that starts long before the motion makes the same choice as a recording of the motion
    alone. The search takes many seconds of processor time at 1 kHz. With a threaded executor, the
    stream continues meanwhile: samples that arrive during the search are held, too, but do not
    affect the choice. So the choice and all rows are the same as if the stream had waited.

    Parameters
    ----------
    arm : ArmModel
        The arm; its ``conditioning`` may state cut-off and delay.
    cutoff_hz : float, optional
        Cut-off of all filters; that of the arm if not given. Without either, it is chosen.
    delay : float, optional
        Lag of the drive signal behind the motion, s; that of the arm if not given. Without
        either, it is chosen together with the cut-off, or zero beside a given cut-off.
    position_hz : tuple of float
        As for `ConditioningSettings`.
    executor : Executor, optional
        Runs the search; without one, `rows` blocks during it.

    Attributes
    ----------
    cutoff_hz, delay : float
        As given or chosen, Hz and s; the cut-off is zero until then.
    position_hz : (n,) or (0,) ndarray
        As given or chosen; see `ConditioningSettings`.
    settings : ConditioningSettings or None
        Settings of the filters; None until the rate is measured.
    load_theta : (b,) ndarray or None
        Parameters for the ``load`` friction term.
    segment : int
        Number of the stretch, from 0.
    held : (m, 1 + 2 n) ndarray
        Stamps, positions and drive signals that wait.
    deciding : int
        Number of held samples used for the choice; zero until they suffice.
    looked : float
        Stamp of the last check, s.
    search : Future or None
        The search in the executor, once started; copies of a session share it.

    """

    saved = (*JointStream.saved, 'segment', 'held', 'deciding', 'cutoff_hz', 'delay',
             'position_hz', 'looked')

    def __init__(
        self, arm: ArmModel, *, cutoff_hz: float | None = None, delay: float | None = None,
        position_hz: tuple[float, ...] = (), executor: Executor | None = None,
    ) -> None:
        super().__init__(arm)
        self.settings: ConditioningSettings | None = None
        self.load_theta: Array | None = None
        self._known_delay = arm.stated_delay if delay is None else delay
        self._use((cutoff_hz or arm.conditioning.cutoff_hz or 0.0, self._known_delay or 0.0,
                   position_hz))
        self._executor = executor
        self.search: Future[Band] | None = None
        self.held: Array = np.zeros((0, 1 + 2 * arm.n))
        self.deciding, self.looked = 0, -np.inf
        self._columns = base_parameters(arm).columns
        self._standstill = RunningStandstill(arm.n)
        self.segment = -1

    @property
    def holding(self) -> bool:
        """Return whether samples are held: the band is unknown, or they are not processed yet."""
        return not self.cutoff_hz or len(self.held) > 0

    def rows(self, t: Array, q: Array, u: Array) -> Iterator[RowBlock]:
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
            yield from self._pushed(t, q, u)

    def flush(self) -> Iterator[RowBlock]:
        """Yield rows of all waiting samples, and of the incomplete last block."""
        yield from self._release(wait=True)
        block, self.samples = self.samples, self.samples[:0]
        if len(block):
            yield from self._process(block)

    def restore(self, state: State) -> None:
        """Continue from a saved state of a stream with the same settings."""
        self._use((float(state['cutoff_hz']), float(state['delay']),
                   tuple(state['position_hz'].tolist())))
        self._resampler.restore(state_of('resampler', state))
        if self.rate_hz:
            self._design(self.rate_hz)
        super().restore(state)

    def _use(self, band: Band) -> None:
        self.cutoff_hz, self.delay, position_hz = band
        self.position_hz = np.array(position_hz)

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
                self.held, enough = from_motion(self.held)
                self.deciding = len(self.held) if enough else 0
        self.held = np.concatenate([self.held, new])

    def _release(self, wait: bool = False) -> Iterator[RowBlock]:
        """Yield rows of held samples if the band is chosen; wait for it if asked to."""
        if self._chosen(wait):
            count = len(self.held) if wait or self._executor is None else HELD_TOGETHER
            released, self.held = self.held[:count], self.held[count:]
            t, q, u = np.split(released, [1, 1 + self.arm.n], axis=1)
            yield from self._pushed(t[:, 0], q, u)

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
        choose = partial(choose_band, self.arm, self.held[:self.deciding], self._known_delay)
        if self._executor is None:
            self._use(choose())
            return True
        self.search = self.search or self._executor.submit(choose)
        if wait or self.search.done():
            self._use(self.search.result())
        return self.cutoff_hz > 0

    def _pushed(self, t: Array, q: Array, u: Array) -> Iterator[RowBlock]:
        for k in range(0, len(t), PROCESSED_TOGETHER):
            part = slice(k, k + PROCESSED_TOGETHER)
            yield from self.push(t[part], q[part], u[part])

    @property
    def _size(self) -> int:
        return PROCESSED_TOGETHER

    def _design(self, rate_hz: float) -> None:
        """Design all filters for a rate."""
        cutoff = min(self.cutoff_hz, conditioning.HIGHEST_CUTOFF * rate_hz)
        self.settings = ConditioningSettings(
            cutoff, False, 'causal', rate_hz, decimation_step(rate_hz, cutoff), self.delay,
            position_hz=tuple(self.position_hz.tolist()))
        n, b = self.arm.n, len(self._columns)
        self._conditioner = CausalConditioner(self.settings, n)
        self._rows_filter = first_order(self.settings, n * b)
        self._torque_filter = first_order(self.settings, n)
        low_pass = self.settings.decimator()
        self._standstill.design(low_pass, rate_hz)
        self._decimator = StreamDecimator(low_pass, n * b + 3 * n + 1)

    def _restart(self) -> None:
        super()._restart()
        self.segment += 1
        for part in (self._standstill, self._rows_filter, self._torque_filter, self._decimator):
            part.reset()

    def _take(
        self, motion: Array, q: Array, qd: Array, tau: Array, history: JointHistory,
    ) -> list[RowBlock]:
        n, b = self.arm.n, len(self._columns)
        self._standstill.take(q, qd)
        load = friction_load(self.arm, self.load_theta, q)
        momentum, force = (x[:, :, self._columns].reshape(len(q), -1) for x in momentum_regressors(
            self.arm, q, qd, load=load, history=history))
        W = self._rows_filter.apply(force, momentum)
        filtered = self._torque_filter.apply(tau)
        if not len(W):
            return []
        # The filters lag by one sample.
        late = motion[-len(W) - 1:-1]
        kept = self._decimator.apply(np.concatenate([W, filtered, late], axis=1))
        return [self._block(kept, n, b)] if len(kept) else []

    def _block(self, kept: Array, n: int, b: int) -> RowBlock:
        W, tau, t, q, qd = np.split(kept, np.cumsum([n * b, n, 1, n]), axis=1)
        moves = self._standstill.moving(len(kept), len(self._decimator.buffer))
        self.counters.add('standing', int((~moves).sum()))
        W = W.reshape(-1, n, b) * moves[:, :, None]
        return RowBlock(self.segment, t[:, 0], q, qd, W, tau * moves, moves)


def conditioning_of(stream: RowPipeline) -> ConditioningSettings:
    """Return the settings of a stream, with a note on its causal filters."""
    assert stream.settings is not None
    note = ('one causal pass: symmetric FIR low-pass of positions, first-order filters of the '
            'momentum and force regressors, symmetric FIR low-pass of the rows')
    return replace(stream.settings, notes=(note,))


def first_order(settings: ConditioningSettings, columns: int) -> FirstOrderFilter:
    """
    Design the first-order filter of some columns of the rows.

    The filter has the cut-off of the positions, well above the cut-off of the rows. Therefore the
    low-pass that follows determines the band of the rows, as in the batch.
    """
    return FirstOrderFilter(
        2 * np.pi * position_cutoff(settings), 1 / settings.rate_hz, columns)


def torque_lag(settings: ConditioningSettings) -> float:
    """Return the delay of slow signals by these filters, s."""
    pole = first_order(settings, 0).pole
    return pole / (1.0 - pole) / settings.rate_hz
