# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Picture of an arm with the uncertainty of its tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dynid_ros.arm.bodies import find_body, path_to, TOOL
from dynid_ros.arm.model import ArmModel
from dynid_ros.dynamics.kinematics.forward import forward_kinematics, frames
from dynid_ros.dynamics.kinematics.pose_error import error_jacobian
from dynid_ros.dynamics.kinematics.pose_uncertainty import Budget, propagated_covariance
from dynid_ros.errors import InputError
from dynid_ros.pages.report.figures import drawn
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.atomic_write import write_whole

#: Positions of a picture.
DRAWN_POSITIONS = 40
PICTURE_SUFFIXES = ('.svg', '.png', '.pdf')
# Radius of the largest ellipsoid as a share of the picture, for one and for many.
_SHOWN, _SHOWN_OF_MANY = 0.12, 0.06
_MESH = 25


def arm_picture(
    arm: ArmModel, q: Array, covariances: Array, *, body: str = TOOL, drawn: int = 0,
) -> Any:
    """
    Draw an arm with the ellipsoid of one standard deviation of a body's place.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    q : (N, n) ndarray
        Positions of the arm; an ellipsoid is drawn for each.
    covariances : (N, 3, 3) ndarray
        Covariance of the place of the body, m².
    body : str
        ``tool``, or the joint that moves the link.
    drawn : int
        Which of the positions shows the arm itself.

    Returns
    -------
    matplotlib.figure.Figure
        Ellipsoids are enlarged by a round factor that the title states.

    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    every = frames(arm, q)
    places = forward_kinematics(arm, q, body).translation
    skeleton = _skeleton(arm, every.translation[drawn], body, places[drawn])
    points = np.concatenate([places, *skeleton])
    span = float(np.ptp(points, axis=0).max()) or 1.0
    spread = np.sqrt(np.trace(covariances, axis1=1, axis2=2))
    largest = float(np.sqrt(np.linalg.eigvalsh(covariances).max().clip(0)))
    factor = enlargement(span * (_SHOWN if len(q) == 1 else _SHOWN_OF_MANY), largest)
    figure = Figure(figsize=(7, 6), layout='constrained')
    axes: Any = figure.add_subplot(projection='3d')
    for line in skeleton:
        axes.plot(*line.T, color='#44515e', linewidth=4, solid_capstyle='round', marker='o',
                  markersize=6, markerfacecolor='white', zorder=3)
    # One colour by uncertainty, with a scale beside the picture if there are several.
    scale = ScalarMappable(Normalize(1e3 * spread.min(), 1e3 * spread.max()), 'viridis')
    if len(q) > 1:
        figure.colorbar(scale, ax=axes, shrink=0.6, label='standard deviation of the place, mm')
    colours = scale.to_rgba(1e3 * spread)
    for k in range(len(q)):
        surface = places[k] + factor * ellipsoid(covariances[k])
        axes.plot_surface(*np.moveaxis(surface, -1, 0), color=colours[k], alpha=0.55, linewidth=0)
    centre = (points.max(axis=0) + points.min(axis=0)) / 2
    x, y, z = np.stack([centre - 0.6 * span, centre + 0.6 * span], axis=1)
    axes.set(xlim=x, ylim=y, zlim=z, box_aspect=(1, 1, 1), xlabel='x, m', ylabel='y, m',
             zlabel='z, m', title=f'{arm.name}: one standard deviation of the {body}, '
             f'{factor:g} times enlarged')
    return figure


def pose_picture(arm: ArmModel, budget: Budget, body: str = TOOL) -> Any:
    """
    Draw an arm with the pose error of a body, at the first positions and at the worst one.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    budget : Budget
        Its pose error over some positions.
    body : str
        ``tool``, or the joint that moves the link.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    """
    chosen = np.arange(len(budget.q)) if len(budget.q) <= DRAWN_POSITIONS else np.append(
        np.arange(DRAWN_POSITIONS), budget.worst)
    jacobian = error_jacobian(arm, budget.q[chosen], body, budget.sources)
    covariances = propagated_covariance(jacobian, budget.std)[:, 3:, 3:]
    return arm_picture(
        arm, budget.q[chosen], covariances, body=body, drawn=len(chosen) - 1)


def ellipsoid(covariance: Array) -> Array:
    """Points of the ellipsoid of one standard deviation, (25, 25, 3), around the origin."""
    values, vectors = np.linalg.eigh(covariance)
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, _MESH), np.linspace(0, np.pi, _MESH))
    sphere = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1)
    return np.asarray((sphere * np.sqrt(np.clip(values, 0, None))) @ vectors.T)


def enlargement(wanted: float, radius: float) -> float:
    """Find the largest of 1, 2, 5, 10, 20 ... that scales a radius to at most a limit."""
    if not 0 < radius < wanted:
        return 1.0
    power = 10.0 ** np.floor(np.log10(wanted / radius))
    return float(power * max(step for step in (1, 2, 5) if step * power * radius <= wanted))


def save_picture(figure: Any, path: Path) -> None:
    """
    Write a figure as SVG, PNG or PDF.

    Raises
    ------
    InputError
        The ending is none of these, or the file cannot be written.

    """
    if path.suffix.lower() not in PICTURE_SUFFIXES:
        raise InputError(f'{path} must end in one of {", ".join(PICTURE_SUFFIXES)}')
    write_whole(path, drawn(figure, path.suffix[1:].lower(), 150))


def _skeleton(arm: ArmModel, frames_at: Array, body: str, place: Array) -> list[Array]:
    """Lines to draw: from the body of the base through the joints to each end."""
    joint, _ = find_body(arm, body)
    ends = [i for i in range(arm.links) if i not in arm.parent]
    lines = []
    for end in {*ends, joint}:
        nodes = [frames_at[0], frames_at[1], *(frames_at[i + 2] for i in path_to(arm, end))]
        lines.append(np.array([*nodes, place] if end == joint else nodes))
    return lines
