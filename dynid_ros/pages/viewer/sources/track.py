# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Content of a file over time: positions, torque and notable moments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.utilities.arrays import Array

#: Frames a second, and most of them: an exported page holds two poses of each link a frame.
FRAMES_HZ, MOST_FRAMES = 30.0, 1500
#: Name of a quantity of all joints, its values (N, n), their units, and its limits (n,), (n,).
Quantity: TypeAlias = tuple[str, Array, Sequence[str], Array, Array]


@dataclass(frozen=True)
class Moment:
    """
    A notable time.

    Attributes
    ----------
    t : float
        s since the start.
    kind : str
        ``clearance``, ``outlier`` or ``defect``.
    text : str
        Description.

    """

    t: float
    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class Track:
    """
    States of an arm over time, at the frames of a page.

    Attributes
    ----------
    title : str
        Title of the page.
    arm : ArmModel
        The arm.
    t : (N,) ndarray
        s since the start, increasing.
    q, qd : (N, n) ndarray
        rad and rad/s, or m and m/s.
    tau : (N, n) ndarray or None
        Measured torque, or torque of the motion by the nominal or identified parameters; Nm or N.
    tau_hat : (N, n) ndarray or None
        Predicted torque, if torque was measured.
    heat : (N, n) ndarray or None
        Residual of each joint, from 0 to 1 at the residual of an outlier.
    moments : tuple of Moment
        In the order of time.
    notes : tuple of str
        Lines for the user.

    """

    title: str
    arm: ArmModel
    t: Array
    q: Array
    qd: Array
    tau: Array | None = None
    tau_hat: Array | None = None
    heat: Array | None = None
    moments: tuple[Moment, ...] = ()
    notes: tuple[str, ...] = ()

    def with_moments(self, moments: Iterable[Moment], **more: Any) -> Track:
        """Return the same with further moments, and with other attributes."""
        every = sorted((*self.moments, *moments), key=lambda moment: moment.t)
        return replace(self, moments=tuple(every), **more)

    @property
    def duration(self) -> float:
        """Time of the last state, s."""
        return float(self.t[-1])

    def position(self, t: float) -> Array:
        """Return positions (n,) at a time, interpolated between states."""
        return at_times(t, self.t, self.q)

    def index(self, t: float) -> int:
        """Return the state nearest to a time."""
        return int(np.abs(self.t - t).argmin())

    def quantities(self) -> Iterator[Quantity]:
        """Return the known quantities of all joints, with limits."""
        limits, units = self.arm.limits, joint_units('rad', self.arm.prismatic)
        speed, torque = limits.velocity, limits.effort
        yield 'position', self.q, units, limits.lower, limits.upper
        yield 'velocity', self.qd, [f'{unit}/s' for unit in units], -speed, speed
        if self.tau is not None:
            yield 'torque', self.tau, torque_units(self.arm), -torque, torque


def frame_times(duration: float) -> Array:
    """Return the times of the states of a page, from zero to a duration, s."""
    frames = int(np.clip(np.ceil(duration * FRAMES_HZ), 2, MOST_FRAMES - 1))
    return np.linspace(0.0, duration, frames + 1)


def at_times(t: Array | float, known: Array, values: Array) -> Array:
    """Interpolate columns (K, n) from known times (K,) to others (N,), or to a single one."""
    return np.stack([np.interp(t, known, column) for column in values.T], axis=-1)
