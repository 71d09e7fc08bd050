"""Rows of the tables of the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.parameters import inertial_to_com, parameter_units
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.model.identified_model import IdentifiedModel

Z95 = 1.96
#: Half width of the drawing of an interval, and the share of it that the interval takes.
HALF, FILLED = 100.0, 0.94


@dataclass(frozen=True)
class Parameter:
    """
    A base parameter.

    Attributes
    ----------
    name, unit : str
        As its arm calls it.
    value, std : float
        Estimate and its standard deviation.
    share : float
        Share by which the data reduce the variance of the prior, %.
    prior, prior_std : float
        Value and standard deviation before any data.

    """

    name: str
    unit: str
    value: float
    std: float
    share: float
    prior: float
    prior_std: float

    @property
    def half(self) -> float:
        """Return the half width of the 95 % interval."""
        return Z95 * self.std

    @property
    def unclear(self) -> bool:
        """Return whether the interval contains zero, or is unknown."""
        return not abs(self.value) > self.half

    @property
    def scale(self) -> float:
        """Return what scales the interval to the width of its drawing; 0 where it has none."""
        reach = abs(self.value) + self.half
        return FILLED * HALF / reach if 0 < reach < float('inf') else 0.0


@dataclass(frozen=True)
class Link:
    """
    A link as a possible body.

    Attributes
    ----------
    joint : str
        The joint that moves it.
    mass, std, share : float
        Mass and its standard deviation, kg, and the share of the data in it, %.
    prior : float
        Mass before any data, kg.
    center, inertia : (3,) ndarray
        Centre of mass, m, and moments of inertia about it, kg m².
    impossible : bool
        Whether the estimates alone were impossible.

    """

    joint: str
    mass: float
    std: float
    share: float
    prior: float
    center: NDArray[np.float64]
    inertia: NDArray[np.float64]
    impossible: bool


def parameters(result: IdentifiedModel) -> list[tuple[str, list[Parameter]]]:
    """List the base parameters under the title of their joint."""
    base, units = base_parameters(result.arm), parameter_units(result.arm)
    figures = zip(base.names, (units[column] for column in base.columns), result.theta.tolist(),
                  result.std.tolist(), (100 * result.data_share).tolist(),
                  result.prior.theta.tolist(), np.sqrt(np.diag(result.prior.covariance)).tolist(),
                  strict=True)
    titled = zip(_titles(result), (Parameter(*row) for row in figures), strict=True)
    return [(title, [each for _, each in group])
            for title, group in groupby(titled, key=lambda pair: pair[0])]


def _titles(result: IdentifiedModel) -> Iterator[str]:
    layout = result.arm.layout
    for column in base_parameters(result.arm).columns.tolist():
        joint = column // layout.block
        yield (f'{joint + 1} · {result.arm.joint_names[joint]}' if joint < layout.joints
               else 'Coupling between joints')


def median_ratio(result: IdentifiedModel) -> float | None:
    """Median ratio of the standard deviations for coloured and for white residuals."""
    coloured, white = result.std, result.std_white
    known = (white > 0) & np.isfinite(white) & np.isfinite(coloured)
    return float(np.median(coloured[known] / white[known])) if known.any() else None


def links(result: IdentifiedModel) -> list[Link]:
    """
    List the physically possible links.

    Raises
    ------
    InputError
        The result was written by version 0.1.

    """
    found, rows = result.standard_parameters(), []
    for joint, name in enumerate(result.arm.joint_names):
        columns = result.arm.layout.inertial(joint)
        mass, center, inertia = inertial_to_com(found.values[columns])
        rows.append(Link(
            name, mass, float(found.std[columns][0]), 100 * float(found.data_share[columns][0]),
            float(result.prior.values[columns][0]), center, np.diag(inertia),
            name in found.impossible))
    return rows
