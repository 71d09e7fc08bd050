# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The 3D scene of a track: arm, surroundings, path of the tool, closest pair, ellipsoids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.surroundings import Surroundings
from dynid_ros.motion.feasibility.scene import build_scene
from dynid_ros.pages.viewer.scene.arm_body import ArmBody, Color, link_frames
from dynid_ros.pages.viewer.scene.closest_pair import ClosestPair
from dynid_ros.pages.viewer.scene.inertia_ellipsoids import add_ellipsoids, Ellipsoid
from dynid_ros.pages.viewer.scene.link_visuals import link_visuals
from dynid_ros.pages.viewer.scene.surroundings import add_surroundings
from dynid_ros.pages.viewer.sources.track import Moment, Track

if TYPE_CHECKING:
    import viser


PATH: Color = (11, 92, 173)
#: Colours of the clearance: from the stated one up, below it.
CLEAR_COLOUR, TOO_LITTLE = (26, 150, 65), (215, 25, 28)
#: Opacity of links around their ellipsoids.
GLASS = 0.25


class TrackScene:
    """
    The scene of a track over time.

    Parameters
    ----------
    server : viser.ViserServer
        Server with an empty scene.
    track : Track
        States over time.
    around : Surroundings
        Obstacles.
    links : sequence of Ellipsoid
        Of an identified model.

    Attributes
    ----------
    track : Track
        The same, with the moment of least clearance.
    pair : ClosestPair or None
        Clearance over time, if there are bodies.
    clearance : float
        Stated clearance, m.
    links : sequence of Ellipsoid
        As given.
    notes : tuple of str
        Lines for the user.
    layers : dict of str to list of SceneNodeHandle
        Layers to switch on and off, by name (escape it).

    Raises
    ------
    ArmError
        There are obstacles but the shape of the arm is unknown.

    """

    def __init__(
        self, server: viser.ViserServer, track: Track, around: Surroundings,
        links: Sequence[Ellipsoid] = (),
    ) -> None:
        arm, scene, bodies = track.arm, server.scene, build_scene(track.arm, around)
        self.clearance, self.links, self.track, self.pair = around.clearance, links, track, None
        visuals, note = link_visuals(around, arm)
        self.notes = (note, *track.notes) if note else track.notes
        self._body = ArmBody(scene, arm, visuals, opacity=GLASS if links else None)
        turns, origins = link_frames(arm, track.q)
        path = origins[:, arm.tool_link] + turns[:, arm.tool_link] @ arm.tool.placement.translation
        self.layers: dict[str, list[viser.SceneNodeHandle]] = {
            'arm': [*self._body.surfaces],
            **add_surroundings(server, self._body, around, np.vstack([path, *origins]))}
        self.layers['path of the tool'] = [scene.add_line_segments(
            f'{self._body.frame(-1)}/path_of_the_tool', np.stack([path[:-1], path[1:]], axis=1),
            colors=PATH, thickness=2.0, thickness_units='screen')]
        if bodies is not None:
            self.pair = pair = ClosestPair(bodies, track.q)
            k = int(pair.distance.argmin())
            self.track = track.with_moments([Moment(
                float(track.t[k]), 'clearance',
                f'least clearance, {1e3 * pair.distance[k]:.0f} mm: {pair.names[k]}')])
            self.layers['closest pair'] = [scene.add_line_segments(
                f'{self._body.frame(-1)}/closest_pair', np.zeros((1, 2, 3)), colors=CLEAR_COLOUR,
                thickness=5.0, thickness_units='screen')]
        if links:
            self.layers['ellipsoids of inertia'] = add_ellipsoids(scene, self._body, links)
        self.show(0.0)

    def show(self, t: float) -> None:
        """Show the state at a time, s."""
        track, pair, k = self.track, self.pair, self.track.index(t)
        self._body.place(track.position(t))
        if track.heat is not None and not self.links:
            self._body.paint(np.nan_to_num(track.heat[k]))
        if pair is not None and np.isfinite(pair.points[k]).all():
            line, = self.layers['closest pair']
            enough = pair.distance[k] >= self.clearance
            line.points = pair.points[k:k + 1].astype(np.float32)
            line.colors = np.full(
                (1, 2, 3), CLEAR_COLOUR if enough else TOO_LITTLE, dtype=np.uint8)
