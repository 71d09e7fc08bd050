# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Two models side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import InputError
from dynid_ros.interface.python.boundary import as_model, data_frame, Model, quantile
from dynid_ros.interface.python.results import IdentifiedModel
from dynid_ros.utilities.summarised import html_table, Summarised

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


class Comparison(Summarised):
    """
    Base parameters of two models side by side.

    Parameters
    ----------
    one, two : IdentifiedModel
        The models, of the same joints and geometry.
    level : float
        Of the intervals, between 0 and 1.

    Attributes
    ----------
    models : (IdentifiedModel, IdentifiedModel)
        The models.
    names, units : tuple of str
        Parameters of the first model, then those of the other model alone.
    values, half : (2, b) ndarray
        Values of both, and half widths of their intervals, SI units; NaN where a model has no
        such parameter.
    differ : (b,) ndarray of bool
        Where the interval of the difference of two independent estimates excludes zero.
    level : float
        Of the intervals.

    """

    def __init__(self, one: IdentifiedModel, two: IdentifiedModel, level: float) -> None:
        z = quantile(level)
        if one.arm.joint_names != two.arm.joint_names:
            raise InputError(
                f'other must be of the joints {", ".join(one.arm.joint_names)}, but is '
                f'of {", ".join(two.arm.joint_names)}')
        first, second = (
            dict(zip(each.names, zip(each.units, base_parameters(each.arm).groups, each.theta,
                                     each.std, strict=True), strict=True)) for each in (one, two))
        for name in first.keys() & second.keys():
            if first[name][1] != second[name][1]:
                raise InputError(
                    f'other must have the geometry of model, but its {name} stands for '
                    f'{second[name][1]} instead of {first[name][1]}')
        # In the order of the first.
        every, absent = first | second | first, ('', '', np.nan, np.nan)
        self.values, std = (
            np.array([[own.get(name, absent)[k] for name in every] for own in (first, second)])
            for k in (2, 3))
        self.models, self.level, self.half = (one, two), level, z * std
        self.names, self.units = tuple(every), tuple(unit for unit, *_ in every.values())
        self.differ = np.abs(self.values[0] - self.values[1]) > z * np.sqrt(
            (std**2).sum(axis=0))

    def to_dataframe(self) -> DataFrame:
        """Return the table as a pandas one, a row for each parameter."""
        return data_frame({
            'value': self.values[0], 'half': self.half[0], 'other': self.values[1],
            'other_half': self.half[1], 'differ': self.differ, 'unit': self.units}, self.names)

    def plot(self) -> Figure:
        """Draw both with their intervals, each parameter by its own scale."""
        from dynid_ros.pages.report.figures import parameters_figure

        return parameters_figure(
            self.names, self.units, self._labels, self.values, self.half, self.differ.tolist())

    @property
    def _labels(self) -> list[str]:
        return [f'{label}, of {", ".join(Path(source).name for source in each.sources)}'
                for label, each in zip(('model', 'other'), self.models, strict=True)]

    def facts(self) -> list[tuple[str, str]]:
        """Return how many parameters differ, and errors of both, for a console."""
        apart = [name for name, differs in zip(self.names, self.differ, strict=True) if differs]
        return [
            ('Comparison', f'of two models of {self.models[0].arm.name}'),
            *((label, 'torque error '
                      f'{(each.validation or each.fit).relative_error_percent:.2f} %')
              for label, each in zip(self._labels, self.models, strict=True)),
            (f'differ beyond {100 * self.level:g} % intervals',
             f'{len(apart)} of {len(self.names)}: {", ".join(apart) or "none"}')]

    def _repr_html_(self) -> str:
        (kind, name), *facts = self.facts()
        rows = [
            (label, unit, *(f'{value:.4g} ± {half:.2g}' for value, half in zip(
                values, halves, strict=True)), 'yes' if differs else '')
            for label, unit, values, halves, differs in zip(
                self.names, self.units, self.values.T, self.half.T, self.differ, strict=True)]
        return html_table(
            f'{kind} {name}', rows, ('parameter', 'unit', 'model', 'other', 'differ'),
            [f'{label}: {fact}' for label, fact in facts])


def compare(model: Model, other: Model, *, level: float = 0.95) -> Comparison:
    """
    Compare two models of one arm.

    Parameters
    ----------
    model, other : str, Path or IdentifiedModel
        The models, or the folders of their results.
    level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    Comparison
        Parameters side by side with intervals; ``plot()`` draws them.

    Raises
    ------
    InputError
        The models are of other joints, or their base parameters stand for other sums.

    """
    one, two = (IdentifiedModel.of(as_model(each, name))
                for each, name in ((model, 'model'), (other, 'other')))
    return Comparison(one, two, level)
