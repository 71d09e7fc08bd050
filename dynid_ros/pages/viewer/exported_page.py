# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A track as one HTML file: the animation of viser, and beside it charts of our own."""

from __future__ import annotations

from itertools import cycle, pairwise
from typing import TYPE_CHECKING

from dynid_ros.pages.report.templating import render
from dynid_ros.pages.viewer.charts import COLORS, torque_charts, track_charts
from dynid_ros.pages.viewer.file_page import MARKS
from dynid_ros.pages.viewer.scene.track_scene import TrackScene

if TYPE_CHECKING:
    import viser


def exported_page(server: viser.ViserServer, scene: TrackScene) -> bytes:
    """
    Make a self-contained page of a track.

    Parameters
    ----------
    server : viser.ViserServer
        Its server.
    scene : TrackScene
        Its scene; it is left at the end of the track.

    Returns
    -------
    bytes
        HTML that needs no network.

    """
    track = scene.track
    scene.show(0.0)
    serializer = server.get_scene_serializer()
    for before, now in pairwise(track.t):
        serializer.insert_sleep(float(now - before))
        scene.show(float(now))
    return render(
        'view.html', scene=scene, track=track, animation=serializer.as_html(), marks=MARKS,
        joints=zip(track.arm.joint_names, cycle(COLORS), strict=False),
        charts=track_charts(track, scene.pair, scene.clearance),
        compared=torque_charts(track))
