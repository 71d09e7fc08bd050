"""How far a motion stays from every limit, between samples too."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dynid_ros.excitation.collision import clearances
from dynid_ros.excitation.extremes import extremes
from dynid_ros.excitation.fourier import FourierMotion
from dynid_ros.excitation.room import Room
from dynid_ros.excitation.scene import Scene
from dynid_ros.excitation.torque import TorqueLimit

Array = NDArray[np.float64]

#: Shares of a limit that rounding may cost.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Margins:
    """
    What is left of each limit; nothing is negative where all are kept.

    Attributes
    ----------
    position : (n,) ndarray
        Distance from the nearer position limit, rad or m.
    velocity, acceleration : (n,) ndarray
        Left of the limits: rad/s or m/s, rad/s² or m/s².
    torque : (n,) ndarray or None
        Left of the effort limits, Nm or N; None where the nominal parameters are not known.
    clearance : dict of str to float
        Distance of each pair of bodies beyond the one to keep, m.

    """

    position: Array
    velocity: Array
    acceleration: Array
    torque: Array | None = None
    clearance: dict[str, float] = field(default_factory=dict)

    @property
    def kept(self) -> bool:
        """Whether every limit is kept."""
        joints = [self.position, self.velocity, self.acceleration]
        if self.torque is not None:
            joints.append(self.torque)
        return bool((np.array(joints) >= -ROUNDING).all()
                    and all(value >= 0 for value in self.clearance.values()))


@dataclass(frozen=True, eq=False)
class Limits:
    """
    Everything that a motion must keep.

    Attributes
    ----------
    room : Room
        Position, velocity and acceleration.
    torque : TorqueLimit or None
        Effort, where nominal parameters are known.
    scene : Scene or None
        Bodies, where any are known.

    """

    room: Room
    torque: TorqueLimit | None = None
    scene: Scene | None = None

    def margins(self, motion: FourierMotion) -> Margins:
        """Verify a motion."""
        bounds, room = extremes(motion), self.room
        return Margins(
            np.minimum(bounds.lower - room.lower, room.upper - bounds.upper),
            room.velocity - bounds.velocity,
            room.acceleration - bounds.acceleration,
            None if self.torque is None else self.torque.limit - self.torque.largest(motion),
            self._clearance(motion))

    def _clearance(self, motion: FourierMotion) -> dict[str, float]:
        if self.scene is None:
            return {}
        left = clearances(self.scene, motion) - self.scene.clearance
        least: dict[str, float] = {}
        # Several bodies of one link share their name.
        for name, value in zip(self.scene.names, left.tolist(), strict=True):
            least[name] = min(value, least.get(name, np.inf))
        return least
