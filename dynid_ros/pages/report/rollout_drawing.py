# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Distance of simulated arms from the recorded one, as a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.applications.rollout.rollout import FLOOR, IDENTIFIED, Rollouts, STATED
from dynid_ros.pages.report.axes import around, Curve, drawing, Panel
from dynid_ros.pages.report.templating import part

if TYPE_CHECKING:
    from markupsafe import Markup

_SIZE = (374.0, 216.0)
#: Lines of the arms that a report compares.
STYLES = {IDENTIFIED: 'predicted', STATED: 'plain', FLOOR: 'floor'}
#: Approximate number of points of a curve.
_POINTS = 50


def rollout_drawing(found: Rollouts) -> Markup:
    """
    Draw the distance of simulated arms from the recorded one over the time since a restart.

    Parameters
    ----------
    found : Rollouts
        Of a model, with or without the description as stated.

    Returns
    -------
    Markup
        SVG element.

    """
    thin = np.unique(np.linspace(0, len(found.t) - 1, _POINTS).round().astype(int))
    scale, unit = (1e3, 'mm') if found.arm.prismatic.all() else (np.rad2deg(1.0), '°')
    curves = [Curve(found.t[thin], scale * found.over_time(name)[thin], style)
              for name, style in STYLES.items() if name in found.curves]
    panel = Panel(around([np.zeros(1), *(curve.y for curve in curves)]),
                  f'distance, {unit}', curves)
    return drawing(_SIZE, around([np.zeros(1), found.t], room=0.02), 'time since the restart, s',
                   (panel,), part('rollout_label.html', found=found))
