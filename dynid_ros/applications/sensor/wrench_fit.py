# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Least squares of the wrenches of a sensor: load, biases with drift, and orientation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.data.files.wrench_reader import WRENCH_WIDTH
from dynid_ros.dynamics.kinematics.body_regressor import skew
from dynid_ros.dynamics.kinematics.rotations import rotation_vectors, turned
from dynid_ros.dynamics.load_columns import LOAD_STD
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.covariance import group_scatter
from dynid_ros.estimation.estimate.weights import Solution
from dynid_ros.utilities.arrays import Array, inverse_of

#: Places of the unknowns: bias, its change over half of the recording, the rotation of the sensor,
#: and the load.
BIAS, DRIFT, TURN_VALUES, LOAD_VALUES = slice(0, 6), slice(6, 12), slice(12, 15), slice(15, 25)
#: Prior standard deviations of the unknowns: far beyond any sensor, and a radian.
PRIOR_ROOT = 1 / np.concatenate([
    np.full(12, 1e4), np.full(3, 1.0), np.full(len(INERTIAL), LOAD_STD)])
#: Parts of a recording that a jackknife leaves out in turn: each is longer than the noise is
#: correlated, and longer than a movement.
GROUPS = 10
#: Most iterations, and the step at which they end, in prior standard deviations.
STEPS, SETTLED = 30, 1e-9
#: Passes in which the weights of the components follow their residuals.
PASSES = 5


@dataclass(frozen=True, eq=False)
class WrenchFit:
    """
    A sensor and the load behind it.

    The wrench is ``Rᵀ Y p + bias + drift u``, with the columns Y and the load p in the frame that
    is stated for the sensor, and u from -1 to 1 in the course of the recording.

    Attributes
    ----------
    rotation : (3, 3) ndarray
        R, of the axes of the sensor in its stated frame.
    values : (25,) ndarray
        Bias, drift, rotation vector of R, and p; p is negative where the sensor measures what the
        load exerts on it, and positive where it measures what moves the load.
    covariance : (25, 25) ndarray
        Of these.
    factor : (10, 10) ndarray
        Triangle of the information on p, everything else refitted.
    sigma : (6,) ndarray
        Standard deviation of the residual, Nm and N.
    colour : float
        Rows that carry the information of one.

    """

    rotation: Array
    values: Array
    covariance: Array
    factor: Array
    sigma: Array
    colour: float

    def predicted(self, load: Array, u: Array) -> tuple[Array, Array]:
        """
        Predict wrenches.

        Parameters
        ----------
        load : (N, 6, 10) ndarray
            Columns of the load in the stated frame.
        u : (N,) ndarray
            Where in the course of the recording.

        Returns
        -------
        wrench : (N, 6) ndarray
            As the sensor measures it.
        columns : (N, 6, 25) ndarray
            Its derivatives.

        """
        return _predicted(load, u, self.rotation, self.values)


def fit_wrenches(load: Array, wrench: Array, u: Array) -> WrenchFit:
    """
    Fit a sensor.

    Parameters
    ----------
    load : (N, 6, 10) ndarray
        Columns of the load in the stated frame; see `body_regressor`.
    wrench : (N, 6) ndarray
        As measured.
    u : (N,) ndarray
        Time in the recording, from -1 to 1.

    Returns
    -------
    WrenchFit
        By the Gauss-Newton method, from the stated frame and from the rotation by forces alone;
        the better result counts. Error bars come from a jackknife over parts of the recording.

    """
    sigma = np.maximum(wrench.std(axis=0), np.finfo(float).tiny)
    rotation = np.eye(3)
    for first in [True] + [False] * (PASSES - 1):
        starts = [rotation, _by_forces(load, wrench)] if first else [rotation]
        ends = [_descended(load, wrench, u, sigma, start) for start in starts]
        rotation, values, left = min(ends, key=lambda end: float(((end[2] / sigma)**2).sum()))
        sigma = np.maximum(np.sqrt((left**2).mean(axis=0)), 1e-9 * wrench.std(axis=0))
        sigma = np.maximum(sigma, np.finfo(float).tiny)
    _, columns = _predicted(load, u, rotation, values)
    return _with_errors(columns, left, rotation, values, sigma)


def _predicted(load: Array, u: Array, rotation: Array, values: Array) -> tuple[Array, Array]:
    own = np.kron(np.eye(2), rotation.T) @ load
    felt = own @ values[LOAD_VALUES]
    columns = np.zeros((len(load), WRENCH_WIDTH, len(values)))
    columns[:, :, BIAS] = np.eye(WRENCH_WIDTH)
    columns[:, :, DRIFT] = u[:, None, None] * np.eye(WRENCH_WIDTH)
    # R exp(turn) sees a vector y of its own axes as y + y × turn.
    columns[:, :, TURN_VALUES] = skew(felt.reshape(-1, 2, 3)).reshape(-1, WRENCH_WIDTH, 3)
    columns[:, :, LOAD_VALUES] = own
    return felt + values[BIAS] + u[:, None] * values[DRIFT], columns


def _by_forces(load: Array, wrench: Array) -> Array:
    """Find the rotation that maps accelerations to forces best."""
    accel = np.column_stack([load[:, 3:, 0], np.ones(len(load))])
    by_force = np.linalg.lstsq(accel, wrench[:, 3:], rcond=None)[0][:3].T
    U, _, V = np.linalg.svd(by_force)
    # The forces are mass times Rᵀ, with a negative mass if the sensor measures the load's
    # reaction.
    return np.asarray((U @ V * np.sign(np.linalg.det(U @ V))).T)


def _descended(
    load: Array, wrench: Array, u: Array, sigma: Array, rotation: Array,
) -> tuple[Array, Array, Array]:
    """Descend from a rotation; return the rotation, all values, and the residual (N, 6)."""
    values = np.zeros(LOAD_VALUES.stop)
    # Without a load, a rotation has no effect: fit the others first.
    held = np.arange(TURN_VALUES.start, TURN_VALUES.stop)
    for step in range(STEPS):
        predicted, columns = _predicted(load, u, rotation, values)
        values[TURN_VALUES] = rotation_vectors(rotation)
        rows = (columns / sigma[:, None]).reshape(-1, len(values))
        if step == 0:
            rows[:, held] = 0.0
        change = np.asarray(np.linalg.solve(
            rows.T @ rows + np.diag(PRIOR_ROOT**2),
            rows.T @ ((wrench - predicted) / sigma).ravel() - PRIOR_ROOT**2 * values), dtype=float)
        if step == 0:
            change[held] = 0.0
        values += change
        rotation = rotation @ turned(change[TURN_VALUES])
        if np.abs(change * PRIOR_ROOT).max() < SETTLED:
            break
    predicted, _ = _predicted(load, u, rotation, values)
    values[TURN_VALUES] = rotation_vectors(rotation)
    return rotation, values, wrench - predicted


def _with_errors(
    columns: Array, left: Array, rotation: Array, values: Array, sigma: Array,
) -> WrenchFit:
    """Add the covariance, by a jackknife over consecutive parts of the rows."""
    rows = np.concatenate([columns, left[:, :, None]], axis=2) / sigma[:, None]
    parts = [part.reshape(-1, rows.shape[2]) for part in np.array_split(rows, GROUPS)]
    groups = [QRFactors(part[None], np.array([len(part)])) for part in parts]
    size = len(values)
    weak = np.column_stack([np.diag(PRIOR_ROOT), np.zeros(size)])
    R = np.asarray(np.linalg.qr(rows.reshape(-1, size + 1), mode='r'))[:size]
    triangle = np.asarray(np.linalg.qr(np.vstack([R[:, :-1], weak[:, :-1]]), mode='r'))
    solution = Solution(np.zeros(size), np.ones(1), inverse_of(triangle), R[:, :-1], R[:, -1],
                        weak, np.ones(0), np.inf)
    scatter = group_scatter(groups, solution)
    # The load comes last, so that the end of the triangle is its information, all else refitted.
    return WrenchFit(
        rotation, values, scatter.covariance(solution), triangle[LOAD_VALUES, LOAD_VALUES],
        sigma, scatter.colour)
