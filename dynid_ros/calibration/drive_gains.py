"""Drive gains by variable projection: their ratios, and their values where a load was weighed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.calibration.motor_rows import LOAD, MotorRows
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import RecordingError
from dynid_ros.regression.covariance import hac_covariance, weighted_scores
from dynid_ros.regression.fit import LOAD_PASSES
from dynid_ros.regression.least_squares import LeastSquares
from dynid_ros.regression.rows import RowBlock
from dynid_ros.regression.weighted_least_squares import QRFactors, reweighted, stack

Array = NDArray[np.float64]

#: Steps at most, and the largest one; steps stop below `SETTLED`, a logarithm.
STEPS, LARGEST_STEP, SETTLED = 30, 1.0, 1e-5
#: Halvings of a step that raises the cost.
HALVINGS = 8
#: Logarithm of a gain by the stated one that is not left: no gain is off by a factor of 20.
FARTHEST = float(np.log(20.0))
#: Standard deviations by which a load must differ from nothing.
SEEN = 3.0
#: More stretches than recordings have.
SETS_APART = 1 << 32


@dataclass(frozen=True, eq=False)
class LogGains:
    """
    Logarithms of drive gains by the stated ones.

    Attributes
    ----------
    value : (n,) ndarray
        Of each motor; all but for a common one unless a load was weighed.
    covariance : (n, n) ndarray
        For coloured residuals; infinite on the diagonal where the rows leave a gain open.
    reference : int or None
        Motor whose stated gain is taken as true; None where a weighed load gives all of them.

    """

    value: Array
    covariance: Array
    reference: int | None

    @property
    def std(self) -> Array:
        """Standard deviations, (n,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def relative_to(self, reference: int) -> LogGains:
        """Return the gains by that of a motor."""
        change = np.eye(len(self.value))
        change[:, reference] -= 1.0
        known = np.isfinite(np.diag(self.covariance))
        covariance = change @ np.where(np.outer(known, known), self.covariance, 0.0) @ change.T
        covariance[~known, ~known] = np.inf
        return LogGains(change @ self.value, covariance, reference)


def estimate_gains(
    arm: ArmModel, recorded: Sequence[MotorRows], rate_hz: float, mass: float | None = None,
) -> LogGains:
    """
    Estimate the drive gains together with the dynamics.

    Inertial parameters act on several joints, and a wrong ratio of two gains makes them
    contradict each other; friction and rotor inertia act on one joint each and tell nothing. With
    gains ``exp(x)`` times the stated ones, the drive signals obey
    ``exp(-x_i) W_i theta = tau_i + e_i``, tau as the stated gains have it. The noise is in the
    signals, so that their squared residuals, each motor's by its own variance, are least: no
    choice of a small gain makes them small. All gains and parameters may have a common factor;
    a load of known mass fixes it.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the friction terms to identify.
    recorded : sequence of MotorRows
        Rows of recordings without a load, and with the weighed one.
    rate_hz : float
        Rate of the rows.
    mass : float, optional
        Mass of the load, kg.

    Returns
    -------
    LogGains
        By those that the arm states.

    Raises
    ------
    RecordingError
        There are fewer rows than parameters, or the rows do not show the load.

    References
    ----------
    Kaufman 1975, A variable projection method for solving separable nonlinear least squares
    problems, BIT 15. Gautier and Briot 2014, Global identification of joint drive gains and
    dynamic parameters of robots, ASME J. Dyn. Sys. Meas. Control 136(5).

    """
    start, x = arm.without_load, np.zeros(arm.n)
    theta = np.zeros(base_parameters(arm).count + (LOAD if mass else 0))
    if start.friction != arm.friction:
        small = _Projection(start, recorded, np.zeros(len(theta) - _more(arm, start)))
        small.minimise(x)
        x, theta = small.x, _carried_over(small.theta, start, arm)
    for _ in range(LOAD_PASSES if arm.needs_load else 1):
        problem = _Projection(arm, recorded, theta)
        problem.minimise(x)
        x, theta = problem.x, problem.theta
    return problem.gains(rate_hz, mass)


def _more(arm: ArmModel, start: ArmModel) -> int:
    return base_parameters(arm).count - base_parameters(start).count


def _carried_over(theta: Array, source: ArmModel, target: ArmModel) -> Array:
    """Map base parameters to another choice of friction terms; those of the load stay."""
    known = dict(zip(base_parameters(source).names, theta, strict=False))
    found = [known.get(name, 0.0) for name in base_parameters(target).names]
    return np.concatenate([found, theta[base_parameters(source).count:]])


class _Projection:
    """
    Least squares over parameters and logarithms of gains, the parameters projected out.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recorded : sequence of MotorRows
        Rows.
    theta : (p,) ndarray
        Parameters that the load on the joints follows from.

    Attributes
    ----------
    x : (n,) ndarray
        Logarithms of the gains.
    theta : (p,) ndarray
        Parameters.

    """

    def __init__(self, arm: ArmModel, recorded: Sequence[MotorRows], theta: Array) -> None:
        self._arm, self._recorded, self._load, p = arm, recorded, theta, len(theta)
        self._factors = stack([each.factors(arm, theta, p) for each in recorded])
        rows = int(self._factors.rows.sum())
        if rows <= p + arm.n:
            raise RecordingError(
                f'{rows} rows are left after filtering, without joints at rest: too few for '
                f'{p} parameters and {arm.n} gains; record a longer motion, or raise the cut-off')
        self._sigma: Array | None = None

    def minimise(self, x: Array) -> None:
        """Take Gauss-Newton steps of the gains from `x`, halved where they raise the cost."""
        cost = self._fit(x)
        for _ in range(STEPS):
            x, step = self.x, self._step()
            for _ in range(HALVINGS):
                tried = self._fit(np.clip(x + step, -FARTHEST, FARTHEST))
                if tried <= cost:
                    break
                step = step / 2
            else:
                self._fit(x)
                return
            cost = tried
            if np.abs(step).max() < SETTLED:
                return

    def gains(self, rate_hz: float, mass: float | None) -> LogGains:
        """Return the gains with their covariance for coloured residuals."""
        p, n = len(self.theta), self._arm.n
        reference = int((self._projected()[0] ** 2).sum(axis=0).argmax())
        others = np.delete(np.arange(n), reference)
        kept = np.concatenate([np.arange(p), p + others])
        fitted = LeastSquares(self._weighted()[0][:, kept])
        blocks = chain.from_iterable(
            self._linear(each, number, kept) for number, each in enumerate(self._recorded))
        scores = weighted_scores(blocks, np.append(self.theta, np.zeros(n - 1)), self.sigma)
        covariance = hac_covariance(scores, fitted.covariance, rate_hz)
        covariance[fitted.undetermined, fitted.undetermined] = np.inf
        value = self.x - self.x[reference]
        if mass is not None:
            # The mass is the first parameter of the load.
            chosen = np.append(np.arange(p, p + n - 1), p - LOAD)
            return _of_mass(value, others, float(self.theta[p - LOAD]), mass,
                            covariance[np.ix_(chosen, chosen)])
        whole = np.zeros((n, n))
        whole[np.ix_(others, others)] = covariance[p:, p:]
        return LogGains(value, whole, reference)

    def _fit(self, x: Array) -> float:
        """Fit the parameters at given gains; the cost is twice the negative log-likelihood."""
        factors = self._factors.factors.copy()
        factors[:, :, :-1] *= np.exp(-x)[:, None, None]
        scaled = QRFactors(factors, self._factors.rows)
        self.theta, self.sigma, _ = reweighted(scaled, self._sigma)
        self.x, self._sigma = x, self.sigma
        return float(2 * (self._factors.rows * np.log(self.sigma)).sum())

    def _step(self) -> Array:
        """Gauss-Newton step of the gains; that of the gain with the most effect is zero."""
        change, residual = self._projected()
        others = np.delete(np.arange(len(self.x)), (change**2).sum(axis=0).argmax())
        step = np.zeros(len(self.x))
        step[others] = LeastSquares(change[:, others]).solve(residual)
        return np.asarray(np.clip(step, -LARGEST_STEP, LARGEST_STEP))

    def _projected(self) -> tuple[Array, Array]:
        """Derivatives by the gains (m, n), parameters projected out, and residuals (m,)."""
        J, residual = self._weighted()
        p = len(self.theta)
        change, basis = J[:, p:], LeastSquares(J[:, :p]).torque_basis
        return change - basis @ (basis.T @ change), residual

    def _weighted(self) -> tuple[Array, Array]:
        """Derivatives (m, p + n) and residuals (m,) of the compressed rows, by their spread."""
        rows = self._factors.factors.transpose(1, 0, 2)
        J = self._jacobian(rows[:, :, :-1])
        residual = rows[:, :, -1] - J[:, :, :len(self.theta)] @ self.theta
        return ((J / self.sigma[:, None]).reshape(-1, J.shape[2]),
                (residual / self.sigma).ravel())

    def _jacobian(self, W: Array) -> Array:
        """Derivatives (k, n, p + n) of the signals by parameters and logarithms of gains."""
        own = W * np.exp(-self.x)[:, None]
        return np.concatenate(
            [own, -(own @ self.theta)[:, :, None] * np.eye(len(self.x))], axis=2)

    def _linear(
        self, recorded: MotorRows, number: int, kept: NDArray[np.intp],
    ) -> Iterator[RowBlock]:
        """Rows of the problem that is linear in small changes of parameters and gains."""
        for block in recorded.blocks(self._arm, self._load, len(self.theta)):
            # Stretches of two sets are not neighbours.
            yield replace(block, W=self._jacobian(block.W)[:, :, kept],
                          segment=block.segment + number * SETS_APART)


def _of_mass(
    value: Array, others: NDArray[np.intp], estimate: float, mass: float, covariance: Array,
) -> LogGains:
    """
    Gains from those that are right but for a common factor, by the mass that they give a load.

    Parameters
    ----------
    value : (n,) ndarray
        Logarithms, that of one motor zero.
    others : (n - 1,) ndarray of int
        All but that motor.
    estimate, mass : float
        Estimated and true mass, kg.
    covariance : (n, n) ndarray
        Of the other logarithms and of the estimated mass.

    """
    std = float(np.sqrt(covariance[-1, -1]))
    if not estimate > SEEN * std:
        raise RecordingError(
            f'the loaded recording does not show the mass of {mass:g} kg: with the stated gains, '
            f'it differs from the recording without it by {estimate:.3g} ± {std:.2g} kg; check '
            'which recording is which, and move the joints that carry the load')
    change = np.zeros((len(value), len(covariance)))
    change[others, np.arange(len(others))] = 1.0
    change[:, -1] = -1 / estimate
    known = np.isfinite(np.diag(covariance))
    whole = change @ np.where(np.outer(known, known), covariance, 0.0) @ change.T
    lost = others[~known[:-1]]
    whole[lost, lost] = np.inf
    return LogGains(value + np.log(mass / estimate), whole, None)
