"""Plots as files: a motion against its limits, estimates and external torque over time."""

from __future__ import annotations

from collections.abc import Sequence
import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.kinematics.forward import forward_kinematics
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.model.friction_curve import INTERVAL
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.pages.report.curves import thinned
from dynid_ros.pages.report.picture import Picture
from dynid_ros.utilities.arrays import Array, runs_of
from dynid_ros.utilities.atomic_write import write_together

#: Points of a drawing.
POINTS = 1000
PANEL = (2.6, 1.9)
COLUMNS = 6
# The last estimate, and so many times its band, fill the panel.
ZOOM = 4.0
SMALLEST = 0.2
#: Width of the picture of external torque, and height of the panel of a joint, inches.
WIDTH, JOINT_PANEL = 9.0, 1.4
#: The largest torque, and so many times the usual threshold, fit into a panel.
HEADROOM, THRESHOLDS = 1.1, 1.5


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
    figure = Picture(figsize=(9, 1.5 * arm.n), layout='constrained')
    _draw_joints(figure, _times(motion), motion, arm)
    return figure


def path_figure(motion: FourierMotion, arm: ArmModel) -> Picture:
    """Draw the path of the tool, m, in the base frame."""
    figure = Picture(figsize=(5, 5), layout='constrained')
    _draw_path(figure, forward_kinematics(arm, motion.evaluate(_times(motion))[0]).translation)
    return figure


def _times(motion: FourierMotion) -> Array:
    return np.linspace(0, motion.ramp + motion.period, POINTS)


def drawn(figure: Any, suffix: str, dots_per_inch: int = 100) -> bytes:
    """Return a figure as the content of a file, ``png``, ``svg`` or ``pdf``."""
    buffer = io.BytesIO()
    key = 'Software' if suffix == 'png' else 'Creator'
    figure.savefig(buffer, format=suffix, dpi=dots_per_inch, metadata={key: 'by dynid_ros'})
    return buffer.getvalue()


def _draw_joints(figure: Any, t: Array, motion: FourierMotion, arm: ArmModel) -> None:
    allowed, limits = planning_limits(arm), arm.motion_limits
    q, qd, qdd = motion.evaluate(t)
    rows = [
        ('q', 'rad', q, allowed.lower, allowed.upper),
        ('qd', 'rad/s', qd, -allowed.velocity, allowed.velocity),
        ('qdd', 'rad/s²', qdd, -allowed.acceleration, allowed.acceleration)]
    if arm.inertial is not None:
        known = arm.memoryless
        torque = regressor(known, q, qd, qdd) @ nominal_parameters(known)
        rows.append(('torque', 'Nm', torque, -limits.effort, limits.effort))
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


def _draw_path(figure: Any, points: Array) -> None:
    axis = figure.add_subplot(projection='3d')
    axis.plot(*points.T, linewidth=1)
    axis.scatter(*points[0], color='tab:red', label='rest')
    axis.set(xlabel='x, m', ylabel='y, m', zlabel='z, m', aspect='equal')
    axis.legend()


def evolution_figure(
    names: Sequence[str], units: Sequence[str], t: Array, theta: Array, std: Array,
) -> Picture:
    """
    Draw the history of every estimate with its 95 % band.

    Parameters
    ----------
    names, units : sequence of str
        Of the b parameters.
    t : (K,) ndarray
        Time, s.
    theta, std : (K, b) ndarray
        Estimates and standard deviations; bands that are not finite are left out.

    """
    b = len(names)
    columns = min(COLUMNS, int(np.ceil(np.sqrt(b))))
    rows = -(-b // columns)
    width, height = columns * PANEL[0], rows * PANEL[1]
    figure = Picture(figsize=(width, height))
    # A layout that is searched for, and axes that share, take most of the time of a replay.
    panels = figure.subplots(rows, columns, squeeze=False, gridspec_kw={
        'left': 0.6 / width, 'right': 1 - 0.1 / width, 'bottom': 0.45 / height,
        'top': 1 - 0.3 / height, 'wspace': 0.3, 'hspace': 0.27}).ravel()
    band = INTERVAL * np.where(np.isfinite(std), std, np.nan)
    for k, axes in enumerate(panels[:b]):
        axes.fill_between(
            t, theta[:, k] - band[:, k], theta[:, k] + band[:, k], alpha=0.25, linewidth=0)
        axes.plot(t, theta[:, k], linewidth=1.2)
        last = theta[-1, k]
        reach = np.nanmax([ZOOM * band[-1, k], SMALLEST * abs(last), np.finfo(float).tiny])
        axes.set(xlim=(t[0], t[-1] if t[-1] > t[0] else t[0] + 1),
                 ylim=(last - reach, last + reach))
        # Places that are searched for, and more ticks, would take half of the time.
        axes.set_title(f'{names[k]}, {units[k]}', fontsize=9, y=1.0)
        axes.locator_params(nbins=4)
        axes.tick_params(labelsize=7, labelbottom=k + columns >= b)
        axes.grid(alpha=0.3)
    for axes in panels[b:]:
        axes.set_axis_off()
    for axes in panels[max(0, b - columns):b]:
        axes.set_xlabel('time, s', fontsize=8)
    return figure


def contact_figure(
    names: Sequence[str], units: Sequence[str], t: Array, torque: Array, threshold: Array,
    contact: NDArray[np.bool_],
) -> Picture:
    """
    Draw external torque, the band within which it is hardly a contact, and the contacts.

    Parameters
    ----------
    names, units : sequence of str
        Of the n joints and their torques.
    t : (M,) ndarray
        Time, s.
    torque, threshold : (M, n) ndarray
        External torque and its threshold, Nm; infinite thresholds are left out.
    contact : (M, n) ndarray of bool
        Joints that felt a contact.

    """
    n = len(names)
    figure = Picture(figsize=(WIDTH, 0.6 + JOINT_PANEL * n), layout='constrained')
    panels = figure.subplots(n, 1, squeeze=False, sharex=True).ravel()
    threshold = np.where(np.isfinite(threshold), threshold, np.nan)
    for j, axes in enumerate(panels):
        band = thinned(t, threshold[:, j])
        axes.fill_between(
            band[0], -band[1], band[1], alpha=0.2, linewidth=0, label='no contact')
        axes.plot(*thinned(t, torque[:, j]), linewidth=0.9, label='external torque')
        for start, stop in runs_of(contact[:, j]):
            axes.axvspan(t[start], t[stop - 1], color='tab:red', alpha=0.25, linewidth=0)
        usual = np.nanmedian(threshold[:, j]) if np.isfinite(threshold[:, j]).any() else 0.0
        reach = max(THRESHOLDS * usual, HEADROOM * float(np.abs(torque[:, j]).max()),
                    np.finfo(float).tiny)
        axes.set_ylim(-reach, reach)
        axes.set_ylabel(f'{names[j]}, {units[j]}', fontsize=7)
        axes.tick_params(labelsize=7)
        axes.grid(alpha=0.3)
    panels[0].legend(loc='upper right', fontsize=7, ncols=2)
    panels[-1].set_xlabel('time, s', fontsize=8)
    return figure
