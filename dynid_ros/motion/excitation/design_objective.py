"""Task and objective of a design, and the stages of its descent."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

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

#: Sharpness of the smoothed condition number, factor of the barriers, and steps of each stage.
STAGES = ((2.0, 1e-2, 60), (4.0, 3e-3, 40), (8.0, 1e-3, 60), (20.0, 3e-4, 80))


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
    chosen : tuple of str
        Base parameters whose summed variance is minimised instead.
    sought : Sought or None
        Other unknowns of which the same holds.
    weights : (n,) ndarray or None
        Inverse noise variance of each joint; None gives all rows the same weight.
    prior : (b, b) ndarray or None
        Prior information, per sample of the motion to design.

    """

    criterion: str = 'condition'
    scale_columns: bool = False
    chosen: tuple[str, ...] = ()
    weights: Array | None = field(default=None)
    prior: Array | None = field(default=None)
    sought: Sought | None = None

    @property
    def name(self) -> str:
        """Return what is minimised."""
        names = self.chosen if self.sought is None else (self.sought.name,)
        return 'for ' + ', '.join(names) if names else self.criterion

    def stages(self, arm: ArmModel) -> list[tuple[Criterion, float, int]]:
        """Criterion, factor of the barriers and steps of each stage of a descent."""
        return [(self._smooth(arm, sharpness), wall, steps) for sharpness, wall, steps in STAGES]

    def score(self, arm: ArmModel, G: Array) -> float:
        """
        Score an information matrix (b, b); less is better.

        The score is the condition number; for ``volume`` the geometric mean of the standard
        deviations; for chosen parameters or others sought the root of their summed variances.
        """
        certain = bool(self.chosen) or self.sought is not None
        if certain or self.criterion == 'volume':
            value = self._smooth(arm, 1.0)(G)[0]
            return float(np.exp(value if certain else value / 2))
        if self.scale_columns:
            length = np.sqrt(np.diag(G))
            G = G / np.outer(length, length)
        return condition_of(G)

    def _smooth(self, arm: ArmModel, sharpness: float) -> Criterion:
        criterion: Criterion = smooth_condition(sharpness)
        if self.sought is not None:
            return sought_variance(self.sought)
        if self.chosen:
            every = np.eye(base_parameters(arm).count)
            return sought_variance(Sought(
                '', every, np.zeros_like(every), every[:, indices(arm, self.chosen)]))
        if self.criterion == 'volume':
            return log_volume
        return scaled(criterion) if self.scale_columns else criterion


def indices(arm: ArmModel, chosen: tuple[str, ...]) -> NDArray[np.intp]:
    """
    Find the indices of base parameters.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    chosen : tuple of str
        Names of standard parameters, such as ``Izz6``.

    Raises
    ------
    InputError
        A name is unknown or not a base parameter.

    """
    base = base_parameters(arm)
    places = []
    for name in chosen:
        if name in base.names:
            places.append(base.names.index(name))
            continue
        every = base.layout.names
        if name not in every:
            raise InputError(
                f"'{arm.name}' has no parameter '{name}'{near(name, base.names)}")
        groups = [base.groups[k] for k in np.flatnonzero(base.grouping[:, every.index(name)])]
        within = f'; it is part of {groups[0]}' if groups else '; it is unidentifiable'
        raise InputError(f"'{name}' of '{arm.name}' is not a base parameter{within}")
    return np.array(places, dtype=np.intp)


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
    starts: int = 3
    seconds: float = 20.0
    seed: int = 0
