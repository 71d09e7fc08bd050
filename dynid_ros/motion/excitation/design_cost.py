# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Cost function of a design: criterion and barriers along a motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.dynamics.kernel_arrays import tree
from dynid_ros.dynamics.regressor import fill_links, inertial_rows, regressor
from dynid_ros.motion.excitation.design_objective import Task
from dynid_ros.motion.excitation.information_criteria import Criterion, Information, smoothed
from dynid_ros.motion.feasibility.barrier import LimitBarrier
from dynid_ros.motion.feasibility.clearance import CollisionBarrier
from dynid_ros.motion.feasibility.margins import AllLimits
from dynid_ros.motion.feasibility.torque_limit import torque_limit
from dynid_ros.motion.trajectory.sampled_series import SampledSeries
from dynid_ros.utilities.arrays import Array

#: Step of the forward differences: rad, rad/s, rad/s² (m for prismatic joints).
FORWARD_STEP = 1e-6
#: Samples that are differenced at a time, so that their regressors stay in the cache.
DIFFERENCED_TOGETHER = 8
#: Points in the period of the highest harmonic: of the descent, and of its limits.
POINTS_PER_PERIOD, LIMIT_POINTS = 28, 100
#: Distance of the descent from the limits, as a share, to allow for values between the points.
SPARE_LIMIT_SHARE = 1e-3
#: The same for clearances, m.
SPARE_CLEARANCE = 0.005
#: Velocity at which Coulomb friction turns over in the descent, as share of the limit.
TURNOVER = 0.02


def by_states(
    arm: ArmModel, states: Array, by_regressor: Array, check: Callable[[], None] = lambda: None,
) -> Array:
    """
    Pull a derivative by the regressor of an arm back to the states.

    Each sample has its own 3 n states, so 3 n + 1 inertial regressors a sample give all
    derivatives, for any number of coordinates of the motion.

    Parameters
    ----------
    arm : ArmModel
        The arm, without friction terms that need the load.
    states : (3, K, n) ndarray
        Position, velocity and acceleration.
    by_regressor : (K, n, p) ndarray
        Derivative of the function by each entry of the regressor.
    check : callable, optional
        Called repeatedly; may raise to end the computation.

    Returns
    -------
    (3, K, n) ndarray
        Derivative by position, velocity and acceleration.

    """
    layout, joints = arm.layout, np.arange(arm.n)
    result = _by_links(arm, states, by_regressor[:, :, layout.all_inertial()], check)
    if layout.rotor_inertia:
        result[2] += by_regressor[:, joints, layout.rotors]
    still = np.zeros_like(states[1])
    for term in friction_terms(arm.friction):
        columns = layout.friction_columns(term.symbol)
        here, there = (term.value(states[1] + step, still, arm.friction_shape)
                       for step in (0.0, FORWARD_STEP))
        result[1] += by_regressor[:, joints, columns] * (there - here) / FORWARD_STEP
    for k, column in enumerate(arm.coupling, layout.first_coupling):
        if column.quantity != 'sign_qd':
            order = 2 if column.quantity == 'qdd' else 1
            result[order] += by_regressor[:, :, k] @ column.matrix
    return result


def _by_links(
    arm: ArmModel, states: Array, weights: Array, check: Callable[[], None],
) -> Array:
    """Differentiate inertial regressors times weights (K, n, 10 m), summed up, (3, K, n)."""
    _, samples, n = states.shape
    steps = np.concatenate([np.zeros((1, 3 * n)), FORWARD_STEP * np.eye(3 * n)])
    flat = states.transpose(1, 0, 2).reshape(samples, 1, 3 * n) + steps
    values = np.empty((samples, len(steps)))
    out = np.zeros((DIFFERENCED_TOGETHER * len(steps), *weights.shape[1:]))
    for first in range(0, samples, DIFFERENCED_TOGETHER):
        check()
        part = slice(first, first + DIFFERENCED_TOGETHER)
        q, qd, qdd = np.ascontiguousarray(np.moveaxis(flat[part].reshape(-1, 3, n), 1, 0))
        Y = out[:len(q)]
        fill_links(arm, inertial_rows, tree(arm), (q, qd, qdd), len(INERTIAL), Y)
        values[part] = (Y.reshape(-1, len(steps), weights[0].size)
                        @ weights[part].reshape(-1, weights[0].size, 1))[:, :, 0]
    slopes = (values[:, 1:] - values[:, :1]) / FORWARD_STEP
    return np.ascontiguousarray(slopes.reshape(samples, 3, n).transpose(1, 0, 2))


@dataclass(frozen=True, eq=False)
class Hindrance:
    """
    Limits that a position or a motion violates.

    Attributes
    ----------
    sample : int
        The sample at which it does.
    pairs : (v,) ndarray of int
        Pairs of bodies that violate their clearance; none if torque is violated.
    joints : (n,) ndarray of bool
        Joints that can move these apart, or whose torque is beyond its limit.

    """

    sample: int
    pairs: NDArray[np.intp]
    joints: NDArray[np.bool_]


class DesignCost:
    """
    Criterion plus barriers of one arm, period and number of harmonics.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    task : Task
        Period, harmonics and objective.
    limits : AllLimits
        The limits.
    check : callable
        Called repeatedly; may raise to end a computation.

    Attributes
    ----------
    series : SampledSeries
        Times at which information, torque and collisions are taken.
    information : Information
        Columns, weights and prior.
    allowed : LimitBarrier
        Position, velocity and acceleration limits; its Hessian is exact.
    collision : CollisionBarrier or None
        Clearances.

    """

    def __init__(
        self, arm: ArmModel, task: Task, limits: AllLimits, check: Callable[[], None],
    ) -> None:
        period, harmonics, objective = task.period, task.harmonics, task.objective
        self._arm = smoothed(arm, TURNOVER * float(np.median(limits.allowed.velocity)))
        self._torque, self._check = torque_limit(self._arm), check
        self.series = SampledSeries(period, harmonics, POINTS_PER_PERIOD * harmonics)
        grid = SampledSeries(period, harmonics, LIMIT_POINTS * harmonics)
        self.allowed = LimitBarrier(grid, limits.allowed.shrunk(SPARE_LIMIT_SHARE))
        self.collision = None if limits.scene is None else CollisionBarrier(
            limits.scene, SPARE_CLEARANCE)
        weights = np.ones(arm.n) if objective.weights is None else objective.weights
        self.information = Information(arm, weights, objective.prior)

    def at(
        self, X: Array, criterion: Criterion, wall: float,
    ) -> tuple[float, Callable[[], Array] | None]:
        """
        Criterion and the barriers of torque and collision, without the joint limits.

        Parameters
        ----------
        X : (n, m) ndarray
            Coordinates.
        criterion : Criterion
            Criterion to minimise.
        wall : float
            Factor of the barriers.

        Returns
        -------
        value : float
            Infinite outside of a limit.
        gradient : callable or None
            Computes the gradient (n, m) of the value; None outside.

        """
        self._check()
        states = self.series.states(X)
        nearness, near = (0.0, None) if self.collision is None else self.collision.at(states[0])
        if not np.isfinite(nearness):
            return np.inf, None
        Y = regressor(self._arm, *states)
        load, by_load = (0.0, None) if self._torque is None else self._torque.barrier(Y)
        if not np.isfinite(load):
            return np.inf, None
        value, slope = criterion(self.information.matrix(Y))
        if not np.isfinite(value):
            return np.inf, None

        def gradient() -> Array:
            by_regressor = self.information.adjoint(Y, slope)
            if by_load is not None:
                by_regressor += wall * by_load
            result = by_states(self._arm, states, by_regressor, self._check)
            if self.collision is not None and near is not None:
                result[0] += wall * self.collision.slope(states[0], near)
            return self.series.pull_back(result)

        return value + wall * (nearness + load), gradient

    def hindrance(self, states: Array) -> Hindrance | None:
        """
        Find a violated torque limit or clearance at states (3, K, n).

        Returns
        -------
        Hindrance or None
            The first violation found; None if all limits are kept.

        """
        if self.collision is not None:
            scene = self.collision.scene
            sample, pairs = scene.between.violated(states[0], self.collision.floor)
            if len(pairs):
                return Hindrance(sample, pairs, (scene.levers[pairs] != 0).max(axis=0))
        if self._torque is not None:
            over = self._torque.exceeded(states[0], states[1], states[2])
            if over.any():
                sample = int(over.any(axis=1).argmax())
                return Hindrance(sample, np.zeros(0, dtype=np.intp), over[sample])
        return None
