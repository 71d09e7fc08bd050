# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Finite Fourier series that start and end at rest, evaluated in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.errors import InputError
from dynid_ros.utilities.arrays import Array

#: Speed and acceleration at the boundary that count as rest, relative to those of the motion.
REST_TOLERANCE = 1e-9
#: Longest motion, s; real arms move for minutes.
LONGEST_MOTION_SECONDS = 3600.0
#: Shortest ramp, s: a sample at 1 kHz.
SHORTEST_RAMP = 1e-3


@dataclass(frozen=True, eq=False)
class FourierMotion:
    """
    Periodic motion of n joints with H harmonics, at rest before its start and after its end.

    Attributes
    ----------
    period : float
        Period of the fundamental, s.
    offset : (n,) ndarray
        Mean position over a period, rad or m.
    sine, cosine : (n, H) ndarray
        Coefficients a and b of the velocity, rad/s or m/s.
    periods : int
        Periods at full amplitude.
    ramp : float
        Time over which the amplitude grows before the first period and shrinks after the last
        one, s.

    Raises
    ------
    InputError
        The numbers are invalid, or the motion has no ramp and is not at rest at the period's
        boundary.

    Notes
    -----
    With w = 2 pi / period (Swevers, Ganseman, Tükel, de Schutter and van Brussel 1997, eq. 11)::

        q(t)   = offset + sum_l a_l / (w l) sin(w l t) - b_l / (w l) cos(w l t)
        qd(t)  =          sum_l a_l cos(w l t) + b_l sin(w l t)
        qdd(t) =          sum_l -a_l w l sin(w l t) + b_l w l cos(w l t)

    so that rest at the boundary means sum(a_l) = 0 and sum(l b_l) = 0. During a ramp the
    deviation from the position of rest is multiplied by a quintic step.

    """

    period: float
    offset: Array
    sine: Array
    cosine: Array
    periods: int = 1
    ramp: float = 0.0

    def __post_init__(self) -> None:
        """Freeze the arrays and check that this is a motion."""
        for name in ('offset', 'sine', 'cosine'):
            values = np.array(getattr(self, name), dtype=float)
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        self._check_numbers()
        if self.ramp == 0:
            self._check_rest()

    @staticmethod
    def at_rest(
        period: float, offset: ArrayLike, reduced: ArrayLike, periods: int = 1, ramp: float = 0.0,
    ) -> FourierMotion:
        """
        Motion from coordinates in the space of motions at rest; see `rest_projection`.

        Parameters
        ----------
        period : float
            s.
        offset : (n,) array_like
            Mean positions, rad or m.
        reduced : (n, 2 H - 2) array_like
            Coordinates of each joint in `rest_projection`, rad/s or m/s.
        periods : int
            Periods at full amplitude.
        ramp : float
            s.

        Returns
        -------
        FourierMotion
            At rest at the period's boundary.

        """
        values = np.asarray(reduced, dtype=float)
        harmonics = values.shape[1] // 2 + 1
        full = values @ rest_projection(harmonics).T
        return FourierMotion(
            period, np.asarray(offset, dtype=float), full[:, :harmonics], full[:, harmonics:],
            periods, ramp)

    @property
    def n(self) -> int:
        """Return the number of joints."""
        return len(self.offset)

    @property
    def harmonics(self) -> int:
        """Return the number of harmonics H."""
        return int(self.sine.shape[1])

    @property
    def orders(self) -> Array:
        """Angular frequencies of the harmonics, (H,), rad/s."""
        return np.arange(1.0, self.harmonics + 1) * (2 * np.pi / self.period)

    @property
    def start(self) -> Array:
        """Position of rest before the start and after the end, (n,), rad or m."""
        return np.asarray(self.offset - self.cosine @ (1 / self.orders))

    @property
    def duration(self) -> float:
        """Time from the start to the end, s."""
        return self.periods * self.period + 2 * self.ramp

    def evaluate(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """
        Position, velocity and acceleration at any times.

        Parameters
        ----------
        t : array_like
            Times of any shape, s; the motion starts at 0.

        Returns
        -------
        q, qd, qdd : ndarray
            The shape of `t` with a further axis of length n; rad, rad/s, rad/s².

        """
        time = np.asarray(t, dtype=float)[..., None]
        moving = (time > 0) & (time < self.duration)
        inside = np.clip(time, 0, self.duration)
        d, dd, ddd = self._deviation(np.mod(inside - self.ramp, self.period))
        if self.ramp > 0:
            left = self.duration - inside
            r, rd, rdd = quintic_step(np.minimum(inside, left) / self.ramp)
            rd = np.where(inside < left, rd, -rd) / self.ramp
            rdd = rdd / self.ramp**2
            d, dd, ddd = r * d, r * dd + rd * d, r * ddd + 2 * rd * dd + rdd * d
        rest = self.start
        return np.where(moving, rest + d, rest), np.where(moving, dd, 0), np.where(moving, ddd, 0)

    @property
    def stretches(self) -> list[tuple[float, float]]:
        """Begin and end of one period and of the ramps, which make up the motion, s."""
        ramps = [(0.0, self.ramp), (self.duration - self.ramp, self.duration)]
        return [(self.ramp, self.ramp + self.period), *ramps[:2 * (self.ramp > 0)]]

    def one_period(self, points: int) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration at points (points, n) of a period at full size."""
        return self.evaluate(self.ramp + np.arange(points) * (self.period / points))

    def _deviation(self, t: Array) -> tuple[Array, Array, Array]:
        """Deviation from the position of rest within a period, and its two derivatives."""
        orders = self.orders
        sine, cosine = np.sin(orders * t), np.cos(orders * t)
        position = (sine / orders) @ self.sine.T + ((1 - cosine) / orders) @ self.cosine.T
        velocity = cosine @ self.sine.T + sine @ self.cosine.T
        acceleration = (cosine * orders) @ self.cosine.T - (sine * orders) @ self.sine.T
        return position, velocity, acceleration

    def _check_numbers(self) -> None:
        if not (np.isfinite(self.ramp) and self.ramp >= 0):
            raise InputError(f'the ramp must not be a negative time, but is {self.ramp} s')
        if 0 < self.ramp < SHORTEST_RAMP:
            raise InputError(f'the ramp must be 0, or {SHORTEST_RAMP:g} s at least, but is '
                             f'{self.ramp:g} s')
        if self.periods < 1:
            raise InputError(f'a motion needs one period at least, but has {self.periods}')

    def _check_rest(self) -> None:
        amplitude = np.abs(self.sine).sum(axis=1) + np.abs(self.cosine).sum(axis=1)
        _, velocity, acceleration = self._deviation(np.zeros(1))
        highest = self.harmonics * 2 * np.pi / self.period
        jumps = {'velocity': velocity, 'acceleration': acceleration / highest}
        for quantity, jump in jumps.items():
            moving = np.flatnonzero(np.abs(jump) > REST_TOLERANCE * amplitude)
            if len(moving):
                raise InputError(
                    f'joint {moving[0] + 1} would start with a jump of {quantity}; make its '
                    'coefficients fulfil sum(a_l) = 0 and sum(l b_l) = 0, or give the motion a '
                    'ramp')


def rest_projection(harmonics: int) -> Array:
    """
    Orthonormal basis of the coefficients of motions at rest at the period's boundary.

    Parameters
    ----------
    harmonics : int
        Number of harmonics H, 2 or more.

    Returns
    -------
    (2 H, 2 H - 2) ndarray
        ``basis @ x`` are the H sine and then the H cosine coefficients of one joint, for any x.

    Raises
    ------
    InputError
        Fewer than two harmonics, which cannot be at rest and move.

    Notes
    -----
    The null space of sum(a_l) = 0 and sum(l b_l) = 0. Both rows are mapped to the first axis by a
    Householder reflection, whose other columns span the null space.

    """
    if harmonics < 2:
        raise InputError(f'a motion at rest needs 2 harmonics at least, but {harmonics} are given')
    basis = np.zeros((2 * harmonics, 2 * harmonics - 2))
    basis[:harmonics, :harmonics - 1] = _orthogonal_to(np.ones(harmonics))
    basis[harmonics:, harmonics - 1:] = _orthogonal_to(np.arange(1.0, harmonics + 1))
    return basis


def quintic_step(x: Array) -> tuple[Array, Array, Array]:
    """
    Smooth step from 0 at x = 0 to 1 at x = 1, with its first and second derivative.

    Both derivatives vanish at both ends; outside, the step stays at 0 and 1.

    Parameters
    ----------
    x : ndarray
        Any shape, dimensionless.

    Returns
    -------
    step, first, second : ndarray
        The shape of `x`.

    """
    x = np.clip(x, 0, 1)
    step = x**3 * (10 + x * (6 * x - 15))
    return step, 30 * (x * (1 - x)) ** 2, 60 * x * (1 - x) * (1 - 2 * x)


def _orthogonal_to(row: Array) -> Array:
    """Orthonormal columns that a row vector maps to zero, (H, H - 1)."""
    reflected = row / np.linalg.norm(row)
    reflected[0] += 1.0
    columns: Array = np.eye(len(row)) - np.outer(reflected, reflected) / reflected[0]
    return columns[:, 1:]
