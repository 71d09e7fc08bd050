# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Uncertainty of a pose: covariance of its error, and its sources over the workspace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.bodies import TOOL
from dynid_ros.arm.description.tree import Tolerances
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.kinematics.error_sources import (
    error_sources,
    ErrorSource,
    standard_deviations,
)
from dynid_ros.dynamics.kinematics.forward import forward_kinematics
from dynid_ros.dynamics.kinematics.pose_error import error_jacobian
from dynid_ros.utilities.arrays import Array


def propagated_covariance(jacobian: Array, std: ArrayLike) -> Array:
    """
    Covariance of a pose error to first order, ``J diag(std²) Jᵀ``.

    Parameters
    ----------
    jacobian : (6, S) or (N, 6, S) ndarray
        See `error_jacobian`.
    std : (S,) array_like
        Standard deviations of independent sources; or their covariance, (S, S).

    Returns
    -------
    (6, 6) or (N, 6, 6) ndarray
        rad², rad m and m².

    """
    spread = np.asarray(std, dtype=float)
    if spread.ndim == 1:
        spread = np.diag(spread**2)
    return np.asarray(jacobian @ spread @ np.swapaxes(jacobian, -1, -2))


@dataclass(frozen=True, eq=False)
class Budget:
    """
    Variance of a pose by source, at N positions of the arm.

    Attributes
    ----------
    sources : tuple of ErrorSource
        The S sources.
    std : (S,) ndarray
        Their standard deviations, rad or m.
    q : (N, n) ndarray
        Positions of the arm.
    place : (N, 3) ndarray
        Position of the body in the world, m.
    turning, shift : (N, S) ndarray
        Contribution of each source to the variance of the rotation (rad²) and of the position
        (m²), summed over the three axes.

    """

    sources: tuple[ErrorSource, ...]
    std: Array
    q: Array
    place: Array
    turning: Array
    shift: Array

    @property
    def rotation_std(self) -> Array:
        """Return the standard deviation of the rotation, (N,), rad: root of summed variances."""
        return np.asarray(np.sqrt(self.turning.sum(axis=1)))

    @property
    def position_std(self) -> Array:
        """Return the standard deviation of the place, (N,), m: root of summed variances."""
        return np.asarray(np.sqrt(self.shift.sum(axis=1)))

    @property
    def worst(self) -> int:
        """Index of the arm position with the largest `position_std`."""
        return int(self.position_std.argmax())

    def by_group(self) -> dict[str, tuple[float, float]]:
        """
        Rotation (rad) and shift (m) of each group of sources, root mean square over positions.

        Groups without a contribution are left out; the largest shift comes first.
        """
        groups = dict.fromkeys(source.group for source in self.sources)
        result = {}
        for group in groups:
            members = [k for k, source in enumerate(self.sources) if source.group == group]
            turn, shift = (float(np.sqrt(x[:, members].sum(axis=1).mean()))
                           for x in (self.turning, self.shift))
            if turn or shift:
                result[group] = (turn, shift)
        return dict(sorted(result.items(), key=lambda item: -item[1][1]))

    def largest(self, count: int) -> list[tuple[ErrorSource, float]]:
        """Return the sources with the largest variance of the position, and their shares."""
        mean = self.shift.mean(axis=0)
        total = float(mean.sum()) or 1.0
        return [(self.sources[k], float(mean[k]) / total)
                for k in np.argsort(-mean, kind='stable')[:count] if mean[k] > 0]


def error_budget(
    arm: ArmModel, q: ArrayLike, tolerances: Tolerances, body: str = TOOL,
) -> Budget:
    """
    Split the variance of a pose over its sources.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (n,) or (N, n) array_like
        Positions of the arm, rad or m.
    tolerances : Tolerances
        Standard deviations of the sources.
    body : str
        ``tool``, or the joint that moves the link.

    Returns
    -------
    Budget
        To first order, for independent sources.

    Raises
    ------
    InputError
        A shape is wrong or there is no such body.

    """
    positions = np.atleast_2d(np.asarray(q, dtype=float))
    sources = error_sources(arm, body)
    std = standard_deviations(sources, tolerances)
    squares = (error_jacobian(arm, positions, body, sources) * std) ** 2
    place = forward_kinematics(arm, positions, body).translation
    return Budget(
        sources, std, positions, place, squares[:, :3].sum(axis=1), squares[:, 3:].sum(axis=1))


def workspace_states(arm: ArmModel, count: int, seed: int = 0) -> Array:
    """Positions (count, n) spread evenly over the limits, or over a turn (1 m) where unknown."""
    from scipy.stats import qmc

    reach = np.where(arm.prismatic, 0.5, np.pi)
    lower, upper = (np.where(np.isfinite(bound), bound, side * reach)
                    for bound, side in ((arm.limits.lower, -1), (arm.limits.upper, 1)))
    # SciPy 1.15 named it rng, and takes both.
    unit = qmc.Halton(arm.n, seed=np.random.default_rng(seed)).random(count)
    return np.asarray(lower + unit * (upper - lower))
