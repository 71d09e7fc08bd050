# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""An exciting motion, followed by a different one that validates the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.motion.trajectory.fourier import FourierMotion, quintic_step
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True, eq=False)
class MotionPair:
    """
    Two motions of n joints, with the straight way from the end of one to the start of the other.

    Attributes
    ----------
    excitation, validation : FourierMotion
        The motion that is fitted, and the one that is held out.
    way : float
        Time from the end of the first to the start of the second, s.

    """

    excitation: FourierMotion
    validation: FourierMotion
    way: float

    @property
    def start(self) -> Array:
        """Position of rest before the start, (n,), rad or m."""
        return self.excitation.start

    @property
    def duration(self) -> float:
        """Time from the start to the end, s."""
        return self.excitation.duration + self.way + self.validation.duration

    def evaluate(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration at any times; see `FourierMotion.evaluate`."""
        time = np.asarray(t, dtype=float)
        first, second = self.excitation.duration, self.excitation.duration + self.way
        states = np.empty((3, *time.shape, self.excitation.n))
        for inside, motion, begin in (
                (time < first, self.excitation.evaluate, 0.0),
                ((time >= first) & (time < second),
                 move(self.start, self.validation.start, self.way), first),
                (time >= second, self.validation.evaluate, second)):
            if inside.any():
                states[:, inside] = motion(time[inside] - begin)
        q, qd, qdd = states
        return q, qd, qdd


#: A motion that can be run.
Motion = FourierMotion | MotionPair


def parts(motion: Motion) -> tuple[FourierMotion, ...]:
    """Return the series of a motion, in order."""
    if isinstance(motion, MotionPair):
        return motion.excitation, motion.validation
    return (motion,)


def move(
    q: Array, objective: Array, duration: float,
) -> Callable[[ArrayLike], tuple[Array, Array, Array]]:
    """
    Quintic from rest to rest.

    Parameters
    ----------
    q, objective : (n,) ndarray
        Start and end, rad or m.
    duration : float
        s.

    Returns
    -------
    callable
        Position, velocity and acceleration at times of any shape, s, with a further axis of
        length n.

    """
    def path(t: ArrayLike) -> tuple[Array, Array, Array]:
        step, first, second = quintic_step(np.asarray(t, dtype=float)[..., None] / duration)
        way = objective - q
        return q + step * way, first / duration * way, second / duration**2 * way

    return path
