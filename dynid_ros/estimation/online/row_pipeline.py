# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Causal pipeline from samples to rows of the regression, without acceleration."""

from __future__ import annotations

from dataclasses import replace

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
from dynid_ros.estimation.band.ladder import USUAL_HZ
from dynid_ros.estimation.blocks.prediction import friction_load
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import State, state_of

#: Samples processed at a time.
PROCESSED_TOGETHER = 50


class RowPipeline(JointStream[RowBlock]):
    """
    The online pipeline of an arm: samples in, rows of ``W theta = tau`` out.

    Samples are checked, resampled to a uniform rate, low-passed and differentiated once.
    First-order filters turn the regressors of momentum and force into regressor rows, which pass
    the low-pass of the batch together with the torque. Samples are processed in blocks of
    `PROCESSED_TOGETHER`, so that rows do not depend on the portions in which they arrive.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    cutoff_hz : float, optional
        Cut-off of all filters; that of the arm, or `USUAL_HZ`, if not given.
    delay : float, optional
        Lag of the drive signal behind the motion, s; that of the arm, or zero, if not given.
    position_hz : tuple of float
        As for `ConditioningSettings`.

    Attributes
    ----------
    cutoff_hz, delay : float
        Of the parameters, Hz and s.
    settings : ConditioningSettings or None
        Settings of the filters; None until the rate is measured.
    load_theta : (b,) ndarray or None
        Parameters for the ``load`` friction term.
    segment : int
        Number of the stretch, from 0.

    """

    saved = (*JointStream.saved, 'segment')

    def __init__(
        self, arm: ArmModel, *, cutoff_hz: float | None = None, delay: float | None = None,
        position_hz: tuple[float, ...] = (),
    ) -> None:
        super().__init__(arm)
        wanted = arm.conditioning
        self.settings: ConditioningSettings | None = None
        self.load_theta: Array | None = None
        self.cutoff_hz = cutoff_hz or wanted.cutoff_hz or USUAL_HZ
        self.delay = (arm.stated_delay or 0.0) if delay is None else delay
        self._position_hz = position_hz
        self._columns = base_parameters(arm).columns
        self._standstill = RunningStandstill(arm.n)
        self.segment = -1

    @property
    def _size(self) -> int:
        return PROCESSED_TOGETHER

    def flush(self) -> list[RowBlock]:
        """Process the incomplete last block at the end of a stream."""
        block, self.samples = self.samples, self.samples[:0]
        return self._process(block) if len(block) else []

    def restore(self, state: State) -> None:
        """Continue from a saved state of a stream with the same settings."""
        self._resampler.restore(state_of('resampler', state))
        if self.rate_hz:
            self._design(self.rate_hz)
        super().restore(state)

    def _design(self, rate_hz: float) -> None:
        """Design all filters for a rate."""
        cutoff = min(self.cutoff_hz, conditioning.HIGHEST_CUTOFF * rate_hz)
        self.settings = ConditioningSettings(
            cutoff, False, 'causal', rate_hz, decimation_step(rate_hz, cutoff), self.delay,
            position_hz=self._position_hz)
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
