"""Predicted torque, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import gravity_load

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prediction:
    """
    Measured and predicted torque of one set of samples, for plots.

    Attributes
    ----------
    source : str
        Which samples these are.
    held_out : bool
        False for the samples that were used for fitting.
    t : (N,) ndarray
        Time since the start of its recording, s.
    q, qd : (N, n) ndarray
        Conditioned positions and velocities.
    tau, tau_hat : (N, n) ndarray
        Measured and predicted torque after the same low-pass filter, Nm; NaN where a joint
        stands still, since no model predicts what friction holds.

    """

    source: str
    held_out: bool
    t: Array
    q: Array
    qd: Array
    tau: Array
    tau_hat: Array


class TorqueModel(Protocol):
    """What the functions here need of an identified result."""

    @property
    def arm(self) -> ArmModel:
        """Return the arm."""

    @property
    def theta(self) -> Array:
        """Return the base parameters, (b,)."""

    @property
    def covariance(self) -> Array:
        """Return their covariance, (b, b)."""

    @property
    def sigma(self) -> Array:
        """Return the standard deviation of the residual of each joint, (n,), Nm."""


def torque_variance(Y: Array, result: TorqueModel) -> Array:
    """Variance (N, n) of the torque that rows (N, n, b) predict, residual included."""
    parameters = np.einsum('kib,bc,kic->ki', Y, result.covariance, Y, optimize=True)
    return np.asarray(np.clip(parameters, 0, None) + result.sigma**2)


def friction_load(result: TorqueModel, q: Array) -> Array | None:
    """Torque that loads the joints, (N, n), where a friction term needs it."""
    if result.arm.needs_load:
        return gravity_load(result.arm, q, result.theta)
    return None
