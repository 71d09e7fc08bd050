"""Drive gains by variable projection: their ratios, and their values where a load was weighed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.blocks.least_squares import LeastSquares
from dynid_ros.estimation.blocks.qr_factors import QRFactors, stack
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.calibration.block_jackknife import block_jackknife
from dynid_ros.estimation.calibration.log_gains import by_mass, LogGains, PRIOR_STD
from dynid_ros.estimation.calibration.motor_rows import MotorRows, prior_rows, unknowns
from dynid_ros.estimation.estimate.weights import (
    carry_over,
    LOAD_PASSES,
    reweighted,
)
from dynid_ros.estimation.model.metrics import TINY
from dynid_ros.utilities.arrays import Array

Places = NDArray[np.intp]

#: Steps at most, and the largest one; they end below `SETTLED`. All are natural logarithms.
STEPS, LARGEST_STEP, SETTLED = 30, 1.0, 1e-5
#: Halvings of a step that raises the cost.
HALVINGS = 8
#: Residual by the torque below which two fits do not differ.
LEAST = 1e-3
#: More stretches than a set of recordings has.
SETS_APART = 1 << 32


def estimate_gains(
    arm: ArmModel, recorded: Sequence[MotorRows], stated: Array, mass: float | None = None,
) -> LogGains:
    """
    Estimate the drive gains together with the dynamics.

    Inertial parameters act on several joints, and a wrong ratio of two gains makes them
    contradict each other; friction and rotor inertia act on one joint and add nothing. With
    gains ``exp(x)`` times the stated ones, the drive signals obey
    ``exp(-x_i) W_i theta = tau_i + e_i``, tau as the stated gains have it. The noise e belongs to
    the signals, which no choice of gains makes small; each motor has its own variance. Gains and
    parameters may have a common factor, which a load of known mass fixes. A weak prior of
    parameters and ratios decides where the rows leave room.

    Parameters
    ----------
    arm : ArmModel
        The arm, with the friction terms to identify.
    recorded : sequence of MotorRows
        Rows without a load, and with the weighed one.
    stated : (n,) ndarray
        Logarithms of the gains that are expected, relative to the arm's.
    mass : float, optional
        Mass of the load, kg.

    Returns
    -------
    LogGains
        Relative to the gains of the arm.

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
    start = arm.memoryless
    problem = GainProjection(start, recorded, [None] * len(recorded), stated)
    problem.minimise(np.zeros(arm.n))
    if start.friction != arm.friction:
        carried = [carry_over(own, start, arm) for own in problem.carried]
        for _ in range(LOAD_PASSES):
            x, problem = problem.x, GainProjection(arm, recorded, carried, stated)
            problem.minimise(x)
            carried = problem.carried
    return problem.gains(mass)


class GainProjection:
    """
    Least squares over parameters and logarithms of gains, the parameters projected out.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    recorded : sequence of MotorRows
        Sets of rows.
    carried : sequence of (b,) ndarray or None
        Base parameters that the torque on the joints follows from, for each set.
    stated : (n,) ndarray
        Logarithms of the gains that are expected, but for a common constant.

    Attributes
    ----------
    x : (n,) ndarray
        Logarithms of the gains, zeros to begin with.
    theta : (p,) ndarray
        Parameters, the load's last.
    sigma : (n,) ndarray
        Standard deviation of the residual of each motor.

    """

    def __init__(
        self, arm: ArmModel, recorded: Sequence[MotorRows], carried: Sequence[Array | None],
        stated: Array,
    ) -> None:
        self._arm, self._recorded, self._load = arm, recorded, carried
        with_load = any(each.loaded for each in recorded)
        changes = [unknowns(arm, each, with_load=with_load) for each in recorded]
        whole = stack([each.factors(arm, change, own) for each, change, own in zip(
            recorded, changes, carried, strict=True)])
        # Rests show no inertia, and some joints may never move.
        used = np.flatnonzero(whole.factors[:, :, :-1].any(axis=(0, 1)))
        self._factors, self._changes = whole.part(used), [change[:, used] for change in changes]
        # The mass is the first parameter of the load.
        self._mass = int(np.searchsorted(used, changes[0].shape[1] - len(INERTIAL)))
        rows, p = int(self._factors.rows.sum()), len(used)
        if rows <= p + arm.n:
            raise RecordingError(
                f'{rows} rows are left after filtering, without joints at rest: too few for '
                f'{p} parameters and {arm.n} gains; record a longer motion, or more rests')
        self._prior = prior_rows(arm, used, changes[0].shape[1], self._factors)
        self.x, self._stated, self._reference = np.zeros(arm.n), stated, 0
        self.theta, self.sigma, _ = reweighted(self._factors, self._prior)
        # The motor whose gain has the most effect that parameters cannot make up for.
        self._reference = int((self._projected()[0]**2).sum(axis=0).argmax())
        self._others = np.delete(np.arange(arm.n), self._reference)

    @property
    def error_percent(self) -> float:
        """Residual of all drive signals by them, in the torque of the gains stated, %."""
        left = self._scaled(self._factors, self.x).residual_squares(self.theta)
        return float(100 * np.sqrt(left.sum() / max(self._factors.torque_squares().sum(), TINY)))

    @property
    def carried(self) -> list[Array]:
        """Return the base parameters of each set."""
        return [change @ self.theta for change in self._changes]

    def minimise(self, x: Array) -> None:
        """Take Gauss-Newton steps of the gains from `x`, halved where they raise the cost."""
        cost = self.fit(x)
        for _ in range(STEPS):
            x, step = self.x, self.step()
            for _ in range(HALVINGS):
                tried = self.fit(x + step)
                if tried <= cost:
                    break
                step = step / 2
            else:
                self.fit(x)
                return
            cost = tried
            if np.abs(step).max() < SETTLED:
                return

    def gains(self, mass: float | None) -> LogGains:
        """Return the gains with their covariance."""
        p, n = len(self.theta), self._arm.n
        kept = np.append(np.arange(p), p + self._others)
        known, away = self._known()
        theta = np.append(self.theta, np.zeros(n - 1))
        prior = np.column_stack([known[:, kept], known[:, kept] @ theta + away])
        half = LeastSquares(self._weighted()[0][:, kept], known[:, kept]).half
        noise, pulled = block_jackknife(
            self._linear(kept), int(self._factors.rows.sum()), theta, self.sigma, half, prior)
        covariance, every = noise + pulled, np.eye(n)[:, self._others]
        found = LogGains(
            self.x - self.x[self._reference], every @ covariance[p:, p:] @ every.T,
            every @ pulled[p:, p:] @ every.T, self._reference, self.disagreement())
        if mass is None:
            return found
        chosen = np.append(np.arange(p, p + n - 1), self._mass)
        square = np.ix_(chosen, chosen)
        # The mass follows from x as it stands, in which the reference need not be zero.
        return by_mass(
            replace(found, value=self.x), self._others, float(self.theta[chosen[-1]]), mass,
            covariance[square], pulled[square])

    def disagreement(self) -> Array:
        """Residual of each motor relative to a fit to one set alone, (n,), largest of the sets."""
        found = np.ones(self._arm.n)
        for each, change, carried in zip(
                self._recorded, self._changes, self._load, strict=True):
            alone = self._scaled(each.factors(self._arm, np.eye(len(change)), carried), self.x)
            weighted = alone.weighted(self.sigma)
            own = LeastSquares(weighted[:, :-1]).solve(weighted[:, -1])
            least = np.maximum(alone.residual_squares(own), LEAST**2 * alone.torque_squares())
            together = alone.residual_squares(change @ self.theta)
            found = np.maximum(found, np.sqrt(together / np.maximum(least, TINY)))
        return found

    def fit(self, x: Array) -> float:
        """Fit the parameters at given gains; the cost is minus twice the log-posterior."""
        self.x = x
        self.theta, self.sigma, _ = reweighted(
            self._scaled(self._factors, x), self._prior, self.sigma)
        away = self._known()[1]
        return float(2 * (self._factors.rows * np.log(self.sigma)).sum() + away @ away)

    @staticmethod
    def _scaled(data: QRFactors, x: Array) -> QRFactors:
        """Let parameters give the signals of drives with other gains."""
        factors = data.factors.copy()
        factors[:, :, :-1] *= np.exp(-x)[:, None, None]
        return QRFactors(factors, data.rows)

    def step(self) -> Array:
        """Gauss-Newton step of the gains, zero for the reference."""
        change, residual = self._projected()
        step = np.zeros(len(self.x))
        step[self._others] = np.linalg.lstsq(change[:, self._others], residual, rcond=None)[0]
        return np.asarray(np.clip(step, -LARGEST_STEP, LARGEST_STEP))

    def _projected(self) -> tuple[Array, Array]:
        """Differentiate by the gains, (m, n), parameters projected out, beside residuals (m,)."""
        p = len(self.theta)
        J, residual = map(np.concatenate, zip(self._weighted(), self._known(), strict=True))
        basis = np.linalg.qr(J[:, :p])[0]
        return J[:, p:] - basis @ (basis.T @ J[:, p:]), residual

    def _known(self) -> tuple[Array, Array]:
        """Rows of the prior, (p + n, p + n), which leave residuals (p + n,)."""
        n, prior = len(self.x), self._prior
        away = self._stated - self.x
        return (block_diag(prior[:, :-1], np.eye(n) / PRIOR_STD),
                np.append(prior[:, -1] - prior[:, :-1] @ self.theta,
                          (away - away[self._reference]) / PRIOR_STD))

    def _weighted(self) -> tuple[Array, Array]:
        """Differentiate the compressed rows, (m, p + n), and leave residuals (m,)."""
        rows = self._factors.factors.transpose(1, 0, 2)
        J = self._jacobian(rows[:, :, :-1])
        residual = rows[:, :, -1] - J[:, :, :len(self.theta)] @ self.theta
        return ((J / self.sigma[:, None]).reshape(-1, J.shape[2]),
                (residual / self.sigma).ravel())

    def _jacobian(self, W: Array) -> Array:
        """Differentiate the signals by parameters and logarithms of gains, (k, n, p + n)."""
        own = W * np.exp(-self.x)[:, None]
        by_gains = -(own @ self.theta)[:, :, None] * np.eye(len(self.x))
        return np.concatenate([own, by_gains], axis=2)

    def _linear(self, kept: Places) -> Iterator[RowBlock]:
        """Rows of the problem that is linear in small changes of parameters and gains."""
        sets = zip(self._recorded, self._changes, self._load, strict=True)
        for number, (each, change, carried) in enumerate(sets):
            for block in each.blocks(self._arm, change, carried):
                yield replace(block, W=self._jacobian(block.W)[:, :, kept],
                              segment=block.segment + number * SETS_APART)
