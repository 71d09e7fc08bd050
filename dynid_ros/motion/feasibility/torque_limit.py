# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Torque of a motion by the nominal parameters, against the effort limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import DRY, dry_friction, friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.arm_prior import with_links
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import check_possible, nominal_parameters
from dynid_ros.motion.feasibility.barrier import soft_wall
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.utilities.arrays import Array

#: Speeds, rad/s or m/s, whose largest dry friction counts at all times.
DRY_FRICTION_SPEEDS = np.geomspace(1e-3, 10.0, 81)
#: Share of the limit in which the barrier of the torque acts.
TORQUE_BARRIER_WIDTH = 0.2
#: Share of the limit that the descent reserves for the motion between its samples.
TORQUE_SPARE = 0.01
#: Points of a period of the highest harmonic on which the torque is verified.
VERIFIED_POINTS = 200


class TorqueLimit:
    """
    Effort limits of an arm with known nominal parameters.

    Parameters
    ----------
    arm : ArmModel
        The arm.

    Attributes
    ----------
    arm : ArmModel
        The arm, with cylinders for links without mass.
    theta : (p,) ndarray
        Nominal parameters without dry friction.
    dry : (n,) ndarray
        Largest dry friction of each joint, Nm.
    limit : (n,) ndarray
        Effort limits, Nm.

    Raises
    ------
    ArmError
        No body can have the inertia of a link.

    """

    def __init__(self, arm: ArmModel) -> None:
        self.limit = arm.motion_limits.effort
        self.arm, _ = with_links(arm)
        check_possible(self.arm)
        self.theta, self.dry = nominal_parameters(self.arm), np.zeros(arm.n)
        known: dict[str, Array] = {}
        for term in friction_terms(arm.friction):
            if term.name in DRY:
                columns = arm.layout.friction_columns(term.symbol)
                known[term.name] = self.theta[columns]
                self.theta[columns] = 0.0
        if known:
            dry = dry_friction(known, DRY_FRICTION_SPEEDS, arm.friction_shape)
            self.dry = np.abs(dry).max(axis=0)

    def barrier(self, Y: Array) -> tuple[float, Array]:
        """
        Barrier along samples.

        Parameters
        ----------
        Y : (K, n, p) ndarray
            Regressor.

        Returns
        -------
        value : float
            Mean over the samples, infinite beyond a limit.
        by_regressor : (K, n, p) ndarray
            Its derivative by the regressor.

        """
        torque = Y @ self.theta
        margin = 1 - TORQUE_SPARE - (np.abs(torque) + self.dry) / self.limit
        value, slope = soft_wall(margin, TORQUE_BARRIER_WIDTH)
        by_torque = -slope * np.sign(torque) / (self.limit * len(Y))
        return float(value.sum() / len(Y)), by_torque[:, :, None] * self.theta

    def exceeded(self, q: Array, qd: Array, qdd: Array) -> NDArray[np.bool_]:
        """Whether the barrier of a joint is infinite at states (K, n) each, (K, n)."""
        load = np.abs(self.torque(q, qd, qdd)) + self.dry
        return np.asarray(load >= (1 - TORQUE_SPARE) * self.limit)

    def torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Torque (K, n) without dry friction at states (K, n) each, Nm."""
        return np.asarray(regressor(self.arm, q, qd, qdd) @ self.theta)

    def largest(self, motion: FourierMotion) -> Array:
        """
        Bound of the torque over a motion, (n,), Nm.

        Between two points of the grid, the torque without dry friction is smooth and exceeds both
        by at most h²/8 max|d²tau/dt²|, taken from the second differences of the grid.
        """
        points = int(VERIFIED_POINTS * motion.harmonics)
        worst = np.zeros(motion.n)
        for begin, end in motion.stretches:
            steps = int(np.ceil(points * (end - begin) / motion.period))
            torque = self.torque(*motion.evaluate(np.linspace(begin, end, steps + 1)))
            bend = np.abs(np.diff(torque, 2, axis=0)).max(axis=0, initial=0.0) / 8
            worst = np.maximum(worst, np.abs(torque).max(axis=0) + 2 * bend)
        return np.asarray(worst + self.dry)


def torque_limit(arm: ArmModel) -> TorqueLimit | None:
    """Effort limits of an arm, or None where all of them are unknown."""
    return TorqueLimit(arm) if np.isfinite(arm.motion_limits.effort).any() else None
