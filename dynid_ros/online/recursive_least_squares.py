"""Recursive least squares in square-root information form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from dynid_ros.checkpoint import nested, restore_nested
from dynid_ros.dynamics.base import ROUNDING
from dynid_ros.online.estimate import DETERMINED, Estimate, Prior
from dynid_ros.online.innovation_statistics import InnovationStatistics
from dynid_ros.online.score_products import ScoreProducts
from dynid_ros.online.square_root_information import absorb_rows, combine, prediction_variance

Array = NDArray[np.float64]

_INTERVAL = 1.96
#: Noise that is assumed of a joint before there are more rows than parameters, by its torque.
_FIRST_NOISE = 0.1


class RecursiveLeastSquares:
    """
    Weighted least squares over all rows so far, at any time.

    The rows of each joint are rotated into a factor of their own; weights are applied when the
    factors are combined. So a later weight applies to all rows, and without
    forgetting the estimate equals that of the batch on the same rows.

    Parameters
    ----------
    joints, parameters : int
        n and b.
    scale : (b,) array_like
        Typical size of each column of the regressor, for `Estimate.determined`.
    memory : float
        Rows after which the weight of old ones falls to 1/e where new rows replace it; infinite
        for no forgetting. Directions that new rows do not excite are not forgotten.
    prior : Prior, optional
        Prior knowledge; none if not given.
    sigma : (n,) array_like, optional
        Noise of each joint for the weights, Nm; learned from the innovations if not given.

    Attributes
    ----------
    theta : (b,) ndarray
        Estimate now.
    factors : (n, b + 1, b + 1) ndarray
        Triangles of ``[W tau]``.
    information : (b, b + 1) ndarray
        Triangle of all weighted rows and the prior.
    rows, left_out : (n,) ndarray of int
        Rows used of each joint, and rows left out as outliers.
    innovations : InnovationStatistics
        Running statistics of the prediction errors.
    scores : ScoreProducts
        Scores of the rows, for their colour; without forgetting only.
    memory : float
        As above; may be changed at any time.
    frozen : bool
        Whether the estimate is frozen, and rows only validate it.

    References
    ----------
    Bierman 1977, Factorization Methods for Discrete Sequential Estimation, chapter IV; Kulhavý
    1987, Restricted exponential forgetting in real-time identification, Automatica 23(5). Lai
    and Bernstein 2024, SIFt-RLS (arXiv 2404.10844), compare rules of this kind.

    """

    def __init__(
        self, joints: int, parameters: int, scale: Array, *, memory: float = np.inf,
        prior: Prior | None = None, sigma: Array | None = None,
    ) -> None:
        self._scale = np.broadcast_to(np.asarray(scale, dtype=float), parameters)
        self.memory = memory
        self._prior = np.zeros((0, parameters + 1)) if prior is None else prior.rows
        self._first_sigma = None if prior is None else prior.sigma
        self._sigma = None if sigma is None else np.array(sigma, dtype=float)
        self.factors = np.zeros((joints, parameters + 1, parameters + 1))
        self.rows = np.zeros(joints, dtype=np.int64)
        self.left_out = np.zeros(joints, dtype=np.int64)
        self.innovations = InnovationStatistics(joints)
        self.scores = ScoreProducts(joints, parameters)
        self.frozen = False
        self.theta = np.zeros(parameters)
        self._refresh()

    def reset(self) -> None:
        """Forget all rows, exactly as at the start."""
        self.factors[:] = 0.0
        self.rows[:] = 0
        self.left_out[:] = 0
        self.frozen = False
        self.theta = np.zeros_like(self.theta)
        self.innovations.reset()
        self.scores.reset()
        self._refresh()

    def freeze(self, frozen: bool = True) -> None:
        """Freeze the estimate and only validate, or continue learning; the metrics are reset."""
        self.frozen = frozen
        self.innovations.restart_metrics(endless=frozen)

    def predict(
        self, W: Array, tau: Array, moving: NDArray[np.bool_],
    ) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """
        Predict some rows, and take note of the errors.

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
        e = np.asarray(tau - W @ self.theta)
        if not moving.any():
            return e, np.zeros_like(moving), np.zeros_like(moving)
        spread = prediction_variance(self.information, np.ascontiguousarray(W))
        wild, doubtful = (
            moving & each for each in self.innovations.outliers(e, spread, self._torque()))
        self.innovations.take(e, spread, tau, moving, self._first_variance())
        if not self.frozen:
            self.left_out += wild.sum(axis=0)
        return e, wild, doubtful

    def learn(self, W: Array, tau: Array, learned: NDArray[np.bool_], segment: int) -> None:
        """
        Learn from some rows.

        Parameters
        ----------
        W, tau
            As for `predict`.
        learned : (k, n) ndarray of bool
            Which of them.
        segment : int
            Stretch of the rows; errors are not correlated across a gap.

        """
        if self.frozen or not learned.any():
            return
        absorb_rows(
            self.factors, np.ascontiguousarray(W), np.ascontiguousarray(tau), learned,
            self._share_kept())
        self.rows += learned.sum(axis=0)
        self._refresh()
        if self.memory == np.inf:
            self.scores.add(W, tau, learned, segment, self.theta)

    @property
    def sigma(self) -> Array:
        """Return the standard deviation of the noise of each joint in the weights, (n,), Nm."""
        if self._sigma is not None:
            return self._sigma
        innovations = self.innovations
        return np.asarray(np.sqrt(np.where(
            innovations.known, innovations.variance, self._first_variance())))

    def estimate(self) -> Estimate:
        """Return the current estimate."""
        half, unknown = self._half()
        noise = self.innovations
        variance = np.where(noise.known, noise.variance, self._first_variance())
        spread = self._score_root(variance) @ half @ half.T
        covariance = spread.T @ spread
        std = np.where(unknown, np.inf, np.sqrt(np.diag(covariance)))
        std_white = np.where(unknown, np.inf, np.linalg.norm(half, axis=1))
        singular = self._singular_values()
        full = singular[-1] > ROUNDING * singular[0]
        open_torque = _INTERVAL * std * self._scale
        return Estimate(
            self.theta.copy(), std, std_white, covariance,
            open_torque <= DETERMINED * self._torque().max(), half.shape[1],
            float(singular[0] / singular[-1]) if full else float('inf'),
            np.sqrt(variance), noise.correlation, noise.metrics, self.rows.copy(),
            self.left_out.copy(),
        )

    def state(self) -> dict[str, Array]:
        """Return the whole state, as arrays for ``np.savez``."""
        return {
            'factors': self.factors.copy(), 'rows': self.rows.copy(),
            'left_out': self.left_out.copy(),
            'noise': self.innovations.noise.copy(), 'sums': self.innovations.sums.copy(),
            'switches': np.array([self.frozen, self.innovations.endless]),
            'theta': self.theta.copy(), 'information': self.information.copy(),
            **nested({'scores': self.scores}),
        }

    def restore(self, state: dict[str, Array]) -> None:
        """
        Resume from a saved state, bit for bit.

        Parameters
        ----------
        state : dict of str to ndarray
            From `state` of an estimator with the same settings.

        Raises
        ------
        ValueError
            The state belongs to another number of joints or parameters.

        """
        if state['factors'].shape != self.factors.shape:
            raise ValueError(
                f"the saved state is of shape {state['factors'].shape}, "
                f'not {self.factors.shape}')
        self.factors[:] = state['factors']
        self.rows[:] = state['rows']
        self.left_out[:] = state['left_out']
        self.innovations.noise[:] = state['noise']
        self.innovations.sums[:] = state['sums']
        self.frozen, self.innovations.endless = (bool(x) for x in state['switches'])
        restore_nested({'scores': self.scores}, state)
        self._refresh()
        self.theta, self.information = state['theta'].copy(), state['information'].copy()

    def _share_kept(self) -> Array:
        """
        Share of the information of each joint that a row leaves in its own direction, (n,).

        A row excites one direction; as many rows as a joint has parameters excite all, so each
        forgets by that factor more to give the stated memory.
        """
        seen = np.count_nonzero(np.diagonal(self.factors, axis1=1, axis2=2)[:, :-1], axis=1)
        return np.asarray(np.exp(-seen / self.memory))

    def _refresh(self) -> None:
        """Combine the factors with the current weights, and solve."""
        self.information = combine(self.factors, 1.0 / self.sigma, self._prior)
        R, z = self.information[:, :-1], self.information[:, -1]
        unseen = np.diag(R) <= ROUNDING * np.linalg.norm(R, axis=0)
        if unseen.any():
            R, z = np.where(unseen[:, None], np.eye(len(R)), R), np.where(unseen, 0.0, z)
        self.theta = np.asarray(solve_triangular(R, z, check_finite=False))

    def _half(self) -> tuple[Array, NDArray[np.bool_]]:
        """
        Square root of the covariance for white noise, and the mask of unknown parameters.

        Columns are scaled to decide which directions are unexcited.
        """
        R = self.information[:, :-1]
        norms = np.linalg.norm(R, axis=0)
        if (np.diag(R) > ROUNDING * norms).all():
            half = np.asarray(solve_triangular(R, np.eye(len(R)), check_finite=False))
            return half, np.zeros(len(R), dtype=np.bool_)
        fitted = LeastSquares(R)
        return fitted.half, fitted.undetermined

    def _score_root(self, variance: Array) -> Array:
        """
        Rows whose squares are the covariance of the score of the estimate, (m, b).

        Forgetting has no sum of scores to it, and few rows have no residuals to speak of: then
        the colour is that of the innovations from row to row.
        """
        root = None if self.memory < np.inf else self.scores.root(self.theta, self.sigma)
        if root is not None:
            return np.concatenate([root, self._prior[:, :-1]])
        inflated = np.sqrt(variance * self.innovations.inflation) / self.sigma**2
        return np.asarray(combine(self.factors, inflated, self._prior)[:, :-1])

    def _singular_values(self) -> Array:
        b = len(self.theta)
        plain = combine(self.factors, np.ones(len(self.factors)), np.zeros((0, b + 1)))
        return np.asarray(np.linalg.svd(plain[:, :-1], compute_uv=False))

    def _torque(self) -> Array:
        """Root mean square torque of each joint, (n,)."""
        squares = (self.factors[:, :, -1] ** 2).sum(axis=1)
        return np.asarray(np.sqrt(squares / np.maximum(self.rows, 1)))

    def _first_variance(self) -> Array:
        """
        Variance of the noise of each joint by the prior, or from its residuals, (n,).

        Used until there are enough innovations.
        """
        if self._first_sigma is not None:
            return np.asarray(self._first_sigma**2)
        b, total = len(self.theta), int(self.rows.sum())
        torque = self._torque()
        loudest = torque.max() or 1.0
        guess = (_FIRST_NOISE * np.maximum(torque, 1e-3 * loudest)) ** 2
        if total <= 2 * b:
            return np.asarray(guess)
        residual = self.factors[:, :, -1] - self.factors[:, :, :-1] @ self.theta
        squares = (residual**2).sum(axis=1) / np.maximum(self.rows * (1 - b / total), 1)
        # A joint with zero residual would get infinite weight.
        return np.asarray(np.maximum(squares, 1e-12 * loudest**2))
