"""The regression as a function of the direction of gravity, parameters eliminated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.dynamics.base import base_parameters, ROUNDING
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.blocks.least_squares import LeastSquares
from dynid_ros.estimation.blocks.qr_factors import embedded, QRFactors, triangular
from dynid_ros.utilities.arrays import Array

#: A direction along no axis of any arm, for which the most parameters matter.
GENERIC = np.array([0.36, 0.48, -0.8])
STEPS, HALVINGS, SETTLED = 20, 8, 1e-6
#: Largest step of the direction, rad.
LARGEST_STEP = 0.5
#: Standard deviation of a tilt before any data, rad: angles up to half a turn both ways.
ANY_TILT = float(np.pi / np.sqrt(3))


@dataclass(frozen=True, eq=False)
class GravityRows:
    """
    Rows ``(A + sum_k u_k B_k) theta = tau`` for gravity along a unit vector u.

    Attributes
    ----------
    A : (k, n, c) ndarray
        Regressor without gravity.
    B : (3, k, n, m) ndarray
        Contribution of gravity along x, y and z of the base frame to the columns `loaded`.
    tau : (k, n) ndarray
        Low-passed torque, Nm.
    moving : (k, n) ndarray of bool
        False where a joint stands still.
    loaded : (m,) ndarray of int
        Columns of masses and first moments.

    """

    A: Array
    B: Array
    tau: Array
    moving: NDArray[np.bool_]
    loaded: NDArray[np.intp]

    @cached_property
    def factors(self) -> QRFactors:
        """
        Triangular factor of the rows ``[A B_x B_y B_z tau]`` of each joint, (n, r, c + 3 m + 1).

        They replace all samples, for any direction and any weights of the joints.
        """
        every = np.concatenate([self.A, *self.B, self.tau[:, :, None]], axis=2)
        return QRFactors(embedded([
            triangular(every[moves, joint]) for joint, moves in enumerate(self.moving.T)],
            every.shape[2]), self.moving.sum(axis=0))

    @cached_property
    def floor(self) -> float:
        """Smallest credible standard deviation of a residual, Nm."""
        return float(1e-9 * np.sqrt((self.tau**2).mean()))


def gravity_rows(arm: ArmModel, samples: TrialSamples) -> GravityRows:
    """
    Rows of a recording for any direction of gravity.

    Parameters
    ----------
    arm : ArmModel
        The arm; a friction term that depends on the load is left out.
    samples : TrialSamples
        Motion and torque.

    """
    q, qd, qdd = samples.q, samples.qd, samples.qdd
    arm = arm.memoryless
    length = float(np.linalg.norm(arm.gravity)) or 9.81
    columns = base_parameters(replace(arm, gravity=length * GENERIC)).columns
    first = INERTIAL.index('Ixx')
    moments = [arm.layout.inertial(j).start + c for j in range(arm.n) for c in range(first)]
    loaded = np.flatnonzero(np.isin(columns, moments))
    still = np.zeros_like(q)
    A = regressor(replace(arm, gravity=np.zeros(3)), q, qd, qdd)[:, :, columns]
    B = np.array([
        regressor(replace(arm, gravity=length * unit), q, still, still)[:, :, columns[loaded]]
        for unit in np.eye(3)])
    return GravityRows(A, B, samples.tau, samples.moving, loaded)


class GravityProblem:
    """
    Weighted least squares over the parameters, as a function of the direction.

    Parameters
    ----------
    rows : GravityRows
        Rows.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.

    Attributes
    ----------
    freedom : int
        Rows beyond the parameters.
    total : float
        Weighted sum of squared torque.

    """

    def __init__(self, rows: GravityRows, sigma: Array) -> None:
        self._rows = rows
        m, c = len(rows.loaded), rows.A.shape[2]
        R = np.asarray(np.linalg.qr(rows.factors.weighted(sigma), mode='r'))
        self._A, self._t = R[:, :c], R[:, -1]
        self._B = R[:, c:-1].reshape(len(R), 3, m).transpose(1, 0, 2)
        # Each direction is asked for by its cost, its tilts and its residuals.
        self._solutions: dict[bytes, tuple[Array, Array, Array]] = {}
        self.freedom = max(int(rows.factors.rows.sum()) - c, 1)
        self.total = float((self._t**2).sum())

    def fit(self, direction: Array) -> tuple[Array, float]:
        """Find the best parameters (c,) for a direction, and their sum of squares."""
        _, theta, residual = self._solution(direction)
        return theta, float((residual**2).sum())

    def descend(self, direction: Array) -> tuple[Array, float]:
        """Run Gauss-Newton on the sphere to a direction of locally least cost."""
        cost = self.fit(direction)[1]
        for _ in range(STEPS):
            tangents, free, residual = self._tilts(direction)
            step = LeastSquares(free).solve(residual)
            step *= min(1.0, LARGEST_STEP / max(float(np.linalg.norm(step)), LARGEST_STEP))
            moved, lower = self._shortened(direction, step @ tangents, cost)
            if lower >= cost:
                break
            settled = float(np.linalg.norm(moved - direction)) < SETTLED
            direction, cost = moved, lower
            if settled:
                break
        return direction, cost

    def std(self, direction: Array) -> float:
        """Bound the standard deviation of any tilt assuming white residuals, rad."""
        _, free, residual = self._tilts(direction)
        least = np.linalg.svd(free, compute_uv=False)[-1]
        noise = np.sqrt(max(float((residual**2).sum()), ROUNDING**2 * self.total) / self.freedom)
        return float(noise / np.hypot(least, noise / ANY_TILT))

    def residual_std(self, direction: Array) -> Array:
        """Estimate the standard deviation of the residual of each joint, (n,), Nm."""
        rows = self._rows
        theta, _ = self.fit(direction)
        turned = np.outer(direction, theta[rows.loaded]).ravel()
        squares = rows.factors.residual_squares(np.concatenate([theta, turned]))
        mean = squares / np.maximum(rows.factors.rows, 1)
        return np.asarray(np.maximum(np.sqrt(mean), rows.floor))

    def log_residual(self, direction: Array) -> float:
        """Sum the logarithms of the residuals of all joints: a measure without weights."""
        return float(self._rows.factors.rows @ np.log(self.residual_std(direction)))

    def inflation(self, direction: Array) -> float:
        """Factor on standard deviations for correlated residuals: sqrt((1 + r) / (1 - r))."""
        e = self._residual(direction)
        e = e / np.maximum(e.std(axis=0), np.finfo(float).tiny)
        # One sample shows nothing of the correlation: the worst is assumed.
        lag = float((e[1:] * e[:-1]).mean()) if len(e) > 1 else 1.0
        lag = min(max(lag, 0.0), 0.99)
        return float(np.sqrt((1 + lag) / (1 - lag)))

    def _solution(self, direction: Array) -> tuple[Array, Array, Array]:
        """Torques that parameters can make, the best parameters, and what they leave."""
        key = direction.tobytes()
        if key not in self._solutions:
            W = self._A.copy()
            W[:, self._rows.loaded] += np.tensordot(direction, self._B, axes=1)
            fitted = LeastSquares(W)
            theta = fitted.solve(self._t)
            self._solutions[key] = fitted.torque_basis, theta, self._t - W @ theta
        return self._solutions[key]

    def _residual(self, direction: Array) -> Array:
        rows = self._rows
        theta, _ = self.fit(direction)
        gravity = np.tensordot(direction, rows.B, axes=1) @ theta[rows.loaded]
        return np.asarray((rows.tau - rows.A @ theta - gravity) * rows.moving)

    def _tilts(self, direction: Array) -> tuple[Array, Array, Array]:
        """Two tangents, their effect orthogonal to the parameters, and the residual."""
        U, theta, residual = self._solution(direction)
        tangents = np.linalg.svd(direction[None])[2][1:]
        change = (np.tensordot(tangents, self._B, axes=1) @ theta[self._rows.loaded]).T
        return tangents, change - U @ (U.T @ change), residual

    def _shortened(self, direction: Array, step: Array, cost: float) -> tuple[Array, float]:
        """Take the step, halved until it lowers the cost."""
        for _ in range(HALVINGS):
            moved = direction + step
            moved = moved / np.linalg.norm(moved)
            lower = self.fit(moved)[1]
            if lower < cost:
                return moved, lower
            step = step / 2
        return direction, cost
