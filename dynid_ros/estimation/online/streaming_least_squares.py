"""Least squares over a stream: rows made of its samples, and the recursion over the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters, random_regressor
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.online.estimate import Estimate, Prior
from dynid_ros.estimation.online.recursive_least_squares import RecursiveLeastSquares
from dynid_ros.estimation.online.row_pipeline import RowPipeline
from dynid_ros.estimation.regression.covariance import WINDOW
from dynid_ros.estimation.regression.rows import RowBlock
from dynid_ros.estimation.regression.weighted_least_squares import carry_over
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.checkpoint import Checkpointed, State

Flags = NDArray[np.bool_]


class DoubtfulRows(Checkpointed):
    """
    Rows from the first on that may belong to an outlier which is still to come, in their order.

    The low-pass spreads a collision over its neighbours, before and after.

    Parameters
    ----------
    joints, parameters : int
        n and b.

    Attributes
    ----------
    rows : (m, n, b + 3) ndarray
        Rows ``[W tau]`` that wait, which of their torques are no outliers, and which may belong to
        one.
    wild : (r + m, n) ndarray of bool
        Outliers among them, and among the rows before.
    segment : int
        Stretch of these rows.
    reach : int
        Rows to either side that an outlier spoils.

    """

    saved = ('rows', 'wild', 'segment', 'reach')

    def __init__(self, joints: int, parameters: int) -> None:
        self.rows = np.zeros((0, joints, parameters + 3))
        self.wild = np.zeros((0, joints), dtype=np.bool_)
        self.segment = self.reach = 0

    def take(self, block: RowBlock, wild: Flags, doubtful: Flags) -> tuple[Array, Array, Flags]:
        """Add rows of the same stretch, and return those before the first that has to wait."""
        more = np.stack([block.tau, block.moving & ~wild, doubtful], axis=2)
        self.rows = np.concatenate([self.rows, np.concatenate([block.W, more], axis=2)])
        self.wild = np.concatenate([self.wild, wild])
        # Those before have all of their neighbours.
        last = max(0, len(self.rows) - self.reach)
        waiting = np.flatnonzero(self.rows[last:, :, -1].any(axis=1))
        return self._leave(last + int(waiting[0]) if len(waiting) else len(self.rows))

    def flush(self) -> tuple[Array, Array, Flags]:
        """Return all: ``W``, ``tau``, and which of them are learned from."""
        left = self._leave(len(self.rows))
        self.wild = self.wild[:0]
        return left

    def _leave(self, count: int) -> tuple[Array, Array, Flags]:
        gone = len(self.wild) - len(self.rows)
        left, self.rows = np.split(self.rows, [count])
        good, doubtful = left[:, :, -2] > 0, left[:, :, -1] > 0
        for k in np.flatnonzero(doubtful.any(axis=1)):
            at = gone + k
            near = self.wild[max(0, at - self.reach):at + self.reach + 1].any(axis=0)
            good[k] &= ~(doubtful[k] & near)
        self.wild = self.wild[max(0, gone + count - self.reach):]
        return left[:, :, :-3], left[:, :, -3], good


class StreamingLeastSquares(Checkpointed):
    """
    Row pipeline and recursion of one arm: samples in, estimate out, at any time.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    cutoff_hz, delay
        As for `RowPipeline`.
    memory : float
        Time after which the weight of old data falls to 1/e where new data replaces it, s;
        infinite for no forgetting.
    prior : Prior, optional
        Knowledge from a model; the `arm_prior` if not given.
    start : IdentifiedModel, optional
        Result of this arm: cut-off and delay are those of it if not given, ``load`` friction
        has the load that it predicts, and friction stays as near zero as there. The estimate
        starts from nothing, so that data that are in the result, too, do not count twice.

    Attributes
    ----------
    stated_gravity : (3,) ndarray
        Gravity as the arm states it. Where the drive signal lacks it, the arm of the pipeline has
        none.
    pipeline : RowPipeline
        From samples to rows.
    recursion : RecursiveLeastSquares
        From rows to parameters.
    prior : ArmPrior
        Prior of the arm, as wide as it is before any row.
    validation : (m, 2) ndarray
        From when to when the arm runs a motion that only validates, in the time of the rows, s.
    validating : bool
        Whether the last rows with motion are of such a motion, so that the metrics are, too.

    """

    saved = ('validation', 'validating')

    def __init__(
        self, arm: ArmModel, *, cutoff_hz: float | None = None, delay: float | None = None,
        memory: float = np.inf, prior: Prior | None = None, start: IdentifiedModel | None = None,
    ) -> None:
        self.stated_gravity = arm.gravity
        arm = arm.as_measured
        base = base_parameters(arm)
        self.prior = arm_prior(arm)
        self.friction_strength = {} if start is None else {
            name: each for name, each in start.friction_strength.items() if name in arm.friction}
        if start is not None:
            cutoff_hz = cutoff_hz or start.treatment.cutoff_hz
            delay = start.treatment.delay if delay is None else delay
            # Rows of a stream count all at first, as those did by which the result was fitted.
            self.prior = self.prior.with_friction(arm, self.friction_strength)
        self.pipeline = RowPipeline(arm, cutoff_hz=cutoff_hz, delay=delay)
        self.recursion = RecursiveLeastSquares(
            arm.n, base.count, column_scale(arm), prior or self.prior)
        self._doubtful = DoubtfulRows(arm.n, base.count)
        self._memory = memory
        self.validation, self.validating = np.zeros((0, 2)), False
        self._load_known = start is not None
        self.pipeline.load_theta = self.recursion.theta if start is None else (
            carry_over(start.theta, start.arm, arm))

    def push(
        self, t: ArrayLike, q: ArrayLike, u: ArrayLike,
    ) -> list[tuple[RowBlock, Array]]:
        """
        Take in samples, and learn from the rows that become complete.

        Parameters
        ----------
        t, q, u
            As for `RowPipeline.push`.

        Returns
        -------
        list of (RowBlock, (k, n) ndarray)
            Rows, and the prediction of their torque before their use, Nm.

        """
        return self._learn(self.pipeline.push(t, q, u))

    def flush(self) -> list[tuple[RowBlock, Array]]:
        """Process the incomplete last block and the rows that wait, at the end of a stream."""
        learned = self._learn(self.pipeline.flush())
        self._absorb(self._doubtful.flush())
        return learned

    def unseen(self, t: Array) -> Flags:
        """Which times (k,) lie within a validation motion."""
        return np.asarray(np.searchsorted(self.validation.ravel(), t, side='right') % 2 == 1)

    def freeze(self, frozen: bool) -> None:
        """Learn from the rows that wait, and freeze the estimate, or let it go on."""
        self._absorb(self._doubtful.flush())
        self.recursion.freeze(frozen)

    def estimate(self) -> Estimate:
        """Return the current estimate."""
        return self.recursion.estimate()

    def restore(self, state: State) -> None:
        """Go on from a saved state of an estimator with the same settings, bit for bit."""
        super().restore(state)
        self._follow_load()

    def _learn(self, blocks: list[RowBlock]) -> list[tuple[RowBlock, Array]]:
        result = []
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
            result.append((block, block.tau - e))
        return result

    def forget_after(self, memory: float) -> None:
        """Change the memory, s."""
        self._memory = memory
        if self.pipeline.settings is not None:
            self._follow_rate()

    def _follow_rate(self) -> None:
        settings = self.pipeline.settings
        assert settings is not None
        rate = settings.rate_hz / settings.decimation
        self.recursion.memory = self._memory * rate
        self.recursion.scores.lags = round(WINDOW * rate)
        self._doubtful.reach = -(-settings.decimator().reach // settings.decimation)

    def _absorb(self, rows: tuple[Array, Array, Flags]) -> None:
        if not rows[2].any():
            return
        self.recursion.learn(*rows, self._doubtful.segment)
        self._follow_load()

    def _follow_load(self) -> None:
        if not self._load_known:
            self.pipeline.load_theta = self.recursion.theta


def column_scale(arm: ArmModel) -> Array:
    """Root mean square of each base column at random states of joints that move fast, (b,)."""
    W = random_regressor(arm)[:, base_parameters(arm).columns]
    return np.asarray(np.sqrt((W**2).sum(axis=0) * arm.n / len(W)))
