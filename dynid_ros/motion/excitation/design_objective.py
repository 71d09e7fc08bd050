# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Task and objective of a design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dynid_ros.arm.description.schema import near
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import InputError
from dynid_ros.motion.excitation.information_criteria import (
    condition_of,
    Criterion,
    log_volume,
    scaled,
    smooth_condition,
    Sought,
    sought_variance,
)
from dynid_ros.utilities.arrays import Array

#: Criteria of a design that seeks no single parameters.
CRITERIA = ('condition', 'volume')


@dataclass(frozen=True, eq=False)
class DesignObjective:
    """
    Objective of a design.

    Attributes
    ----------
    criterion : str
        ``condition`` for the condition number of the base regressor, ``volume`` for the volume
        of the confidence ellipsoid (D-optimality).
    scale_columns : bool
        Whether columns are scaled to unit length first.
    sought : Sought or None
        Unknowns whose summed variance is minimised instead.
    weights : (n,) ndarray or None
        Inverse noise variance of each joint; None gives all rows the same weight.
    prior : (b, b) ndarray or None
        Prior information, per sample of the motion to design.

    """

    criterion: str = 'condition'
    scale_columns: bool = False
    sought: Sought | None = None
    weights: Array | None = None
    prior: Array | None = None

    @property
    def name(self) -> str:
        """Return the name of the criterion, which is minimised."""
        return self.criterion if self.sought is None else f'for {self.sought.name}'

    def smoothed(self, sharpness: float) -> Criterion:
        """Criterion of a descent, smooth where the condition number is sought."""
        if self.sought is not None:
            return sought_variance(self.sought)
        if self.criterion == 'volume':
            return log_volume
        criterion = smooth_condition(sharpness)
        return scaled(criterion) if self.scale_columns else criterion

    def score(self, G: Array) -> float:
        """
        Score an information matrix (b, b); less is better.

        The score is the condition number; for ``volume`` the geometric mean of the standard
        deviations; for unknowns that are sought the root of their summed variances.
        """
        if self.sought is not None or self.criterion == 'volume':
            value = self.smoothed(1.0)(G)[0]
            return float(np.exp(value if self.sought is not None else value / 2))
        if self.scale_columns:
            length = np.sqrt(np.diag(G))
            G = G / np.outer(length, length)
        return condition_of(G)


def parameters_sought(arm: ArmModel, names: Sequence[str]) -> Sought:
    """
    Seek base parameters.

    Parameters
    ----------
    arm : ArmModel
        The arm with the columns that will be identified.
    names : sequence of str
        Names of standard parameters, such as ``Izz6``.

    Raises
    ------
    InputError
        A name is unknown or not a base parameter.

    """
    base = base_parameters(arm.memoryless)
    for name in names:
        if name in base.names:
            continue
        standard = base.layout.names
        if name not in standard:
            raise InputError(
                f"'{arm.name}' has no parameter '{name}'{near(name, base.names)}")
        groups = [base.groups[k] for k in np.flatnonzero(base.grouping[:, standard.index(name)])]
        within = f'; it is part of {groups[0]}' if groups else '; it is unidentifiable'
        raise InputError(f"'{name}' of '{arm.name}' is not a base parameter{within}")
    every = np.eye(base.count)
    return Sought(
        ', '.join(names), every, np.zeros_like(every),
        every[:, [base.names.index(name) for name in names]])


@dataclass(frozen=True)
class Task:
    """
    Requested motion, and the time for its design.

    Attributes
    ----------
    period : float
        Period of the fundamental, s.
    harmonics : int
        Number of harmonics.
    periods : int
        Periods at full amplitude.
    ramp : float
        Time in which the amplitude grows and shrinks, s.
    objective : DesignObjective
        Objective of the design.
    starts : int
        Random motions from which the design starts; the best result counts.
    seconds : float
        Time after which the search ends, verification included; the arm, its bodies and its base
        parameters are prepared before. A search that ends earlier gives the same motion for the
        same seed.
    seed : int
        Of the random motions.

    """

    period: float = 10.0
    harmonics: int = 8
    periods: int = 3
    ramp: float = 0.0
    objective: DesignObjective = field(default_factory=DesignObjective)
    starts: int = 4
    seconds: float = 120.0
    seed: int = 0
