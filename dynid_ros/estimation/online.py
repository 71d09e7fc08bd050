"""The online estimator of an arm: samples in, estimate out, at any time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters, random_regressor
from dynid_ros.estimation.estimate import Estimate, Prior
from dynid_ros.estimation.recursive import RecursiveEstimator
from dynid_ros.estimation.rows import Block
from dynid_ros.estimation.stream import BLOCK, RowStream
from dynid_ros.signals.saved import State

Array = NDArray[np.float64]


class OnlineIdentifier:
    """
    Row stream and recursive estimator of one arm.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    cutoff_hz, delay, block
        As for `RowStream`.
    memory : float
        Time after which information has faded to 1/e where new data replaces it, s; infinite
        for no forgetting.
    prior : Prior, optional
        Knowledge beforehand.

    Attributes
    ----------
    stream : RowStream
        From samples to rows.
    estimator : RecursiveEstimator
        From rows to parameters.

    """

    def __init__(
        self, arm: ArmModel, *, cutoff_hz: float | None = None, delay: float | None = None,
        memory: float = np.inf, prior: Prior | None = None, block: int = BLOCK,
    ) -> None:
        base = base_parameters(arm)
        self.stream = RowStream(arm, cutoff_hz=cutoff_hz, delay=delay, block=block)
        self.estimator = RecursiveEstimator(
            arm.n, base.count, column_scale(arm), prior=prior)
        self._memory = memory

    def push(
        self, t: ArrayLike, q: ArrayLike, u: ArrayLike, names: Sequence[str] | None = None
    ) -> list[tuple[Block, Array]]:
        """
        Take in samples, and learn from the rows that become complete.

        Parameters
        ----------
        t, q, u, names
            As for `RowStream.push`.

        Returns
        -------
        list of (Block, (k, n) ndarray)
            Rows, and their torque as it was predicted before they were used, Nm.

        """
        return self._learn(self.stream.push(t, q, u, names))

    def flush(self) -> list[tuple[Block, Array]]:
        """Take in what waits for its block to be complete, at the end of a stream."""
        return self._learn(self.stream.flush())

    def estimate(self) -> Estimate:
        """Return all that is known now."""
        return self.estimator.estimate()

    def state(self) -> State:
        """Return everything that was learned, as arrays for ``np.savez``."""
        return {f'{part}:{name}': value
                for part, own in (('stream', self.stream), ('estimator', self.estimator))
                for name, value in own.state().items()}

    def restore(self, state: State) -> None:
        """Go on from a saved state of an identifier with the same settings, to the last bit."""
        for part, own in (('stream', self.stream), ('estimator', self.estimator)):
            prefix = f'{part}:'
            own.restore({name[len(prefix):]: value for name, value in state.items()
                         if name.startswith(prefix)})

    def _learn(self, blocks: list[Block]) -> list[tuple[Block, Array]]:
        result = []
        for block in blocks:
            treatment = self.stream.treatment
            assert treatment is not None
            self.estimator.memory = self._memory * treatment.rate_hz / treatment.decimation
            e = self.estimator.update(block.W, block.tau, block.moving)
            result.append((block, block.tau - e))
            self.stream.load_theta = self.estimator.theta
        return result


def column_scale(arm: ArmModel) -> Array:
    """Root mean square of each base column at random states of joints that move fast, (b,)."""
    W = random_regressor(arm)[:, base_parameters(arm).columns]
    return np.asarray(np.sqrt((W**2).sum(axis=0) * arm.n / len(W)))
