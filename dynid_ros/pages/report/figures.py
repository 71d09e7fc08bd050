"""Figures of results: torque over time, friction over speed, parameters side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import InputError
from dynid_ros.estimation.model.friction_curve import friction_curves, INTERVAL
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.torque_prediction import Prediction
from dynid_ros.pages.report.curves import end_to_end, thinned
from dynid_ros.pages.report.picture import Picture
from dynid_ros.utilities.arrays import Array

#: Measured, predicted, and their difference, apart for the colour-blind (Okabe and Ito).
MEASURED, PREDICTED, RESIDUAL = '#8a949f', '#0b76b8', '#d55e00'
#: Width of a figure, and heights of the panel of a joint and of the line of a parameter, inches.
WIDTH, JOINT_PANEL, LINE = 9.0, 1.4, 0.2
#: Parameters in a column, and the share of a line by which two models are apart.
LINES, APART = 30, 0.36


def torque_figure(arm: ArmModel, parts: Sequence[Prediction]) -> Picture:
    """
    Draw measured and predicted torque over time, and their difference, a panel a joint.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    parts : sequence of Prediction
        Torque over time, laid end to end.

    Raises
    ------
    InputError
        There are none, as in a result without ``prediction.npz``.

    """
    figure = _joint_panels(arm)
    _draw_torque(figure.subplots(arm.n, 1, squeeze=False, sharex=True).ravel(), arm, parts)
    return figure


def friction_figure(model: IdentifiedModel) -> Picture:
    """Draw the friction of each joint over its speed, with its 95 % band."""
    figure = _joint_panels(model.arm)
    _draw_friction(figure.subplots(model.arm.n, 1, squeeze=False).ravel(), model)
    return figure


def model_figure(model: IdentifiedModel) -> Picture:
    """Draw torque over time, held out where any is, and beside it friction over speed."""
    arm = model.arm
    held_out = [part for part in model.predictions if part.held_out]
    figure = _joint_panels(arm)
    axes = figure.subplots(
        arm.n, 2, squeeze=False, sharex='col' if arm.n == 1 else False,
        gridspec_kw={'width_ratios': (3, 1)})
    _draw_torque(axes[:, 0], arm, held_out or model.predictions)
    _draw_friction(axes[:, 1], model)
    return figure


def recording_figure(recording: Recording) -> Picture:
    """Draw positions and drive signals as recorded, a panel a joint."""
    n = len(recording.joint_names)
    figure = Picture(figsize=(WIDTH, 0.6 + JOINT_PANEL * n), layout='constrained')
    axes = figure.subplots(n, 2, squeeze=False, sharex=True)
    for column, (title, values) in enumerate((('position, rad or m', recording.q),
                                              (recording.signal, recording.u))):
        axes[0, column].set_title(title, fontsize=8)
        for joint, name in enumerate(recording.joint_names):
            axis = axes[joint, column]
            axis.plot(*thinned(recording.t, values[:, joint]), linewidth=0.8, color=PREDICTED)
            for begin, end in recording.validation:
                axis.axvspan(begin, end, color=MEASURED, alpha=0.2, linewidth=0)
            _finish(axis, '' if column else name)
    for axis in axes[-1]:
        axis.set_xlabel('time, s', fontsize=8)
    return figure


def parameters_figure(
    names: Sequence[str], units: Sequence[str], labels: Sequence[str], values: Array, half: Array,
    differ: Sequence[bool],
) -> Picture:
    """
    Draw parameters of several models side by side with their intervals, each by its own scale.

    Parameters
    ----------
    names, units : sequence of str
        Of the b parameters.
    labels : sequence of str
        Names of the m models.
    values, half : (m, b) ndarray
        Values, and half widths of their intervals; NaN where a model has no such parameter.
    differ : (b,) sequence of bool
        Which are set in bold, as those that differ.

    """
    columns = -(-len(names) // LINES)
    lines = -(-len(names) // columns)
    figure = Picture(figsize=(max(4.0 * columns, 5.0), 1.0 + LINE * lines), layout='constrained')
    axes = figure.subplots(1, columns, squeeze=False).ravel()
    scale = np.nanmax(np.abs(values) + half, axis=0)
    scale[~(scale > 0)] = 1.0
    for column, axis in enumerate(axes):
        chosen = range(column * lines, min((column + 1) * lines, len(names)))
        own = list(chosen)
        for k, (label, colour) in enumerate(zip(labels, (PREDICTED, RESIDUAL), strict=False)):
            places = np.arange(len(own)) + APART * (k - 0.5)
            axis.errorbar(
                values[k, own] / scale[own], places, xerr=half[k, own] / scale[own], fmt='o',
                markersize=3, elinewidth=1.2, color=colour, label=label)
        axis.set_yticks(range(len(own)), [f'{names[j]}, {units[j]}' for j in own], fontsize=7)
        for text, j in zip(axis.get_yticklabels(), own, strict=True):
            text.set_fontweight('bold' if differ[j] else 'normal')
        axis.set(xlim=(-1.05, 1.05), ylim=(len(own) - 0.4, -0.6))
        axis.axvline(0.0, color=MEASURED, linewidth=0.7)
        axis.set_xlabel('value by the largest end of its intervals', fontsize=7)
        axis.tick_params(axis='x', labelsize=7)
    figure.legend(*axes[0].get_legend_handles_labels(), loc='outside upper center', fontsize=7)
    return figure


def _joint_panels(arm: ArmModel) -> Picture:
    return Picture(figsize=(WIDTH, 0.6 + JOINT_PANEL * arm.n), layout='constrained')


def _draw_torque(axes: Any, arm: ArmModel, parts: Sequence[Prediction]) -> None:
    if not parts:
        raise InputError('there is no torque over time to draw: the result was read without the '
                         'prediction.npz beside it')
    t, tau, tau_hat = end_to_end(parts)
    for j, (axis, name, unit) in enumerate(
            zip(axes, arm.joint_names, torque_units(arm), strict=True)):
        for values, colour, label in (
                (tau, MEASURED, 'measured'), (tau_hat, PREDICTED, 'predicted'),
                (tau - tau_hat, RESIDUAL, 'residual')):
            axis.plot(*thinned(t, values[:, j]), color=colour, linewidth=0.9, label=label)
        _finish(axis, f'{name}, {unit}')
    axes[0].set_title('; '.join(dict.fromkeys(part.source for part in parts)), fontsize=8)
    axes[0].legend(loc='upper right', fontsize=7, ncols=3)
    axes[-1].set_xlabel('time, s', fontsize=8)


def _draw_friction(axes: Any, model: IdentifiedModel) -> None:
    arm = model.arm
    for axis, unit, sliding, curve in zip(
            axes, torque_units(arm), arm.prismatic, friction_curves(model), strict=True):
        half = INTERVAL * curve.std
        axis.fill_between(curve.speed, curve.torque - half, curve.torque + half,
                          color=PREDICTED, alpha=0.25, linewidth=0)
        axis.plot(curve.speed, curve.torque, color=PREDICTED, linewidth=1.2)
        _finish(axis, f'friction, {unit}')
        axis.set_xlabel(f'speed, {"m/s" if sliding else "rad/s"}', fontsize=7)


def _finish(axis: Any, label: str) -> None:
    axis.set_ylabel(label, fontsize=7)
    axis.tick_params(labelsize=7)
    axis.grid(alpha=0.3)
