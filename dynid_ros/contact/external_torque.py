"""
External torque: measured beyond modelled torque, its error bars, and the alarm of a contact.

Sign: ``external = measured - modelled``, the torque with which the drives push against their
surroundings; a wrench w on the arm shows as ``-J(q)ᵀ w``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid_ros.arm.friction import JointHistory
from dynid_ros.errors import InputError
from dynid_ros.inputs import finite_rows
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.model.torque_prediction import torque_rows, torque_variance

Array = NDArray[np.float64]

#: Probability that a sample without contact is taken for one, joint by joint.
FALSE_ALARM = 1e-4


@dataclass(frozen=True, eq=False)
class ExternalTorque:
    """
    External torque of N samples.

    Attributes
    ----------
    torque : (N, n) ndarray
        Measured minus modelled, Nm.
    std : (N, n) ndarray
        Its standard deviation, from the covariance of the parameters and the residual of each
        joint, Nm.
    threshold : (N, n) ndarray
        Magnitude above which it is hardly chance, Nm.

    """

    torque: Array
    std: Array
    threshold: Array

    @property
    def contact(self) -> NDArray[np.bool_]:
        """Tell the samples and joints, (N, n), at which the torque exceeds the threshold."""
        return np.asarray(np.abs(self.torque) > self.threshold)


def external_torque(
    model: IdentifiedModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, tau: ArrayLike, *,
    history: JointHistory | None = None, false_alarm: float = FALSE_ALARM,
) -> ExternalTorque:
    """
    Measured minus modelled torque, friction included in the model.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    q, qd, qdd : (N, n) array_like
        rad, rad/s, rad/s² (m for prismatic joints), low-passed as for the identification.
    tau : (N, n) array_like
        Measured torque at the joints, low-passed alike, Nm.
    history : JointHistory, optional
        History of the joints, as `IdentifiedModel.predict_torque` takes it.
    false_alarm : float
        Probability that chance alone exceeds the threshold, sample by sample and joint by joint.

    Returns
    -------
    ExternalTorque
        ``Var = Y Cov(theta) Yᵀ + sigma²``, as for any prediction of linear regression.

    """
    n = model.arm.n
    measured = finite_rows('tau', tau, n)
    q, qd, qdd = (finite_rows(name, x, n) for name, x in (('q', q), ('qd', qd), ('qdd', qdd)))
    torque, std = np.empty_like(measured), np.empty_like(measured)
    for part, Y in torque_rows(model.arm, model.theta, q, qd, qdd, history):
        torque[part] = measured[part] - Y @ model.theta
        std[part] = np.sqrt(torque_variance(Y, model.covariance, model.sigma))
    return ExternalTorque(torque, std, quantile(false_alarm) * std)


def quantile(false_alarm: float) -> float:
    """
    Count the standard deviations that chance exceeds, to either side, with a probability.

    Raises
    ------
    InputError
        The probability is not between 0 and 1.

    """
    from scipy.special import ndtri

    if not 0 < false_alarm < 1:
        raise InputError(f'a probability of false alarm lies between 0 and 1, not {false_alarm:g}')
    return float(ndtri(1 - false_alarm / 2))
