# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Learn parameters from rows as they arrive."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.dynamics.base import base_parameters, column_scale
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.online.online_result import RowHistory
from dynid_ros.estimation.online.recursive_least_squares import (
    LiveEstimate,
    RecursiveLeastSquares,
)
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed, State

Flags = NDArray[np.bool_]


class RowLearner(Checkpointed):
    """
    Predict each row, then learn from it unless it is an outlier or of a validation motion.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    prior : ArmPrior
        As for `RecursiveLeastSquares`.

    Attributes
    ----------
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

    def __init__(self, arm: ArmModel, prior: ArmPrior) -> None:
        count = base_parameters(arm).count
        self.recursion = RecursiveLeastSquares(arm.n, count, column_scale(arm), prior)
        self.history = RowHistory(arm.n)
        self.validation, self.validating = np.zeros((0, 2)), False
        self._doubtful = DoubtfulRows(arm.n, count)
        self._estimate: LiveEstimate | None = None

    def follow(self, settings: ConditioningSettings, memory: float) -> None:
        """Adapt to the rate of the rows, given the memory in s."""
        rate = settings.rate_hz / settings.decimation
        self.recursion.memory = memory * rate
        self._doubtful.reach = -(-settings.decimator().reach // settings.decimation)

    def learn(self, block: RowBlock) -> Array:
        """Predict the torque (k, n) of rows, Nm, then learn from them."""
        if block.segment != self._doubtful.segment:
            self.flush()
            self._doubtful.segment = block.segment
        seen = block.moving & ~self.unseen(block.t)[:, None]
        if block.moving.any() and self.validating == bool(seen.any()):
            self.validating = not self.validating
            self.recursion.innovations.restart_metrics(
                endless=self.validating or self.recursion.frozen)
        e, wild, doubtful = self.recursion.predict(block.W, block.tau, block.moving)
        self._absorb(self._doubtful.take(replace(block, moving=seen), wild, doubtful))
        tau_hat = np.asarray(block.tau - e)
        self.history.add([(block, tau_hat)])
        return tau_hat

    def flush(self) -> None:
        """Learn from the rows that wait because they may belong to an outlier."""
        self._absorb(self._doubtful.flush())

    def freeze(self, frozen: bool) -> None:
        """Freeze or unfreeze the estimates."""
        self.flush()
        self.recursion.freeze(frozen)

    def unseen(self, t: Array) -> Flags:
        """Return a mask of the times (k,) within a validation motion."""
        return np.asarray(np.searchsorted(self.validation.ravel(), t, side='right') % 2 == 1)

    def validate(self, span: Array) -> None:
        """Declare a validation motion between two times (2,), s, replacing planned later ones."""
        planned = self.validation
        self.validation = np.vstack([planned[planned[:, 0] < span[0]], span])

    def estimate(self) -> LiveEstimate:
        """Return the current estimate."""
        if self._estimate is None:
            self._estimate = self.recursion.estimate()
        return self._estimate

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        super().restore(state)
        self._estimate = None

    def _absorb(self, rows: tuple[Array, Array, Flags]) -> None:
        self._estimate = None
        if rows[2].any():
            self.recursion.learn(*rows)


class DoubtfulRows(Checkpointed):
    """
    Queue of rows, from the first one that may belong to an outlier still to come.

    The low-pass spreads a collision over its neighbours, before and after.

    Parameters
    ----------
    joints, parameters : int
        n and b.

    Attributes
    ----------
    rows : (m, n, b + 3) ndarray
        Waiting rows ``[W tau]``, with flags of torques that are no outliers, and of torques that
        may belong to one.
    wild : (r + m, n) ndarray of bool
        Flags of outliers among the waiting rows and the r rows before.
    segment : int
        Stretch of these rows.
    reach : int
        Number of rows on either side that an outlier spoils.

    """

    saved = ('rows', 'wild', 'segment', 'reach')

    def __init__(self, joints: int, parameters: int) -> None:
        self.rows = np.zeros((0, joints, parameters + 3))
        self.wild = np.zeros((0, joints), dtype=np.bool_)
        self.segment = self.reach = 0

    def take(self, block: RowBlock, wild: Flags, doubtful: Flags) -> tuple[Array, Array, Flags]:
        """Add rows of the same stretch; return those before the first that has to wait."""
        more = np.stack([block.tau, block.moving & ~wild, doubtful], axis=2)
        self.rows = np.concatenate([self.rows, np.concatenate([block.W, more], axis=2)])
        self.wild = np.concatenate([self.wild, wild])
        # Earlier rows have all of their neighbours.
        last = max(0, len(self.rows) - self.reach)
        waiting = np.flatnonzero(self.rows[last:, :, -1].any(axis=1))
        return self._release(last + int(waiting[0]) if len(waiting) else len(self.rows))

    def flush(self) -> tuple[Array, Array, Flags]:
        """Return all waiting rows: ``W``, ``tau``, and a mask of those to fit."""
        released = self._release(len(self.rows))
        self.wild = self.wild[:0]
        return released

    def _release(self, count: int) -> tuple[Array, Array, Flags]:
        gone = len(self.wild) - len(self.rows)
        released, self.rows = np.split(self.rows, [count])
        good, doubtful = released[:, :, -2] > 0, released[:, :, -1] > 0
        for k in np.flatnonzero(doubtful.any(axis=1)):
            at = gone + k
            near = self.wild[max(0, at - self.reach):at + self.reach + 1].any(axis=0)
            good[k] &= ~(doubtful[k] & near)
        self.wild = self.wild[max(0, gone + count - self.reach):]
        return released[:, :, :-3], released[:, :, -3], good
