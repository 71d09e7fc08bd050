"""The 3D scene of a track: arm, surroundings, path of the tool, closest pair, ellipsoids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.surroundings import Surroundings
from dynid_ros.dynamics.external_force import link_poses
from dynid_ros.motion.feasibility.scene import build_scene
from dynid_ros.pages.view.arm_body import ArmBody, Color, upright
from dynid_ros.pages.view.closest_pair import ClosestPair, with_clearance
from dynid_ros.pages.view.inertia_ellipsoids import add_ellipsoids, Ellipsoid
from dynid_ros.pages.view.link_visuals import LinkVisuals, SMALL
from dynid_ros.pages.view.scenery import add_surroundings, look_at
from dynid_ros.pages.view.track import Track

if TYPE_CHECKING:
    import viser


PATH: Color = (11, 92, 173)
#: Colours of the clearance: from the stated one up, below it.
ENOUGH, TOO_LITTLE = (26, 150, 65), (215, 25, 28)
#: Opacity of links around their ellipsoids.
GLASS = 0.25


class Stage:
    """
    The scene of a page, at one time after the other.

    Parameters
    ----------
    server : viser.ViserServer
        Server with an empty scene.
    track : Track
        States over time.
    around : Surroundings
        Obstacles.
    visuals : LinkVisuals
        Surfaces of the links.
    links : tuple of Ellipsoid
        Of an identified model.

    Attributes
    ----------
    track : Track
        The same, with the moment of least clearance.
    pair : ClosestPair or None
        Clearance over time, where anything needs clearance.
    notes : tuple of str
        Lines for the user.
    layers : dict of str to list of SceneNodeHandle
        What can be switched on and off, by its name: escape it.

    Raises
    ------
    ArmError
        There are obstacles but the shape of the arm is unknown.

    """

    def __init__(
        self, server: viser.ViserServer, track: Track, around: Surroundings,
        visuals: LinkVisuals, links: tuple[Ellipsoid, ...] = (),
    ) -> None:
        arm, scene, bodies = track.arm, server.scene, build_scene(track.arm, around)
        self.around, self.links = around, links
        self.pair = None if bodies is None else ClosestPair(bodies, track.q)
        self.track = track if self.pair is None else with_clearance(track, self.pair)
        self.notes = tuple(filter(None, (visuals.note, *track.notes)))
        self._body = ArmBody(scene, arm, opacity=GLASS if links else 1.0, visuals=visuals)
        poses = link_poses(arm, track.q)
        turns, origins = poses[..., :9].reshape(*poses.shape[:2], 3, 3), poses[..., 9:]
        path = origins[:, arm.tool_link] + turns[:, arm.tool_link] @ arm.tool.placement.translation
        points = np.concatenate([path, origins.reshape(-1, 3)])
        base, size = self._body.base, 4 * float(np.linalg.norm(points, axis=1).max())
        self.layers: dict[str, list[viser.SceneNodeHandle]] = {
            'arm': list(self._body.surfaces),
            **add_surroundings(scene, self._body, around, size or SMALL)}
        self.layers['path of the tool'] = [scene.add_line_segments(
            f'{base}/path_of_the_tool', np.stack([path[:-1], path[1:]], axis=1), colors=PATH,
            thickness=2.0, thickness_units='screen')]
        if self.pair is not None:
            self.layers['closest pair'] = [scene.add_line_segments(
                f'{base}/closest_pair', np.zeros((1, 2, 3)), colors=ENOUGH, thickness=5.0,
                thickness_units='screen')]
        if links:
            self.layers['ellipsoids of inertia'] = add_ellipsoids(scene, self._body, links)
        look_at(server, points @ upright(arm).T)
        self.show(0.0)

    def show(self, t: float) -> None:
        """Show the state at a time, s."""
        track, pair = self.track, self.pair
        self._body.place(track.position(t))
        k = track.index(t)
        if track.heat is not None and not self.links:
            self._body.paint(np.nan_to_num(track.heat[k]))
        if pair is not None and np.isfinite(pair.points[k]).all():
            line, = self.layers['closest pair']
            enough = pair.distance[k] >= self.around.clearance
            line.points = pair.points[k:k + 1].astype(np.float32)
            line.colors = np.full((1, 2, 3), ENOUGH if enough else TOO_LITTLE, dtype=np.uint8)
