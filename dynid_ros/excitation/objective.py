"""The function that a design descends: criterion and barriers along a motion."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.excitation.barrier import RoomBarrier
from dynid_ros.excitation.collision import CollisionBarrier
from dynid_ros.excitation.criterion import Criterion
from dynid_ros.excitation.information import Information
from dynid_ros.excitation.sensitivity import Sensitivity
from dynid_ros.excitation.series import SampledSeries
from dynid_ros.excitation.torque import TorqueLimit

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Course:
    """
    What the gradient at one point needs.

    Attributes
    ----------
    wall : float
        Factor of the barriers.
    states : (3, K, n) ndarray
        Position, velocity and acceleration.
    Y : (K, n, p) ndarray
        Regressor.
    slope : (b, b) ndarray
        Derivative of the criterion by the information.
    by_load : (K, n, p) ndarray or None
        Derivative of the barrier of the torque by the regressor.

    """

    wall: float
    states: Array
    Y: Array
    slope: Array
    by_load: Array | None


@dataclass(frozen=True, eq=False)
class Objective:
    """
    Criterion plus barriers of one arm, period and number of harmonics.

    Attributes
    ----------
    arm : ArmModel
        The arm with smooth friction, in the columns of `information`.
    series : SampledSeries
        Times at which information, torque and collisions are taken.
    information : Information
        Which columns, weights and prior.
    room : RoomBarrier
        Position, velocity and acceleration limits; its Hessian is exact.
    torque : TorqueLimit or None
        Effort limits.
    collision : CollisionBarrier or None
        Clearances.
    sensitivity : Sensitivity
        Derivatives of the regressor of the arm.

    """

    arm: ArmModel
    series: SampledSeries
    information: Information
    room: RoomBarrier
    torque: TorqueLimit | None = None
    collision: CollisionBarrier | None = None
    sensitivity: Sensitivity = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the derivatives."""
        object.__setattr__(self, 'sensitivity', Sensitivity(self.arm))

    def at(
        self, X: Array, criterion: Criterion, wall: float,
    ) -> tuple[float, Course | None]:
        """
        Criterion and the barriers of torque and collision; that of the room is apart.

        Parameters
        ----------
        X : (n, m) ndarray
            Coordinates.
        criterion : Criterion
            What is to be small.
        wall : float
            Factor of the barriers.

        Returns
        -------
        value : float
            Infinite outside of a limit.
        course : Course or None
            For `gradient`; None outside.

        """
        states = self.series.states(X)
        nearness = 0.0 if self.collision is None else self.collision.value(states[0])
        if not np.isfinite(nearness):
            return np.inf, None
        Y = regressor(self.arm, *states)
        load, by_load = (0.0, None) if self.torque is None else self.torque.barrier(Y)
        if not np.isfinite(load):
            return np.inf, None
        value, slope = criterion(self.information.matrix(Y))
        course = Course(wall, states, Y, slope, by_load)
        return value + wall * (nearness + load), course

    def gradient(self, point: Course) -> Array:
        """Gradient (n, m) of the value at a point."""
        by_regressor = self.information.adjoint(point.Y, point.slope)
        if point.by_load is not None:
            by_regressor += point.wall * point.by_load
        result = self.sensitivity.by_states(point.states, by_regressor)
        if self.collision is not None:
            result[0] += point.wall * self.collision.slope(point.states[0])
        return self.series.pull_back(result)

    def feasible(self, X: Array) -> bool:
        """Whether all limits are kept at the samples."""
        if not self.room.slacks(X).min() > 0:
            return False
        return bool(np.isfinite(self.at(X, lambda G: (0.0, G), 1.0)[0]))
