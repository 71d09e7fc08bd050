# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction of simulated joints: curves over the speed, by load and by the motion before."""

from __future__ import annotations

import numpy as np

from dynid_ros.arm.friction import (
    friction_terms,
    FrictionShape,
    JointHistory,
    TERMS,
    WARM_SECONDS,
)
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.history import RunningPresliding
from dynid_ros.motion.execution.tracking_control import RigidArm
from dynid_ros.simulation.plausible_drive import typical_speed
from dynid_ros.utilities.arrays import Array

#: Speed over which Coulomb friction changes its sign, rad/s or m/s: far below the resolution of an
#: encoder. For an arm with a joint that never reaches 1 rad/s it is a thousandth of the speed of
#: that joint.
COULOMB_WIDTH = 1e-3
#: Slowest speed of a curve relative to this width, its fastest one, rad/s or m/s, and speeds a
#: decade: linear interpolation is within 1e-4 of a hyperbolic tangent.
SLOWEST_BY_WIDTH, FASTEST_SPEED, SPEEDS_PER_DECADE = 0.03, 100.0, 100


class JointFriction:
    """
    Nominal friction of each joint as a curve over the speed, the same in both directions.

    Parameters
    ----------
    arm : ArmModel
        The arm; friction that it does not state is zero.

    Attributes
    ----------
    speeds : (S,) ndarray
        Zero, and geometrically spaced speeds, rad/s or m/s; the curves are linear beyond the last.
    curves : (3, n, S) ndarray
        Friction, and friction per unit of the torque that loads the joint and of its warmth.
    offset, presliding : (n,) ndarray
        Offset, and friction by the bend of the contact, Nm.

    """

    def __init__(self, arm: ArmModel) -> None:
        width = COULOMB_WIDTH * min(1.0, float(typical_speed(arm).min()))
        slowest = SLOWEST_BY_WIDTH * width
        count = int(SPEEDS_PER_DECADE * np.log10(FASTEST_SPEED / slowest))
        speeds = np.geomspace(slowest, FASTEST_SPEED, count)
        self.speeds = speeds = np.append(0.0, speeds)
        self.curves = np.zeros((3, arm.n, len(speeds)))
        self.offset, self.presliding = np.zeros((2, arm.n))
        unit = np.ones((len(speeds), 1))
        for term in friction_terms(tuple(arm.friction_nominal)):
            coefficient, shape = np.array(arm.friction_nominal[term.name]), arm.friction_shape
            if term.state == 'presliding':
                self.presliding += coefficient
                continue
            if term.name == 'coulomb':
                term, shape = TERMS['coulomb_smooth'], FrictionShape(smooth_speed=width)
            value = term.at(speeds[:, None], unit, JointHistory(unit, unit), shape)[:, 0]
            self.offset += coefficient * value[0]
            self.curves[['', 'load', 'warmth'].index(term.state)] += (
                np.outer(coefficient, value - value[0]))

    def torque(self, qd: Array) -> Array:
        """Friction torque of cold joints that slide without load, (..., n) as the velocity."""
        columns = np.moveaxis(np.abs(qd), -1, 0)
        level = np.stack([np.interp(own, self.speeds, curve)
                          for own, curve in zip(columns, self.curves[0], strict=True)], axis=-1)
        return np.asarray(np.sign(qd) * (level + self.presliding) + self.offset)


class RunningFriction:
    """
    Friction of each joint along a motion, step by step.

    A curve has a part that rises with the speed and one that falls. The former, which may be
    steep, is implicit in the end of a step; the latter, the load and the history are constant over
    the step.

    Parameters
    ----------
    arm : ArmModel
        The arm, with its nominal friction.
    timestep : float
        Step, s.

    Attributes
    ----------
    nominal : JointFriction
        The friction.

    """

    def __init__(self, arm: ArmModel, timestep: float) -> None:
        self.nominal = JointFriction(arm)
        self._rigid = RigidArm(arm) if self.nominal.curves[1].any() else None
        self._warms, self._bends = self.nominal.curves[2].any(), self.nominal.presliding.any()
        self._kept = float(np.exp(-timestep / WARM_SECONDS))
        self._curves = _parted(self.nominal.curves[0])
        self.reset()

    def reset(self) -> None:
        """Reset the joints to cold and unbent."""
        n = len(self.nominal.offset)
        self._squares, self._contact = np.zeros(n), RunningPresliding(n)
        self._contact.bend = np.zeros(n)

    def step(self, q: Array, qd: Array) -> tuple[Array, Array, Array]:
        """
        Begin a step.

        Parameters
        ----------
        q, qd : (n,) ndarray
            rad, rad/s (m for prismatic joints).

        Returns
        -------
        constant : (n,) ndarray
            Torque whatever the speed, Nm.
        rising, falling : (n, S) ndarray
            Parts of the curves at the `JointFriction.speeds`.

        """
        own = self.nominal
        constant = own.offset
        if self._bends:
            constant = constant + own.presliding * self._contact.take(q[None])[0]
        if self._rigid is None and not self._warms:
            return constant, *self._curves
        self._squares = self._kept * self._squares + (1 - self._kept) * qd**2
        curves = own.curves[0] + np.sqrt(self._squares)[:, None] * own.curves[2]
        if self._rigid is not None:
            curves += np.abs(self._rigid.gravity(q))[:, None] * own.curves[1]
        return constant, *_parted(curves)


def _parted(curves: Array) -> tuple[Array, Array]:
    """Part curves (n, S) into those that rise and those that fall."""
    rising = np.cumsum(np.maximum(np.diff(curves, axis=1, prepend=0.0), 0.0), axis=1)
    return rising, curves - rising
