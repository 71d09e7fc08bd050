# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Iteratively reweighted least squares on the triangular factors of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import arm_prior, ArmPrior
from dynid_ros.dynamics.base import base_parameters, COLUMN_ROUNDING
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.blocks.rows import NO_ROW, Rows
from dynid_ros.utilities.arrays import Array, inverse_of

#: Most reweightings, and the relative change of the weights at which they have converged.
MOST_REWEIGHTINGS, WEIGHTS_CONVERGED = 50, 1e-6
#: Smallest credible mean square of a residual, relative to the torque: a joint without any
#: residual would take all weight.
WEIGHT_FLOOR = 1e-12
#: Prior noise of a joint relative to its torque, and the number of rows that it counts as.
FIRST_NOISE, FIRST_FREEDOM = 0.1, 1e-4
# The load on a joint follows from the estimate: it converges to its error bars in three passes.
LOAD_PASSES = 3


@dataclass(frozen=True, eq=False)
class Solution:
    """
    Weighted least-squares estimate.

    Attributes
    ----------
    theta : (b,) ndarray
        Base parameters.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.
    half : (b, b) ndarray
        Upper triangle whose square ``half halfᵀ`` is ``(Wᵀ Σ⁻¹ W + Rₚᵀ Rₚ)⁻¹``, the covariance of
        theta for white residuals.
    root_information, root_torque : (b, b) and (b,) ndarray
        Upper triangle R with ``Rᵀ R = Wᵀ Σ⁻¹ W``, and ``R⁻ᵀ Wᵀ Σ⁻¹ tau``: the rows alone.
    prior : (k, b + 1) ndarray
        Rows Rₚ ``[w tau]`` of the prior.
    widening : (n,) ndarray
        Factors by which the prior of an arm was scaled; empty for rows of a prior.
    condition_number : float
        Of the regressor without weights and prior, in the 2-norm, without the columns of shrunk
        friction coefficients; infinite if it is singular.

    """

    theta: Array
    sigma: Array
    half: Array
    root_information: Array
    root_torque: Array
    prior: Array
    widening: Array
    condition_number: float

    @property
    def prior_information(self) -> Array:
        """Return the information of the prior, (b, b)."""
        return np.asarray(self.prior[:, :-1].T @ self.prior[:, :-1])

    @property
    def white_covariance(self) -> Array:
        """Return the covariance of theta for white residuals, (b, b)."""
        return np.asarray(self.half @ self.half.T)


def solve(data: QRFactors, prior: ArmPrior | Array) -> Solution:
    """
    Solve by weighted least squares, with the noise of each joint from its residuals.

    Weights and estimate are iterated to convergence; each step is a QR factorisation of the
    compressed rows, never the normal equations.

    Parameters
    ----------
    data : QRFactors
        Rows of each joint.
    prior : ArmPrior or (k, b + 1) ndarray
        Prior of the parameters, to be scaled to the torque of the rows; or its rows ``[w tau]``,
        of unit noise.

    Returns
    -------
    Solution
        Estimate, with the factors for its covariance.

    Raises
    ------
    RecordingError
        There are no rows.

    References
    ----------
    Gautier 1997, Dynamic identification of robots with power model, eq. 10 to 14.

    """
    b = data.factors.shape[2] - 1
    if not data.rows.any():
        raise RecordingError(NO_ROW)
    widening, free = np.ones(0), np.ones(b, dtype=np.bool_)
    if isinstance(prior, ArmPrior):
        free = ~prior.is_shrunk
        if len(data.rows) == len(prior.torque):
            widening = prior.widening(data.rms_torque())
        prior = prior.scaled_by(widening).rows()
    noise = JointNoise(data.rows, data.rms_torque()**2)
    sigma = noise.first
    for _ in range(MOST_REWEIGHTINGS):
        before = sigma
        R = np.asarray(np.linalg.qr(np.concatenate([data.weighted(before), prior]), mode='r'))
        half = inverse_of(R[:b, :b])
        theta = half @ R[:b, b]
        used = b - float(((prior[:, :-1] @ half)**2).sum())
        sigma = noise.of(data.residual_squares(theta), used)
        if np.abs(sigma / before - 1).max() < WEIGHTS_CONVERGED:
            break
    return solution_of(data, prior, theta, sigma, half, widening, free)


def solution_of(
    data: QRFactors, prior: Array, theta: Array, sigma: Array, half: Array, widening: Array,
    free: NDArray[np.bool_],
) -> Solution:
    """
    Complete an estimate by the information of the rows alone.

    Parameters
    ----------
    data : QRFactors
        The rows.
    prior, theta, sigma, widening
        As for `Solution`.
    half : (b, b) ndarray
        Square root of the covariance for white residuals.
    free : (b,) ndarray of bool
        Parameters that count in the condition number.

    """
    b = len(theta)
    R = np.asarray(np.linalg.qr(data.weighted(sigma), mode='r'))
    columns = data.weighted(np.ones_like(sigma))[:, :b][:, free]
    singular = np.linalg.svd(columns, compute_uv=False)
    definite = singular[-1] > COLUMN_ROUNDING * singular[0]
    condition = float(singular[0] / singular[-1]) if definite else float('inf')
    return Solution(theta, sigma, half, R[:b, :b], R[:b, b], prior, widening,
                    condition)


class JointNoise:
    """
    Noise of joints from the residuals of a fit.

    Parameters
    ----------
    rows : (..., n) ndarray
        Rows of each joint.
    power : (..., n) ndarray
        Mean square torque of each joint, Nm².

    Attributes
    ----------
    floor : (..., 1) ndarray
        Least mean square of the residual of a joint, Nm²; without any torque, that for 1 Nm.
    first : (..., n) ndarray
        Standard deviation before any fit, Nm.

    """

    def __init__(self, rows: Array | NDArray[np.int64], power: Array) -> None:
        self._rows = rows
        total = np.maximum(rows.sum(axis=-1, keepdims=True), 1)
        mean = (rows * power).sum(axis=-1, keepdims=True) / total
        self.floor: Array = np.maximum(
            WEIGHT_FLOOR * np.where(mean > 0, mean, 1.0), np.finfo(float).tiny)
        power = np.maximum(power, power.mean(axis=-1, keepdims=True))
        self.first: Array = np.sqrt(np.maximum(FIRST_NOISE**2 * power, self.floor))

    def of(self, squares: Array, used: float | Array) -> Array:
        """
        Return the standard deviation of the noise, (..., n), Nm.

        Parameters
        ----------
        squares : (..., n) ndarray
            Sums of squared residuals, Nm².
        used : float or (..., 1) ndarray
            Number of parameters that the rows determine.

        """
        total = np.maximum(self._rows.sum(axis=-1, keepdims=True), 1)
        freedom = np.maximum(self._rows * (1 - used / total), 0)
        # The prior noise serves where there are no rows, or no residuals.
        mean = (squares + FIRST_FREEDOM * self.first**2) / (freedom + FIRST_FREEDOM)
        return np.asarray(np.sqrt(np.maximum(mean, self.floor)))


def fit(
    arm: ArmModel, rows: Rows, strengths: Mapping[str, float] = MappingProxyType({}),
) -> Solution:
    """
    Fit an arm to rows by weighted least squares.

    Parameters
    ----------
    arm : ArmModel
        The arm; its friction terms are identified.
    rows : Rows
        Rows of its motions.
    strengths : mapping of str to float, optional
        Of friction terms to shrink; see `ArmPrior.with_friction`.

    Returns
    -------
    Solution
        Estimate; if a friction term needs the load, it is the load that the estimate predicts.

    """
    prior = arm_prior(arm).with_friction(arm, strengths)
    if not arm.needs_load:
        return solve(rows.compressed(arm), prior)
    loadless = arm.memoryless
    loadless_prior = arm_prior(loadless).with_friction(loadless, strengths)
    load_theta = carry_over(solve(rows.compressed(loadless), loadless_prior).theta, loadless, arm)
    for _ in range(LOAD_PASSES):
        solution = solve(rows.compressed(arm, load_theta), prior)
        load_theta = solution.theta
    return solution


def carry_over(theta: Array, source: ArmModel, target: ArmModel) -> Array:
    """Map base parameters to another choice of friction terms; new ones are zero."""
    values = dict(zip(base_parameters(source).names, theta, strict=True))
    return np.array([values.get(name, 0.0) for name in base_parameters(target).names])
