# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Recursive least squares in square-root information form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.chosen_estimate import Estimate, free_estimate
from dynid_ros.estimation.estimate.covariance import group_scatter, INTERVAL, Scatter
from dynid_ros.estimation.estimate.weights import JointNoise, Solution, solution_of
from dynid_ros.estimation.online.innovation_statistics import (
    InnovationStatistics,
    RunningMetrics,
)
from dynid_ros.estimation.online.square_root_information import absorb_rows
from dynid_ros.estimation.online.time_blocks import TimeBlocks
from dynid_ros.utilities.arrays import Array, inverse_of
from dynid_ros.utilities.checkpoint import Checkpointed, State

#: A parameter is determined if half of its 95 % interval causes less than this share of torque.
DETERMINED = 0.1


@dataclass(frozen=True, eq=False, kw_only=True)
class LiveEstimate(Estimate):
    """
    Estimate at one time, with the progress of the stream.

    Attributes
    ----------
    scale : (b,) ndarray
        Typical size of each column of the regressor.
    torque : (n,) ndarray
        Root mean square torque of each joint, Nm.
    metrics : RunningMetrics
        A-priori prediction error of the last rows.
    rows, left_out : (n,) ndarray of int
        Rows used of each joint, and rows left out as outliers.

    """

    scale: Array
    torque: Array
    metrics: RunningMetrics
    rows: NDArray[np.int64]
    left_out: NDArray[np.int64]

    @property
    def determined(self) -> NDArray[np.bool_]:
        """Return a mask of the parameters that are known well enough to predict torque, (b,)."""
        interval = INTERVAL * self.std * self.scale
        return np.asarray(interval <= DETERMINED * self.torque.max())


class RecursiveLeastSquares(Checkpointed):
    """
    Weighted least squares over all rows so far, with a prior.

    Each joint has a triangular factor of its rows. Weights and prior enter when the factors are
    combined. So new weights apply to all rows, the prior is never forgotten, and without
    forgetting the estimate equals the batch estimate on the same rows.

    Parameters
    ----------
    joints, parameters : int
        n and b.
    scale : (b,) array_like
        Typical size of each column of the regressor, for `LiveEstimate.determined`.
    prior : ArmPrior
        Prior of the arm, to be scaled to the torque of the rows.

    Attributes
    ----------
    theta : (b,) ndarray
        Current estimate.
    factors : (n, b + 1, b + 1) ndarray
        Triangles of ``[W tau]``.
    information : (b, b + 1) ndarray
        Triangle of all weighted rows and the prior.
    prior : (b, b + 1) ndarray
        Triangle of the prior, scaled to the torque so far.
    rows, left_out : (n,) ndarray of int
        Rows used of each joint, and rows left out as outliers.
    innovations : InnovationStatistics
        Running statistics of the prediction errors.
    blocks : TimeBlocks
        The rows in blocks of time, for error bars; only without forgetting.
    memory : float
        Rows after which the weight of old rows falls to 1/e, in directions that new rows excite;
        infinite for no forgetting. It may be changed at any time.
    frozen : bool
        Whether the estimate is frozen, and rows only validate it.

    References
    ----------
    Bierman 1977, Factorization Methods for Discrete Sequential Estimation, chapter IV; Kulhavý
    1987, Restricted exponential forgetting in real-time identification, Automatica 23(5). Lai
    and Bernstein 2024, SIFt-RLS (arXiv 2404.10844), compare rules of this kind.

    """

    saved = ('factors', 'rows', 'left_out', 'theta', 'information', 'frozen')

    def __init__(
        self, joints: int, parameters: int, scale: Array, prior: ArmPrior,
    ) -> None:
        self._scale = np.broadcast_to(np.asarray(scale, dtype=float), parameters)
        self.memory = np.inf
        self._arm_prior, self._unscaled_prior = prior, _triangle(prior.rows())
        self.factors = np.zeros((joints, parameters + 1, parameters + 1))
        self.rows = np.zeros(joints, dtype=np.int64)
        self.left_out = np.zeros(joints, dtype=np.int64)
        self.innovations = InnovationStatistics(joints)
        self.blocks = TimeBlocks(joints, parameters)
        self.frozen = False
        self.theta = np.zeros(parameters)
        self._estimate: LiveEstimate | None = None
        self._refresh()

    def freeze(self, frozen: bool = True) -> None:
        """Freeze the estimate and only validate, or continue learning; reset the metrics."""
        self.frozen, self._estimate = frozen, None
        self.innovations.restart_metrics(endless=frozen)

    def predict(
        self, W: Array, tau: Array, moving: NDArray[np.bool_],
    ) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """
        Predict rows, and update the statistics of the errors.

        Parameters
        ----------
        W, tau : (k, n, b) and (k, n) ndarray
            Rows, in the order of time.
        moving : (k, n) ndarray of bool
            Which rows count.

        Returns
        -------
        e : (k, n) ndarray
            Innovations, measured minus predicted torque, Nm.
        wild, doubtful : (k, n) ndarray of bool
            Which of them are outliers, and which may belong to one.

        """
        self._estimate = None
        e = np.asarray(tau - W @ self.theta)
        if not moving.any():
            return e, np.zeros_like(moving), np.zeros_like(moving)
        # Of parameters theta with R theta = z + e, e white: the squares of R⁻ᵀ Wᵀ.
        half = dtrtrs(self.information[:, :-1], W.reshape(-1, len(self.theta)).T, trans=1)[0]
        spread = (half**2).sum(axis=0).reshape(e.shape)
        wild, doubtful = (
            moving & each for each in self.innovations.outliers(e, spread, self.data.rms_torque()))
        if self._arm_prior.sigma is not None or self._residuals_show_noise():
            self.innovations.take(e, spread, tau, moving, self._first_variance())
        if not self.frozen:
            self.left_out += wild.sum(axis=0)
        return e, wild, doubtful

    def learn(self, W: Array, tau: Array, learned: NDArray[np.bool_]) -> None:
        """
        Learn from rows.

        Parameters
        ----------
        W, tau
            As for `predict`.
        learned : (k, n) ndarray of bool
            Which of them.

        """
        if self.frozen or not learned.any():
            return
        self._estimate = None
        absorb_rows(
            self.factors, np.ascontiguousarray(W), np.ascontiguousarray(tau), learned,
            self._kept_share())
        self.rows += learned.sum(axis=0)
        self._refresh()
        if self.memory == np.inf:
            self.blocks.add(W, tau, learned)

    @property
    def data(self) -> QRFactors:
        """Return the factors of all rows so far."""
        return QRFactors(self.factors, self.rows)

    @property
    def sigma(self) -> Array:
        """Return the standard deviation of the noise of each joint in the weights, (n,), Nm."""
        noise = self.innovations
        return np.asarray(np.sqrt(np.where(noise.known, noise.variance, self._first_variance())))

    def estimate(self) -> LiveEstimate:
        """Return the current estimate, as of a batch with the current weights."""
        if self._estimate is not None:
            return self._estimate
        solution = solution_of(
            self.data, self.prior, self.theta.copy(), self.sigma,
            inverse_of(self.information[:, :-1]), self.widening, ~self._arm_prior.is_shrunk)
        free = free_estimate(self._arm_prior, solution, self._scatter(solution))
        self._estimate = LiveEstimate(
            **vars(free), scale=self._scale, torque=self.data.rms_torque(),
            metrics=self.innovations.metrics, rows=self.rows.copy(), left_out=self.left_out.copy())
        return self._estimate

    def restore(self, state: State) -> None:
        """Continue from a saved state, bit for bit."""
        super().restore(state)
        self._estimate = None
        self._refresh()
        # The statistics have changed since the saved estimate was computed.
        self.theta, self.information = state['theta'].copy(), state['information'].copy()

    def _kept_share(self) -> Array:
        """
        Share of the information of each joint that a row keeps in its own direction, (n,).

        A row forgets in one direction only, and a joint needs as many rows as parameters to forget
        in all directions. So each row forgets that many times more to give the stated memory.
        """
        seen = np.count_nonzero(np.diagonal(self.factors, axis1=1, axis2=2)[:, :-1], axis=1)
        return np.asarray(np.exp(-seen / self.memory))

    def _refresh(self) -> None:
        """Combine the factors with the current weights and the prior, and solve."""
        self.prior, self.widening = self._unscaled_prior, (
            self._arm_prior.widening(self.data.rms_torque()))
        if (self.widening > 1).any():
            self.prior = _triangle(self._arm_prior.scaled_by(self.widening).rows())
        self.information = _triangle(
            np.concatenate([self.data.weighted(self.sigma), self.prior]))
        R, z = self.information[:, :-1], self.information[:, -1]
        self.theta = np.asarray(dtrtrs(R, z)[0])

    def _scatter(self, solution: Solution) -> Scatter:
        """
        Return the scatter of the rows.

        With forgetting there are no groups, so the autocorrelation of innovations inflates it.
        """
        if self.memory == np.inf:
            return group_scatter(self.blocks.groups(), solution)
        inflation = self.innovations.inflation
        root = self.data.weighted(self.sigma / np.sqrt(inflation))[:, :-1]
        return Scatter(root, float(inflation.mean()))

    def _first_variance(self) -> Array:
        """
        Variance of the noise of each joint (n,) until there are enough innovations.

        It comes from the prior, or from the residuals.
        """
        if self._arm_prior.sigma is not None:
            return np.asarray(self._arm_prior.sigma**2)
        noise = JointNoise(self.rows, self.data.rms_torque()**2)
        if not self._residuals_show_noise():
            return noise.first**2
        return noise.of(self.data.residual_squares(self.theta), len(self.theta))**2

    def _residuals_show_noise(self) -> bool:
        """Whether the rows outnumber the parameters, so that residuals reveal the noise."""
        return int(self.rows.sum()) > 2 * len(self.theta)


def _triangle(rows: Array) -> Array:
    """Compress rows (k, b + 1) to b rows, without their residual."""
    return np.asarray(np.linalg.qr(rows, mode='r'))[:rows.shape[1] - 1]
