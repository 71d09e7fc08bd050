"""A track as one HTML file: the animation of viser, and beside it charts of our own."""

from __future__ import annotations

from itertools import cycle, pairwise
from typing import TYPE_CHECKING

from dynid_ros.pages.report.templating import render
from dynid_ros.pages.view.charts import COLORS, torque_charts, track_charts
from dynid_ros.pages.view.player import MARKS
from dynid_ros.pages.view.stage import Stage

if TYPE_CHECKING:
    import viser


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
    track, compared = stage.track, torque_charts(stage.track)
    stage.show(0.0)
    serializer = server.get_scene_serializer()
    for before, now in pairwise(track.t):
        serializer.insert_sleep(float(now - before))
        stage.show(float(now))
    return render(
        'view.html', stage=stage, track=track, animation=serializer.as_html(), marks=MARKS,
        joints=zip(track.arm.joint_names, cycle(COLORS), strict=False),
        charts=track_charts(track, stage.pair, stage.around.clearance), compared=compared)
