"""The function that a design descends: criterion and barriers along a motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.regressor import fill_links, regressor, tree
from dynid_ros.dynamics.regressor_kernels import fill_inertial
from dynid_ros.motion.excitation.information_criteria import Criterion, Information
from dynid_ros.motion.feasibility.barrier import LimitBarrier
from dynid_ros.motion.feasibility.collision import CollisionBarrier
from dynid_ros.motion.feasibility.torque_limit import TorqueLimit
from dynid_ros.motion.trajectory.sampled_series import SampledSeries
from dynid_ros.utilities.arrays import Array

#: Step of the forward differences: rad, rad/s, rad/s² (m for prismatic joints).
STEP = 1e-6
#: Samples that are differenced at a time, so that their regressors stay in the cache.
BLOCK = 8


class RegressorSensitivity:
    """
    Derivatives by q, qd and qdd of functions of the regressor of one arm.

    Each sample has its own 3 n states, so 3 n + 1 inertial regressors a sample give all
    derivatives, for any number of coordinates of the motion.

    Parameters
    ----------
    arm : ArmModel
        The arm, without friction terms that need the load.
    check : callable, optional
        Called again and again; may raise to end a computation.

    """

    def __init__(self, arm: ArmModel, check: Callable[[], None] = lambda: None) -> None:
        self._arm, self._layout, self._check = arm, arm.layout, check
        self._tree = tree(arm)
        self._inertial = self._layout.all_inertial()
        n = arm.n
        self._steps = np.concatenate([np.zeros((1, 3 * n)), STEP * np.eye(3 * n)])
        self._out = np.zeros((BLOCK * len(self._steps), n, 10 * arm.links))

    def by_states(self, states: Array, by_regressor: Array) -> Array:
        """
        Pull a derivative by the regressor back to the states.

        Parameters
        ----------
        states : (3, K, n) ndarray
            Position, velocity and acceleration.
        by_regressor : (K, n, p) ndarray
            Derivative of the function by each entry of the regressor.

        Returns
        -------
        (3, K, n) ndarray
            Derivative by position, velocity and acceleration.

        """
        result = self._inertial_part(states, by_regressor[:, :, self._inertial])
        n, layout = self._arm.n, self._layout
        joints = np.arange(n)
        if layout.rotor_inertia:
            result[2] += by_regressor[:, joints, np.array([layout.rotor(j) for j in range(n)])]
        still = np.zeros_like(states[1])
        for term in friction_terms(self._arm.friction):
            columns = np.array([layout.friction_column(j, term.symbol) for j in range(n)])
            here, there = (
                term.value(states[1] + step, still, self._arm.friction_shape)
                for step in (0.0, STEP))
            slope = (there - here) / STEP
            result[1] += by_regressor[:, joints, columns] * slope
        first = layout.first_coupling
        for k, column in enumerate(self._arm.coupling):
            if column.quantity != 'sign_qd':
                order = 2 if column.quantity == 'qdd' else 1
                result[order] += by_regressor[:, :, first + k] @ column.matrix
        return result

    def _inertial_part(self, states: Array, weights: Array) -> Array:
        _, samples, n = states.shape
        each = len(self._steps)
        flat = states.transpose(1, 0, 2).reshape(samples, 1, 3 * n) + self._steps
        q, qd, qdd = (
            np.ascontiguousarray(part) for part in
            flat.reshape(samples * each, 3, n).transpose(1, 0, 2))
        values = np.empty((samples, each))
        for first in range(0, samples, BLOCK):
            self._check()
            count = min(BLOCK, samples - first)
            rows = slice(first * each, (first + count) * each)
            out = self._out[:count * each]
            motion = q[rows], qd[rows], qdd[rows]
            fill_links(self._arm, fill_inertial, self._tree, motion, 10, out)
            weight = weights[first:first + count].reshape(count, -1, 1)
            values[first:first + count] = (out.reshape(count, each, -1) @ weight)[:, :, 0]
        slopes = (values[:, 1:] - values[:, :1]) / STEP
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
        Pairs of bodies that violate their clearance; none where torque is the matter.
    joints : (n,) ndarray of bool
        Joints that can move these apart, or whose torque is beyond its limit.

    """

    sample: int
    pairs: NDArray[np.intp]
    joints: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class DesignCost:
    """
    Criterion plus barriers of one arm, period and number of harmonics.

    Attributes
    ----------
    arm : ArmModel
        The arm with smooth friction, in the columns of `information`.
    series : SampledSeries
        Times at which information, torque and collisions are taken.
    information : Information
        Columns, weights and prior.
    allowed : LimitBarrier
        Position, velocity and acceleration limits; its Hessian is exact.
    torque : TorqueLimit or None
        Effort limits.
    collision : CollisionBarrier or None
        Clearances.
    check : callable
        Called again and again; may raise to end a computation.
    sensitivity : RegressorSensitivity
        Derivatives of the regressor of the arm.

    """

    arm: ArmModel
    series: SampledSeries
    information: Information
    allowed: LimitBarrier
    torque: TorqueLimit | None = None
    collision: CollisionBarrier | None = None
    check: Callable[[], None] = lambda: None
    sensitivity: RegressorSensitivity = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the derivatives."""
        object.__setattr__(self, 'sensitivity', RegressorSensitivity(self.arm, self.check))

    def at(
        self, X: Array, criterion: Criterion, wall: float,
    ) -> tuple[float, Callable[[], Array] | None]:
        """
        Criterion and the barriers of torque and collision, without that of the joint limits.

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
        self.check()
        states = self.series.states(X)
        nearness, near = (0.0, None) if self.collision is None else self.collision.at(states[0])
        if not np.isfinite(nearness):
            return np.inf, None
        Y = regressor(self.arm, *states)
        load, by_load = (0.0, None) if self.torque is None else self.torque.barrier(Y)
        if not np.isfinite(load):
            return np.inf, None
        value, slope = criterion(self.information.matrix(Y))
        if not np.isfinite(value):
            return np.inf, None

        def gradient() -> Array:
            by_regressor = self.information.adjoint(Y, slope)
            if by_load is not None:
                by_regressor += wall * by_load
            result = self.sensitivity.by_states(states, by_regressor)
            if self.collision is not None and near is not None:
                result[0] += wall * self.collision.slope(states[0], near)
            return self.series.pull_back(result)

        return value + wall * (nearness + load), gradient

    def hindrance(self, states: Array) -> Hindrance | None:
        """
        Find what violates a torque limit or a clearance at states (3, K, n).

        Returns
        -------
        Hindrance or None
            The first violation that was found; None where all is kept.

        """
        if self.collision is not None:
            scene = self.collision.scene
            sample, pairs = scene.between.violated(states[0], self.collision.floor)
            if len(pairs):
                return Hindrance(sample, pairs, (scene.levers[pairs] != 0).max(axis=0))
        if self.torque is not None:
            over = self.torque.exceeded(states[0], states[1], states[2])
            if over.any():
                sample = int(over.any(axis=1).argmax())
                return Hindrance(sample, np.zeros(0, dtype=np.intp), over[sample])
        return None
