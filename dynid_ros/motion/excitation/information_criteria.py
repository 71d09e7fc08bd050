# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Information of a motion on the base parameters, and optimality criteria."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.utilities.arrays import Array

#: Value of a function of the information matrix (b, b), and its derivative by the matrix.
Criterion = Callable[[Array], tuple[float, Array]]
_WORST = (np.inf, np.zeros((0, 0)))


@dataclass(frozen=True, eq=False)
class Information:
    """
    Information matrix ``G = prior + W' S W / samples`` of motions of one arm.

    Attributes
    ----------
    arm : ArmModel
        The arm with the columns that will be identified.
    weights : (n,) ndarray
        Diagonal of S, one over the noise variance of each joint; ones for the plain regressor.
    prior : (b, b) ndarray or None
        Prior information.

    """

    arm: ArmModel
    weights: Array
    prior: Array | None = None

    @property
    def columns(self) -> NDArray[np.intp]:
        """Columns of the base parameters in the regressor, (b,)."""
        return base_parameters(self.arm).columns

    def matrix(self, Y: Array) -> Array:
        """Information (b, b) of regressors (K, n, p)."""
        rows = Y.reshape(-1, Y.shape[-1])[:, self.columns]
        rows *= np.tile(np.sqrt(self.weights), len(Y))[:, None]
        G = rows.T @ rows / len(Y)
        return np.asarray(G if self.prior is None else G + self.prior)

    def adjoint(self, Y: Array, slope: Array) -> Array:
        """Return the derivative by Y (K, n, p) of a function of G with derivative (b, b) by G."""
        samples, _, p = Y.shape
        rows = Y.reshape(-1, p)
        # Spread over all columns first: one product of whole rows, no gathering and scattering.
        wide = np.zeros((p, p))
        wide[np.ix_(self.columns, self.columns)] = 2 / samples * slope
        result = rows @ wide
        result *= np.tile(self.weights, samples)[:, None]
        return np.asarray(result.reshape(Y.shape))


@dataclass(frozen=True, eq=False)
class Sought:
    """
    Combinations of unknowns whose summed variance a design minimises.

    Attributes
    ----------
    name : str
        Their name, for metadata.
    unknowns : (b, u) ndarray
        Change of the base parameters with each unknown.
    known : (u, u) ndarray
        Information on the unknowns before the motion, per sample of it.
    wanted : (u, w) ndarray
        Combinations, one a column.

    """

    name: str
    unknowns: Array
    known: Array
    wanted: Array


def smoothed(arm: ArmModel, speed: float) -> ArmModel:
    """Return the arm with smooth Coulomb friction, in the same columns."""
    if 'coulomb' not in arm.friction or 'coulomb_smooth' in arm.friction:
        return arm
    names = tuple('coulomb_smooth' if x == 'coulomb' else x for x in arm.friction)
    shape = replace(arm.friction_shape, smooth_speed=speed)
    return replace(arm.with_friction(names), friction_shape=shape)


def smooth_condition(sharpness: float) -> Criterion:
    """
    Logarithm of the condition number of W, smoothed; G = W'W.

    The largest and the smallest eigenvalue of G are replaced by power means of all eigenvalues.
    At the optimum several eigenvalues meet at both ends, where the true condition number is
    not smooth and gradient methods stall.

    Parameters
    ----------
    sharpness : float
        Exponent s of ``log(sum(e^s)^(1/s) sum(e^-s)^(1/s)) / 2``; exact for s to infinity.

    """
    def criterion(G: Array) -> tuple[float, Array]:
        values, vectors = np.linalg.eigh(G)
        if not values[0] > 0:
            return _WORST
        powers = sharpness * np.log(values)
        high, low = np.exp(powers - powers[-1]), np.exp(powers[0] - powers)
        value = (powers[-1] - powers[0] + np.log(high.sum()) + np.log(low.sum())) / sharpness
        slope = (high / high.sum() - low / low.sum()) / values
        return float(value) / 2, (vectors * (slope / 2)) @ vectors.T

    return criterion


def log_volume(G: Array) -> tuple[float, Array]:
    """D-optimality: mean logarithm of the variances, ``-log(det G) / b``."""
    values, vectors = np.linalg.eigh(G)
    if not values[0] > 0:
        return _WORST
    b = len(values)
    return float(-np.log(values).sum() / b), -(vectors / (b * values)) @ vectors.T


def sought_variance(sought: Sought) -> Criterion:
    """Logarithm of the root of the summed variances of combinations of unknowns."""
    def criterion(G: Array) -> tuple[float, Array]:
        H = sought.unknowns.T @ G @ sought.unknowns + sought.known
        diagonal = np.diag(H)
        if not (diagonal > 0).all():
            return _WORST
        # Units of the unknowns differ by decades; unit diagonals keep the solution exact.
        scale = 1 / np.sqrt(diagonal)
        try:
            factor = np.linalg.cholesky(H * np.outer(scale, scale))
        except np.linalg.LinAlgError:
            return _WORST
        half = np.linalg.solve(factor, scale[:, None] * sought.wanted)
        X = scale[:, None] * np.linalg.solve(factor.T, half)
        trace = float((half**2).sum())
        if not 0 < trace < np.inf:
            return _WORST
        wide = sought.unknowns @ X
        return np.log(trace) / 2, -wide @ wide.T / (2 * trace)

    return criterion


def scaled(criterion: Criterion) -> Criterion:
    """Criterion of the same regressor with its columns scaled to unit length."""
    def of_scaled(G: Array) -> tuple[float, Array]:
        squares = np.diag(G)
        if not (squares > 0).all():
            return _WORST
        root = np.sqrt(np.outer(squares, squares))
        value, slope = criterion(G / root)
        if not np.isfinite(value):
            return _WORST
        by_length = (slope * G / root).sum(axis=1) / squares
        return value, slope / root - np.diag(by_length)

    return of_scaled


def condition_of(G: Array) -> float:
    """Condition number of W, with G = W'W (b, b); infinite where W is singular by rounding."""
    values = np.linalg.eigvalsh(G)
    singular = values[0] <= np.finfo(float).eps**2 * values[-1]
    return np.inf if singular else float(np.sqrt(values[-1] / values[0]))
