# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Motion from rest to rest, and the friction that holds an arm at each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid_ros.motion.trajectory.fourier import quintic_step

Array = np.ndarray
#: Time on the way to a position, and at rest there, s.
WAY, REST = 1.5, 1.5


@dataclass(frozen=True, eq=False)
class RestMotion:
    """
    Rests at P positions and the ways to them, N samples.

    Attributes
    ----------
    t : (N,) ndarray
        s.
    q, qd, qdd : (N, n) ndarray
        Course.
    number : (N,) ndarray of int
        Position of each sample, or the one it leads to.
    approach : (N, n) ndarray
        Direction in which each joint moved before it came to rest; zero on the way.

    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    number: Array
    approach: Array

    def held(self, friction: Array, share: Array) -> Array:
        """
        Torque that static friction adds to the drives' torque, (N, n).

        Parameters
        ----------
        friction : (n,) ndarray
            Coulomb friction.
        share : (P, n) ndarray
            Share of it that holds each joint at each position: any that it had when the joint
            came to rest.

        """
        return self.approach * friction * share[self.number]


def rest_motion(points: Array, rate_hz: float) -> RestMotion:
    """Go from point to point (P + 1, n), by polynomials that are smooth at both ends."""
    count = len(points) - 1
    t = np.arange(round(count * (WAY + REST) * rate_hz)) / rate_hz
    number = np.minimum((t / (WAY + REST)).astype(int), count - 1)
    s = (t - (WAY + REST) * number) / WAY
    step = points[number + 1] - points[number]
    x, xd, xdd = (part[:, None] for part in quintic_step(s))
    return RestMotion(
        t, points[number] + step * x, step / WAY * xd, step / WAY**2 * xdd, number,
        np.sign(step) * (s >= 1)[:, None])
