# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows of the tables of the report."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_to_com, parameter_units
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.estimation.model.identified_model import IdentifiedModel


def parameters(result: IdentifiedModel) -> list[tuple[str, list[dict[str, Any]]]]:
    """
    List the base parameters under the title of their joint.

    Each has its name and unit, its value and the half width of its 95 % interval, whether it is
    ``unclear`` (the interval contains zero or is unknown), the share by which the data reduce the
    variance of the prior, %, and value and standard deviation before any data.
    """
    base, units = base_parameters(result.arm), parameter_units(result.arm)
    half = INTERVAL * result.std
    columns: dict[str, Iterable[Any]] = {
        'title': map(partial(_title, result.arm), base.columns.tolist()),
        'name': base.names, 'unit': [units[column] for column in base.columns],
        'value': result.theta, 'half': half, 'unclear': ~(np.abs(result.theta) > half),
        'share': 100 * result.data_share, 'prior': result.prior.theta,
        'prior_std': np.sqrt(np.diag(result.prior.covariance))}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [(title, list(group)) for title, group in groupby(rows, itemgetter('title'))]


def _title(arm: ArmModel, column: int) -> str:
    if column >= arm.layout.first_coupling:
        return 'Coupling between joints'
    joint = arm.layout.joint(column)
    return f'{joint + 1} · {arm.tree.link_names[joint]}'


def median_ratio(result: IdentifiedModel) -> float | None:
    """Median ratio of the standard deviations for coloured and for white residuals."""
    coloured, white = result.std, result.std_white
    known = (white > 0) & np.isfinite(white) & np.isfinite(coloured)
    return float(np.median(coloured[known] / white[known])) if known.any() else None


def links(result: IdentifiedModel) -> list[dict[str, Any]]:
    """
    List the physically possible links by the joint that moves them.

    Each has its mass with its standard deviation and its value before any data, kg, the share of
    the data in it, %, its centre, m, its moments of inertia about that, kg m², and whether the
    unconstrained estimate is ``impossible``.

    Raises
    ------
    InputError
        See `IdentifiedModel.standard_parameters`.

    """
    found, rows = result.standard_parameters(), []
    impossible = found.impossible
    for joint, name in enumerate(result.arm.tree.link_names):
        columns = result.arm.layout.inertial(joint)
        mass, center, inertia = inertial_to_com(found.values[columns])
        rows.append({
            'joint': name, 'mass': mass, 'std': found.std[columns][0],
            'share': 100 * found.data_share[columns][0], 'prior': result.prior.values[columns][0],
            'center': center, 'inertia': np.diag(inertia),
            'impossible': name in impossible})
    return rows
