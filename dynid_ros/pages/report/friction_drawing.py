"""Friction over speed, as a drawing for each joint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.parameters import torque_units
from dynid_ros.estimation.model.friction_curve import friction_curves, INTERVAL
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.pages.report.drawings import drawing, HEADROOM, inline_svg, new_axes, PREDICTED
from dynid_ros.pages.report.figures import draw_band
from dynid_ros.pages.report.templating import part

if TYPE_CHECKING:
    from markupsafe import Markup


def friction_drawings(result: IdentifiedModel) -> list[tuple[str, Markup]]:
    """
    Draw the friction torque of each joint over its speed, with its 95 % band.

    Parameters
    ----------
    result : IdentifiedModel
        The identified model.

    Returns
    -------
    list of (str, Markup)
        Name of the joint and SVG element; none for an arm without friction.

    """
    arm, drawn = result.arm, []
    if not set(arm.friction) - {'offset'}:
        return []
    speed = ['m/s' if sliding else 'rad/s' for sliding in arm.prismatic]
    with drawing():
        for j, (joint, unit, curve) in enumerate(zip(
                arm.joint_names, torque_units(arm), friction_curves(result), strict=True)):
            half = INTERVAL * curve.std
            if not np.isfinite(curve.torque + half).all():
                continue
            axes = new_axes()
            draw_band(axes, curve.speed, curve.torque, half, PREDICTED)
            axes.set(xlim=(0.0, curve.speed[-1]), ylabel=f'friction, {unit}', ylim=(
                min(0.0, HEADROOM * float(np.min(curve.torque - half))),
                HEADROOM * max(float(np.max(curve.torque + half)), 1e-9)))
            axes.set_xlabel(f'speed, {speed[j]}', labelpad=1)
            drawn.append((joint, inline_svg(axes, f'friction{j + 1}', part(
                'friction_label.html', joint=joint, curve=curve, half=half, unit=unit,
                speed=speed[j]))))
    return drawn
