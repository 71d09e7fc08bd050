# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""An estimated load, and its known mass, centre, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dynid_ros.arm.parameters import INERTIAL
from dynid_ros.dynamics.load_columns import LOAD_STD
from dynid_ros.errors import InputError
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.estimate.possible_parameters import FROM_DATA
from dynid_ros.utilities.arrays import Array, inverse_of


@dataclass(frozen=True, eq=False)
class KnownLoad:
    """
    Mass and centre of a load, as weighed and measured; they count as exact.

    Attributes
    ----------
    mass : float or None
        kg.
    center : (3,) ndarray or None
        In the frame of the load's parameters, m.

    """

    mass: float | None = None
    center: Array | None = None

    def __post_init__(self) -> None:
        """Refuse an impossible mass."""
        if self.mass is not None and not 0 < self.mass < np.inf:
            raise InputError(f'the known mass of a load must be above zero, not {self.mass:g} kg')

    @property
    def free(self) -> bool:
        """Whether nothing is known."""
        return self.mass is None and self.center is None

    @property
    def start(self) -> Array:
        """Return parameters (10,) that agree with the known values; see `open_directions`."""
        start = np.zeros(len(INERTIAL))
        if self.mass is not None:
            start[0] = self.mass
            if self.center is not None:
                start[1:4] = self.mass * self.center
        return start

    @property
    def open_directions(self) -> Array:
        """
        Return the directions in which parameters are open, (10, k).

        A load is ``start + open_directions @ x``: with a known mass the first moments and the
        inertia are open, with a known centre the mass, which the first moments follow.
        """
        every = np.eye(len(INERTIAL))
        if self.center is None:
            return every if self.mass is None else every[:, 1:]
        along = np.array([1.0, *self.center, *np.zeros(6)])[:, None]
        return np.hstack([along, every[:, 4:]] if self.mass is None else [every[:, 4:]])

    @property
    def asked(self) -> int:
        """Count the wanted directions, which come first: the mass, else the centre or inertia."""
        return 1 if self.mass is None else 3 if self.center is None else 6


@dataclass(frozen=True, eq=False)
class LoadEstimate:
    """
    A load by least squares with its prior, possible or not.

    Attributes
    ----------
    load : (10,) ndarray
        Inertial parameters.
    factor : (10, 10) ndarray
        Triangle A of the rows projected to the load, and of its prior: parameters p that agree
        with the known values add ``‖A (p - load)‖²`` to the weighted squares.
    scatter : (k, k) ndarray
        Covariance of ``Nᵀ Aᵀ A (load - truth)``, with N the open directions.
    known : KnownLoad
        What is known of the load.

    """

    load: Array
    factor: Array
    scatter: Array
    known: KnownLoad = field(default_factory=KnownLoad)

    @property
    def covariance(self) -> Array:
        """Return the covariance of the load, (10, 10)."""
        N = self.known.open_directions
        half = inverse_of(np.asarray(np.linalg.qr(self.factor @ N, mode='r')))
        return np.asarray(N @ half @ (half.T @ self.scatter @ half) @ half.T @ N.T)

    @property
    def std(self) -> Array:
        """Return the standard deviations of the load, (10,); zero for what is known."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def tells_mass(self) -> bool:
        """Whether the rows determine the mass rather than the prior."""
        return bool(1 - (self.std[0] / LOAD_STD)**2 >= FROM_DATA)


class Part(NamedTuple):
    """Rows of one recording, compressed, and whether the arm carries the load in it."""

    rows: QRFactors
    loaded: bool = True


@dataclass(frozen=True, eq=False)
class LoadFit(LoadEstimate):
    """
    A load, and the arm in each of K recordings.

    Attributes
    ----------
    thetas : (K, b) ndarray
        Base parameters of the arm in each recording, with its load there, and with the friction
        and zeros of that recording.
    sigma : (n,) ndarray
        Standard deviation of the residual of each joint, Nm.
    score : (K, b, 10) ndarray
        Change of `thetas` with the load, model errors refitted.

    """

    thetas: Array = field(kw_only=True)
    sigma: Array = field(kw_only=True)
    score: Array = field(kw_only=True)

    def thetas_with(self, load: Array) -> Array:
        """Return the base parameters (K, b) with another load, model errors refitted."""
        return np.asarray(self.thetas + self.score @ (load - self.load))


def residual_squares(parts: Sequence[Part], thetas: Array) -> Array:
    """Sum of squared residuals of each joint, (n,), with the parameters of each recording."""
    return np.asarray(np.sum([part.rows.residual_squares(theta) for part, theta in zip(
        parts, thetas, strict=True)], axis=0))
