"""A track as one HTML file: the animation of viser, and beside it charts of our own."""

from __future__ import annotations

from itertools import cycle, pairwise
from typing import Any, TYPE_CHECKING

import numpy as np

from dynid_ros.pages.report.templating import render
from dynid_ros.pages.view.charts import (
    Chart,
    COLORS,
    POINTS,
    polylines,
    thinned,
    torque_charts,
    track_charts,
)
from dynid_ros.pages.view.player import MARKS
from dynid_ros.pages.view.stage import Stage
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    import viser


#: Size of a chart in its own units, and of those that are drawn of its height for labels.
WIDE, HIGH = 600.0, 120.0


def exported_page(server: viser.ViserServer, stage: Stage) -> bytes:
    """
    Make a self-contained page of a stage.

    Parameters
    ----------
    server : viser.ViserServer
        Its server.
    stage : Stage
        The stage; it is left at the end of the track.

    Returns
    -------
    bytes
        HTML that needs no network.

    """
    content, t = stage.content, stage.content.track.t
    stage.show(0.0)
    serializer = server.get_scene_serializer()
    for before, now in pairwise(t):
        serializer.insert_sleep(float(now - before))
        stage.show(float(now))
    track, compared = content.track, torque_charts(content.track)
    return render(
        'view.html', content=content, track=track, animation=serializer.as_html(), marks=MARKS,
        size=(WIDE, HIGH),
        links=content.links,
        joints=zip(cycle(COLORS), track.arm.joint_names, strict=False),
        charts=[_drawing(chart, t)
                for chart in track_charts(track, content.pair, content.around.clearance)],
        torques=[(color, name) for chart in compared[:1] for name, _, color in chart.curves],
        compared=[_drawing(chart, t) for chart in compared])


def _drawing(chart: Chart, t: Array) -> dict[str, Any]:
    """Lines of a chart in its own units."""
    def height(values: Array) -> Array:
        return np.asarray(HIGH * (chart.high - values) / (chart.high - chart.low))

    kept = thinned(len(t), POINTS)
    x = WIDE * t[kept] / t[-1]
    return {'chart': chart, 'limits': height(np.array(chart.limits)), 'curves': [
        (name, polylines(x, height(values[kept])), color) for name, values, color in chart.curves]}
