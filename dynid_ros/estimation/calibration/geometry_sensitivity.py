"""Sensitivity of regressor and base parameters to joint zeros and link lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.data.signals.conditioning import ConditionedMotion
from dynid_ros.dynamics.base import base_parameters, gravity_load, standard_of
from dynid_ros.dynamics.kinematics.error_sources import error_sources, ErrorSource, perturbed_arm
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.regression.least_squares import LeastSquares
from dynid_ros.utilities.arrays import Array

#: Samples that are looked at, and step of the central differences, rad or m.
SAMPLES, STEP = 1000, 1e-5


@dataclass(frozen=True, eq=False)
class GeometrySensitivity:
    """
    First-order effect of one error of the geometry or of a joint reading.

    Attributes
    ----------
    source : ErrorSource
        The error.
    torque : float
        Change of the modelled torque with unchanged parameters, relative to torque, per rad or m.
    left : float
        The part that the parameters do not absorb: the residual of the fit.
    bias : (b,) ndarray
        Change of the estimated base parameters, per rad or m.

    """

    source: ErrorSource
    torque: float
    left: float
    bias: Array


def geometry_sensitivity(
    arm: ArmModel, motions: Sequence[ConditionedMotion], theta: Array, sigma: Array,
) -> tuple[GeometrySensitivity, ...]:
    """
    Sensitivity of regressor and base parameters to joint zeros and to the geometry.

    An error e of the geometry changes the regressor by ``dW/de e``. Fitted with the nominal one,
    the parameters absorb part of ``dW/de theta e``; the rest remains as residual.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    motions : sequence of ConditionedMotion
        Conditioned stretches.
    theta : (b,) ndarray
        Base parameters.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.

    Returns
    -------
    tuple of GeometrySensitivity
        For the readings of all joints and each parameter of the geometry between them. For the
        geometry, `bias` and `torque` take the parameters that are grouped into others as zero.

    """
    q, qd, qdd, weight = _samples(motions, sigma)
    columns = base_parameters(arm).columns
    inertial = standard_of(arm, theta)[arm.layout.all_inertial()]
    load = gravity_load(arm, q, theta)
    W = regressor(arm, q, qd, qdd, load=load)[:, :, columns] * weight[:, :, None]
    W = W.reshape(-1, len(columns))
    total = float(np.linalg.norm(W @ theta))
    fitted = LeastSquares(W)

    def torque(model: ArmModel, at: Array) -> Array:
        return np.asarray(regressor(model.rigid(), at, qd, qdd) @ inertial)

    found = []
    # The readings of all joints, and the geometry that carries mass.
    for source in dict.fromkeys(source for name in arm.joint_names
                                for source in error_sources(arm, name) if source.joint >= 0):
        if source.group == 'reading':
            unit = STEP * np.eye(arm.n)[source.joint]
            difference = torque(arm, q + unit) - torque(arm, q - unit)
        else:
            difference = (torque(perturbed_arm(arm, source, STEP), q)
                          - torque(perturbed_arm(arm, source, -STEP), q))
        change = (difference / (2 * STEP) * weight).ravel()
        bias = fitted.solve(change)
        left = float(np.linalg.norm(change - W @ bias))
        found.append(GeometrySensitivity(
            source, float(np.linalg.norm(change)) / total, left / total, bias))
    return tuple(found)


def _samples(
    motions: Sequence[ConditionedMotion], sigma: Array
) -> tuple[Array, Array, Array, Array]:
    """Positions, rates and weights of samples spread over all motions."""
    every = max(1, sum(len(motion.t) for motion in motions) // SAMPLES)
    q, qd, qdd, moving = (
        np.concatenate([getattr(motion, name)[::every] for motion in motions])
        for name in ('q', 'qd', 'qdd', 'moving'))
    return q, qd, qdd, moving / sigma
