"""External torque without acceleration, sample by sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.contact.external_torque import FALSE_ALARM, quantile
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.momentum import momentum_regressors
from dynid_ros.errors import InputError
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.model.torque_prediction import friction_load, torque_variance

Array = NDArray[np.float64]

BANDWIDTH_HZ = 5.0


class MomentumObserver:
    """
    Low-passed external torque from the generalised momentum.

    With ``d/dt(P theta) + F theta = tau`` for an arm that touches nothing (see
    `momentum_regressors`), the observer low-passes both sides by ``K / (s + K)``; what the right
    side has more is the external torque, measured minus modelled. That is the residual of the
    generalised-momentum observer, with the opposite sign. Since it is linear in the parameters,
    their covariance gives its standard deviation.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    bandwidth_hz : float
        ``K / 2 pi``. The identified residual is known up to the cut-off of its conditioning; a
        higher bandwidth lets more noise through than the thresholds know of.
    false_alarm : float
        Probability that chance alone exceeds the threshold, sample by sample and joint by joint,
        for residuals like those of the identification.

    Attributes
    ----------
    torque : (n,) ndarray
        Latest external torque, Nm.
    std : (n,) ndarray
        Its standard deviation, Nm.

    Raises
    ------
    InputError
        The bandwidth or the probability is out of its range.

    References
    ----------
    De Luca, Albu-Schaeffer, Haddadin and Hirzinger 2006, Collision detection and safe reaction
    with the DLR-III lightweight robot arm, IROS, eq. 9.

    """

    def __init__(
        self, model: IdentifiedModel, *, bandwidth_hz: float = BANDWIDTH_HZ,
        false_alarm: float = FALSE_ALARM,
    ) -> None:
        if not 0 < bandwidth_hz < np.inf:
            raise InputError(
                f'the bandwidth of an observer must be above zero, not {bandwidth_hz:g} Hz')
        self._model = model
        self._columns = base_parameters(model.arm).columns
        self._gain = 2 * np.pi * bandwidth_hz
        self._quantile = quantile(false_alarm)
        self.reset()

    def reset(self) -> None:
        """Forget all samples."""
        n, b = self._model.arm.n, len(self._columns)
        self.torque = np.zeros(n)
        self.std = np.full(n, np.inf)
        self._time: float | None = None
        self._sum = np.zeros((n, b + 1))
        self._rate = np.zeros((n, b + 1))

    @property
    def threshold(self) -> Array:
        """Magnitude above which the torque is hardly chance, (n,), Nm."""
        return np.asarray(self._quantile * self.std)

    @property
    def contact(self) -> NDArray[np.bool_]:
        """Joints, (n,), whose threshold is exceeded."""
        return np.asarray(np.abs(self.torque) > self.threshold)

    def update(self, t: float, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> Array:
        """
        Take in one sample.

        Parameters
        ----------
        t : float
            Time, s; a sample that is not later than the one before is left out.
        q, qd, tau : (n,) array_like
            Positions, velocities and measured torque at the joints.

        Returns
        -------
        (n,) ndarray
            External torque, Nm.

        """
        if self._time is not None and t <= self._time:
            return self.torque
        momentum, rate = self._rows(q, qd, tau)
        if self._time is None:
            self._sum = -momentum
        step = 0.0 if self._time is None else t - self._time
        # The input of the filter by the trapezoidal rule, its own decay implicitly: stable for
        # any step.
        self._sum = self._sum + step * (self._rate + rate) / 2
        filtered = self._gain * (momentum + self._sum) / (1 + self._gain * step)
        self._sum = self._sum - step * filtered
        self._time, self._rate = t, rate
        modelled = filtered[:, :-1]
        self.torque = filtered[:, -1] - modelled @ self._model.theta
        self.std = np.sqrt(torque_variance(
            modelled[None], self._model.covariance, self._model.sigma)[0])
        return self.torque

    def _rows(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> tuple[Array, Array]:
        """Rows ``[P 0]`` and ``[F tau]``, (n, b + 1) each."""
        position, velocity = (np.atleast_2d(np.asarray(x, dtype=float)) for x in (q, qd))
        load = friction_load(self._model.arm, self._model.theta, position)
        P, F = momentum_regressors(self._model.arm, position, velocity, load=load)
        measured = np.asarray(tau, dtype=float)[:, None]
        return (np.concatenate([P[0][:, self._columns], np.zeros_like(measured)], axis=1),
                np.concatenate([F[0][:, self._columns], measured], axis=1))
