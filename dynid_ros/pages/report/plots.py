# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Plots of a motion against its limits, and of estimates over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.kinematics.forward import forward_kinematics
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.pages.report.curves import PREDICTED_COLOUR
from dynid_ros.pages.report.figures import draw_band, drawn, Picture
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.atomic_write import write_together

if TYPE_CHECKING:
    from dynid_ros.estimation.online.replay import History

#: Points of a drawing.
PLOT_POINTS = 1000
PANEL = (2.6, 1.9)
MATRIX_COLUMNS = 6
# The last estimate, and this multiple of its band, fill the panel.
ZOOM = 4.0
SMALLEST_PANEL = 0.2


def draw_motion(folder: Path, motion: FourierMotion, arm: ArmModel, suffix: str = 'png') -> None:
    """
    Draw position, velocity, acceleration and torque with their limits, and the tool's path.

    Parameters
    ----------
    folder : Path
        Gets ``joints`` and ``path``; made where it is missing.
    motion : FourierMotion
        The motion.
    arm : ArmModel
        The arm; torque is drawn where its nominal inertias are known.
    suffix : str
        ``png``, ``svg`` or ``pdf``.

    Raises
    ------
    ResultError
        The folder cannot be written.

    """
    write_together({
        folder / f'{name}.{suffix}': drawn(figure, suffix, 80) for name, figure in (
            ('joints', motion_figure(motion, arm)), ('path', path_figure(motion, arm)))})


def motion_figure(motion: FourierMotion, arm: ArmModel) -> Picture:
    """Draw position, velocity, acceleration and torque over one period, with their limits."""
    allowed, limits, t = planning_limits(arm), arm.motion_limits, _times(motion)
    q, qd, qdd = motion.evaluate(t)
    rows = [
        ('q', 'rad', q, allowed.lower, allowed.upper),
        ('qd', 'rad/s', qd, -allowed.velocity, allowed.velocity),
        ('qdd', 'rad/s²', qdd, -allowed.acceleration, allowed.acceleration)]
    if arm.inertial is not None:
        known = arm.memoryless
        torque = regressor(known, q, qd, qdd) @ nominal_parameters(known)
        rows.append(('torque', 'Nm', torque, -limits.effort, limits.effort))
    figure = Picture(figsize=(9, 1.5 * arm.n), layout='constrained')
    axes = figure.subplots(arm.n, len(rows), sharex=True, squeeze=False)
    for column, (title, unit, values, lower, upper) in enumerate(rows):
        axes[0, column].set_title(title)
        axes[-1, column].set_xlabel('t, s')
        for joint, own in enumerate(joint_units(unit, arm.prismatic)):
            axis = axes[joint, column]
            axis.set_ylabel(own if column else f'{arm.joint_names[joint]}, {own}', fontsize=6)
            axis.plot(t, values[:, joint], linewidth=1)
            for limit in (lower[joint], upper[joint]):
                if np.isfinite(limit):
                    axis.axhline(limit, color='tab:red', linewidth=0.7, linestyle='--')
            axis.tick_params(labelsize=6)
    return figure


def path_figure(motion: FourierMotion, arm: ArmModel) -> Picture:
    """Draw the path of the tool, m, in the base frame."""
    figure = Picture(figsize=(5, 5), layout='constrained')
    points = forward_kinematics(arm, motion.evaluate(_times(motion))[0]).translation
    axis: Any = figure.add_subplot(projection='3d')
    axis.plot(*points.T, linewidth=1)
    axis.scatter(*points[0], color='tab:red', label='rest')
    axis.set(xlabel='x, m', ylabel='y, m', zlabel='z, m', aspect='equal')
    axis.legend()
    return figure


def _times(motion: FourierMotion) -> Array:
    return np.linspace(0, motion.ramp + motion.period, PLOT_POINTS)


def evolution_figure(history: History, units: Sequence[str]) -> Picture:
    """
    Draw the history of every estimate with its 95 % band.

    Parameters
    ----------
    history : History
        Estimates over time; bands that are not finite are left out.
    units : sequence of str
        Of the b parameters.

    """
    t, theta, b = history.t, history.theta, len(history.names)
    columns = min(MATRIX_COLUMNS, int(np.ceil(np.sqrt(b))))
    rows = -(-b // columns)
    width, height = columns * PANEL[0], rows * PANEL[1]
    figure = Picture(figsize=(width, height))
    # Automatic layout and shared axes would take most of the time of a replay.
    panels = figure.subplots(rows, columns, squeeze=False, gridspec_kw={
        'left': 0.6 / width, 'right': 1 - 0.1 / width, 'bottom': 0.45 / height,
        'top': 1 - 0.3 / height, 'wspace': 0.3, 'hspace': 0.27}).ravel()
    band = INTERVAL * np.where(np.isfinite(history.std), history.std, np.nan)
    for k, axes in enumerate(panels[:b]):
        draw_band(axes, t, theta[:, k], band[:, k], PREDICTED_COLOUR)
        last = theta[-1, k]
        reach = np.nanmax([ZOOM * band[-1, k], SMALLEST_PANEL * abs(last), np.finfo(float).tiny])
        axes.set(xlim=(t[0], t[-1] if t[-1] > t[0] else t[0] + 1),
                 ylim=(last - reach, last + reach))
        # Automatic places and more ticks would take half of the time.
        axes.set_title(f'{history.names[k]}, {units[k]}', fontsize=9, y=1.0)
        axes.locator_params(nbins=4)
        axes.tick_params(labelsize=7, labelbottom=k + columns >= b)
        axes.grid(alpha=0.3)
    for axes in panels[b:]:
        axes.set_axis_off()
    for axes in panels[max(0, b - columns):b]:
        axes.set_xlabel('time, s', fontsize=8)
    return figure
