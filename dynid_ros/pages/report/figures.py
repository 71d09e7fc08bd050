# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Figures of results: torque over time, friction over speed, parameters side by side."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
import io
from typing import Any, TYPE_CHECKING

from matplotlib.figure import Figure
import numpy as np

from dynid_ros.applications.rollout.rollout import FLOOR
from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.errors import InputError
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.estimation.model.friction_curve import friction_curves
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.pages.report.curves import (
    end_to_end,
    MEASURED,
    PREDICTED_COLOUR,
    RESIDUAL_COLOUR,
    thinned,
)
from dynid_ros.utilities.arrays import Array, runs_of

if TYPE_CHECKING:
    from dynid_ros.applications.contact.over_recording import MonitoredRecording
    from dynid_ros.applications.rollout.rollout import Rollouts

#: Width of a figure, and heights of the panel of a joint and of the line of a parameter, inches.
FIGURE_WIDTH_INCHES, JOINT_PANEL, LINE = 9.0, 1.4, 0.2
#: Parameters in a column, and the share of a line by which two models differ.
LINES_PER_COLUMN, LINE_OFFSET = 30, 0.36
#: A panel of contacts holds the largest torque, and this multiple of the usual threshold.
HEADROOM, DRAWN_THRESHOLDS = 1.1, 1.5
#: Dots per inch in a notebook.
DPI = 80


class Picture(Figure):
    """A Matplotlib figure; ``savefig`` writes it to a file, and pyplot does not keep it open."""

    def _repr_html_(self) -> str:
        """Show the figure in a notebook."""
        content = b64encode(drawn(self, 'png', DPI)).decode()
        return f'<img alt="figure" src="data:image/png;base64,{content}">'


def drawn(figure: Figure, suffix: str, dots_per_inch: int = 100) -> bytes:
    """Return a figure as the content of a file, ``png``, ``svg`` or ``pdf``."""
    buffer = io.BytesIO()
    key = 'Software' if suffix == 'png' else 'Creator'
    figure.savefig(buffer, format=suffix, dpi=dots_per_inch, metadata={key: 'by dynid_ros'})
    return buffer.getvalue()


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
    figure, axes = _joint_panels(arm.n, sharex=True)
    _draw_torque(axes[:, 0], arm, parts)
    return figure


def friction_figure(model: IdentifiedModel) -> Picture:
    """Draw the friction of each joint over its speed, with its 95 % band."""
    figure, axes = _joint_panels(model.arm.n)
    _draw_friction(axes[:, 0], model)
    return figure


def model_figure(model: IdentifiedModel) -> Picture:
    """Draw torque over time, held out where any is, and beside it friction over speed."""
    held_out = [part for part in model.predictions if part.held_out]
    figure, axes = _joint_panels(model.arm.n, 2, gridspec_kw={'width_ratios': (3, 1)})
    _draw_torque(axes[:, 0], model.arm, held_out or model.predictions)
    _draw_friction(axes[:, 1], model)
    return figure


def recording_figure(recording: Recording) -> Picture:
    """Draw positions and drive signals as recorded, a panel a joint."""
    figure, axes = _joint_panels(len(recording.joint_names), 2, sharex=True)
    for column, (title, values) in enumerate((('position, rad or m', recording.q),
                                              (recording.signal, recording.u))):
        axes[0, column].set_title(title, fontsize=8)
        axes[-1, column].set_xlabel('time, s', fontsize=8)
        for axis, name, own in zip(axes[:, column], recording.joint_names, values.T, strict=True):
            axis.plot(*thinned(recording.t, own), linewidth=0.8, color=PREDICTED_COLOUR)
            for begin, end in recording.validation:
                axis.axvspan(begin, end, color=MEASURED, alpha=0.2, linewidth=0)
            _finish(axis, '' if column else name)
    return figure


def contact_figure(arm: ArmModel, found: MonitoredRecording) -> Picture:
    """
    Draw external torque, its band without contact, and the contacts.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    found : MonitoredRecording
        Torque over time with its threshold; infinite ones are left out.

    """
    figure, axes = _joint_panels(arm.n, sharex=True)
    panels, t, tiny = axes[:, 0], found.t, float(np.finfo(float).tiny)
    threshold = np.where(np.isfinite(found.threshold), found.threshold, np.nan)
    for axis, name, unit, torque, limit, contact in zip(
            panels, arm.joint_names, torque_units(arm), found.torque.T, threshold.T,
            found.contact.T, strict=True):
        times, band = thinned(t, limit)
        axis.fill_between(times, -band, band, alpha=0.2, linewidth=0, label='no contact')
        axis.plot(*thinned(t, torque), linewidth=0.9, label='external torque')
        for start, stop in runs_of(contact):
            axis.axvspan(t[start], t[stop - 1], color='tab:red', alpha=0.25, linewidth=0)
        usual = np.nanmedian(limit) if np.isfinite(limit).any() else 0.0
        reach = max(DRAWN_THRESHOLDS * usual, HEADROOM * float(np.abs(torque).max()), tiny)
        axis.set_ylim(-reach, reach)
        _finish(axis, f'{name}, {unit}')
    panels[0].legend(loc='upper right', fontsize=7, ncols=2)
    panels[-1].set_xlabel('time, s', fontsize=8)
    return figure


def rollout_figure(found: Rollouts) -> Picture:
    """
    Draw the distance of simulated arms from the recorded one, over the time since a restart.

    Parameters
    ----------
    found : Rollouts
        Of a model and its peers.

    """
    figure, axes = _joint_panels(found.arm.n, sharex=True)
    palette = PREDICTED_COLOUR, RESIDUAL_COLOUR, '#009e73', '#cc79a7', MEASURED
    colours = dict(zip(found.curves, palette, strict=False))
    units = ['mm' if sliding else '°' for sliding in found.arm.prismatic]
    for j, (axis, name, unit) in enumerate(zip(
            axes[:, 0], found.arm.joint_names, units, strict=True)):
        for label, curve in found.curves.items():
            shown = 1000 * curve[:, j] if unit == 'mm' else np.rad2deg(curve[:, j])
            floor = label == FLOOR
            axis.plot(found.t, shown, label=label, linewidth=1.2,
                      color=MEASURED if floor else colours.get(label),
                      linestyle='--' if floor else '-')
        axis.set_yscale('log')
        _finish(axis, f'{name}, {unit}')
    axes[0, 0].set_title(
        f'{found.source}: distance from the recorded position, rms of {found.counts[-1]} restarts',
        fontsize=8)
    axes[0, 0].legend(loc='lower right', fontsize=7, ncols=3)
    axes[-1, 0].set_xlabel('time since the restart, s', fontsize=8)
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
        Differing ones, set in bold.

    """
    columns = -(-len(names) // LINES_PER_COLUMN)
    lines = -(-len(names) // columns)
    figure = Picture(figsize=(max(4.0 * columns, 5.0), 1.0 + LINE * lines), layout='constrained')
    axes = figure.subplots(1, columns, squeeze=False).ravel()
    scale = np.nanmax(np.abs(values) + half, axis=0)
    scale[~(scale > 0)] = 1.0
    for axis, own in zip(axes, np.array_split(np.arange(len(names)), columns), strict=True):
        colours = PREDICTED_COLOUR, RESIDUAL_COLOUR
        for k, (label, colour) in enumerate(zip(labels, colours, strict=False)):
            places = np.arange(len(own)) + LINE_OFFSET * (k - 0.5)
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
    # Matplotlib 3.6 has no 'outside upper center'.
    axes[0].legend(loc='lower left', bbox_to_anchor=(0.0, 1.0), fontsize=7)
    return figure


def draw_band(axis: Any, x: Array, y: Array, half: Array, color: str) -> None:
    """Draw a curve in its band."""
    axis.fill_between(x, y - half, y + half, color=color, alpha=0.25, linewidth=0)
    axis.plot(x, y, color=color, linewidth=1.2)


def _joint_panels(joints: int, columns: int = 1, **layout: Any) -> tuple[Picture, Any]:
    """Make a figure with panels for each joint, and its axes (n, columns)."""
    size = FIGURE_WIDTH_INCHES, 0.6 + JOINT_PANEL * joints
    figure = Picture(figsize=size, layout='constrained')
    return figure, figure.subplots(joints, columns, squeeze=False, **layout)


def _draw_torque(axes: Any, arm: ArmModel, parts: Sequence[Prediction]) -> None:
    if not parts:
        raise InputError('there is no torque over time to draw: the result was read without the '
                         'prediction.npz beside it')
    t, tau, tau_hat = end_to_end(parts)
    for axis, name, unit, measured, predicted in zip(
            axes, arm.joint_names, torque_units(arm), tau.T, tau_hat.T, strict=True):
        for values, colour, width, label in (
                (measured, MEASURED, 2.4, 'measured'),
                (predicted, PREDICTED_COLOUR, 1.0, 'predicted'),
                (measured - predicted, RESIDUAL_COLOUR, 1.0, 'residual')):
            axis.plot(*thinned(t, values), color=colour, linewidth=width, label=label)
        _finish(axis, f'{name}, {unit}')
    axes[0].set_title('; '.join(dict.fromkeys(part.source for part in parts)), fontsize=8)
    axes[0].legend(loc='upper right', fontsize=7, ncols=3)
    axes[-1].set_xlabel('time, s', fontsize=8)


def _draw_friction(axes: Any, model: IdentifiedModel) -> None:
    units = torque_units(model.arm), joint_units('rad/s', model.arm.prismatic)
    for axis, unit, speed, curve in zip(axes, *units, friction_curves(model), strict=True):
        draw_band(axis, curve.speed, curve.torque, INTERVAL * curve.std, PREDICTED_COLOUR)
        _finish(axis, f'friction, {unit}')
        axis.set_xlabel(f'speed, {speed}', fontsize=7)


def _finish(axis: Any, label: str) -> None:
    axis.set_ylabel(label, fontsize=7)
    axis.tick_params(labelsize=7)
    axis.grid(alpha=0.3)
