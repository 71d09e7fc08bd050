# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""External torque without acceleration, sample by sample."""

from __future__ import annotations

import numpy as np

from dynid_ros.applications.contact.friction_band import FrictionBand
from dynid_ros.arm.friction import JointHistory
from dynid_ros.data.signals.first_order import FirstOrderFilter, REACH
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.momentum import momentum_regressors
from dynid_ros.errors import InputError
from dynid_ros.estimation.blocks.prediction import friction_load, torque_variance
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.utilities.arrays import Array

#: Default bandwidth: a step reaches 63 % after 20 ms.
BANDWIDTH_HZ = 8.0
#: Largest bandwidth as a share of the sample rate; the filter needs room below half the rate.
HIGHEST = 0.1
#: Samples by which the output lags; as many at the start of a stretch give none.
OUTPUT_LAG, FIRST_WITHOUT_OUTPUT = 1, REACH


class MomentumObserver:
    """
    Low-passed external torque from the generalised momentum.

    With ``d/dt(P theta) + F theta = tau`` for an arm that touches nothing (see
    `momentum_regressors`), the observer low-passes both sides by ``K / (s + K)``; the right side
    minus the left one is the external torque, measured minus modelled. It is the residual of the
    generalised-momentum observer with the opposite sign. Since it is linear in the parameters,
    their covariance gives its variance. The impulse response is positive, so that the low-passed
    band of the friction bounds the low-passed friction.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    rate_hz : float
        Rate of the samples.
    bandwidth_hz : float
        ``K / 2 pi``, at most `HIGHEST` of the rate.

    Raises
    ------
    InputError
        The bandwidth is out of its range.

    References
    ----------
    De Luca, Albu-Schaeffer, Haddadin and Hirzinger 2006, Collision detection and safe reaction
    with the DLR-III lightweight robot arm, IROS, eq. 9.

    """

    def __init__(
        self, model: IdentifiedModel, rate_hz: float, bandwidth_hz: float = BANDWIDTH_HZ,
    ) -> None:
        if not 0 < bandwidth_hz <= HIGHEST * rate_hz:
            raise InputError(
                f'the bandwidth of an observer lies above zero and up to {HIGHEST:g} of the '
                f'sample rate, {HIGHEST * rate_hz:.3g} Hz, not at {bandwidth_hz:g} Hz')
        self._model = model
        self._band = FrictionBand(model)
        self._columns = base_parameters(model.arm).columns
        n = model.arm.n
        band = 2 * np.pi * bandwidth_hz, 1 / rate_hz
        self._rows = FirstOrderFilter(*band, n * len(self._columns))
        self._torques = FirstOrderFilter(*band, 2 * n)

    def reset(self) -> None:
        """Forget all samples, as after a gap."""
        self._rows.reset()
        self._torques.reset()

    def apply(
        self, q: Array, qd: Array, tau: Array, history: JointHistory,
    ) -> tuple[Array, Array, Array]:
        """
        Take in the next samples, at a uniform rate.

        Parameters
        ----------
        q, qd, tau : (k, n) ndarray
            Positions, velocities and measured torque at the joints.
        history : JointHistory
            History of the joints.

        Returns
        -------
        torque : (m, n) ndarray
            Low-passed measured minus modelled torque, Nm, at the times of the samples before
            these, one sample earlier; fewer rows at the start, where the first two samples give
            none.
        variance : (m, n) ndarray
            Its variance by the covariance of the parameters, Nm².
        friction : (m, n) ndarray
            Largest torque that friction of slow joints may add to either side, Nm.

        """
        model, k = self._model, len(q)
        load = friction_load(model.arm, model.theta, q)
        momentum, force = (
            x[:, :, self._columns].reshape(k, -1)
            for x in momentum_regressors(model.arm, q, qd, load=load, history=history))
        change, width = self._band.at(q, qd, history)
        rows = self._rows.apply(force, momentum)
        torques = self._torques.apply(np.concatenate([tau - change, width], axis=1))
        W = rows.reshape(len(rows), model.arm.n, len(self._columns))
        measured, friction = np.split(torques, 2, axis=1)
        none = np.zeros(model.arm.n)
        return (
            measured - W @ model.theta, torque_variance(W, model.covariance, none), friction)
