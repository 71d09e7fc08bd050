"""Least squares over a stream: rows made of its samples, and the recursion over the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.checkpoint import State
from dynid_ros.dynamics.base import base_parameters, random_regressor
from dynid_ros.online.estimate import Estimate, Prior
from dynid_ros.online.recursive_least_squares import RecursiveLeastSquares
from dynid_ros.online.row_pipeline import BLOCK, RowPipeline
from dynid_ros.regression.covariance import WINDOW
from dynid_ros.regression.rows import RowBlock

Array = NDArray[np.float64]


class StreamingLeastSquares:
    """
    Row pipeline and recursion of one arm: samples in, estimate out, at any time.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    cutoff_hz, delay, block
        As for `RowPipeline`.
    memory : float
        Time after which the weight of old data falls to 1/e where new data replaces it, s;
        infinite for no forgetting.
    prior : Prior, optional
        Prior knowledge.
    load_theta : (b,) ndarray, optional
        Base parameters that give the load of ``load`` friction; those of the estimate at the time
        of each row if not given.

    Attributes
    ----------
    stated_gravity : (3,) ndarray
        Gravity as the arm states it. Where the drive signal lacks it, the arm of the pipeline has
        none.
    pipeline : RowPipeline
        From samples to rows.
    recursion : RecursiveLeastSquares
        From rows to parameters.

    """

    def __init__(
        self, arm: ArmModel, *, cutoff_hz: float | None = None, delay: float | None = None,
        memory: float = np.inf, prior: Prior | None = None, load_theta: Array | None = None,
        block: int = BLOCK,
    ) -> None:
        self.stated_gravity = arm.gravity
        arm = arm.as_measured
        base = base_parameters(arm)
        self.pipeline = RowPipeline(arm, cutoff_hz=cutoff_hz, delay=delay, block=block)
        self.recursion = RecursiveLeastSquares(
            arm.n, base.count, column_scale(arm), prior=prior)
        self._memory = memory
        self._load_known = load_theta is not None
        if load_theta is not None:
            self.pipeline.load_theta = load_theta
        elif prior is not None:
            self.pipeline.load_theta = self.recursion.theta

    def push(
        self, t: ArrayLike, q: ArrayLike, u: ArrayLike, names: Sequence[str] | None = None
    ) -> list[tuple[RowBlock, Array]]:
        """
        Take in samples, and learn from the rows that become complete.

        Parameters
        ----------
        t, q, u, names
            As for `RowPipeline.push`.

        Returns
        -------
        list of (RowBlock, (k, n) ndarray)
            Rows, and the prediction of their torque before their use, Nm.

        """
        return self._learn(self.pipeline.push(t, q, u, names))

    def flush(self) -> list[tuple[RowBlock, Array]]:
        """Process the incomplete last block, at the end of a stream."""
        return self._learn(self.pipeline.flush())

    def estimate(self) -> Estimate:
        """Return the current estimate."""
        return self.recursion.estimate()

    def state(self) -> State:
        """Return the whole state, as arrays for ``np.savez``."""
        return {f'{part}:{name}': value
                for part, own in (('stream', self.pipeline), ('estimator', self.recursion))
                for name, value in own.state().items()}

    def restore(self, state: State) -> None:
        """Resume from a saved state of an estimator with the same settings, bit for bit."""
        for part, own in (('stream', self.pipeline), ('estimator', self.recursion)):
            prefix = f'{part}:'
            own.restore({name[len(prefix):]: value for name, value in state.items()
                         if name.startswith(prefix)})

    def _learn(self, blocks: list[RowBlock]) -> list[tuple[RowBlock, Array]]:
        result = []
        for block in blocks:
            settings = self.pipeline.settings
            assert settings is not None
            rate = settings.rate_hz / settings.decimation
            self.recursion.memory = self._memory * rate
            self.recursion.scores.lags = round(WINDOW * rate)
            e = self.recursion.update(block.W, block.tau, block.moving, block.segment)
            result.append((block, block.tau - e))
            if not self._load_known:
                self.pipeline.load_theta = self.recursion.theta
        return result


def column_scale(arm: ArmModel) -> Array:
    """Root mean square of each base column at random states of joints that move fast, (b,)."""
    W = random_regressor(arm)[:, base_parameters(arm).columns]
    return np.asarray(np.sqrt((W**2).sum(axis=0) * arm.n / len(W)))
