"""The 3D scene of a track: arm, surroundings, path of the tool, closest pair, ellipsoids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.surroundings import Surroundings
from dynid_ros.dynamics.external_force import link_poses
from dynid_ros.motion.feasibility.scene import build_scene
from dynid_ros.pages.view.arm_body import ArmBody, upright
from dynid_ros.pages.view.closest_pair import closest_pair, ClosestPair, with_clearance
from dynid_ros.pages.view.inertia_ellipsoids import add_ellipsoids, Ellipsoid
from dynid_ros.pages.view.link_visuals import LinkVisuals
from dynid_ros.pages.view.scenery import (
    add_clearance,
    add_path,
    add_surroundings,
    look_at,
    place_clearance,
    tool_path,
)
from dynid_ros.pages.view.track import Track

if TYPE_CHECKING:
    import viser


#: Opacity of links around their ellipsoids.
GLASS = 0.25


@dataclass(frozen=True, eq=False)
class Content:
    """
    What a page shows.

    Attributes
    ----------
    track : Track
        States over time, the moment of least clearance among its moments.
    around : Surroundings
        Obstacles.
    visuals : LinkVisuals
        Surfaces of the links.
    pair : ClosestPair or None
        Clearance over time, where there is anything to keep apart.
    links : tuple of Ellipsoid
        Of an identified model.

    """

    track: Track
    around: Surroundings
    visuals: LinkVisuals
    pair: ClosestPair | None = None
    links: tuple[Ellipsoid, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines for the user."""
        return tuple(filter(None, (self.visuals.note, *self.track.notes)))


def content_of(
    track: Track, around: Surroundings, visuals: LinkVisuals, links: Sequence[Ellipsoid] = (),
) -> Content:
    """
    Find the clearance over time, and put it all together.

    Raises
    ------
    ArmError
        There are obstacles but the shape of the arm is unknown.

    """
    scene = build_scene(track.arm, around)
    if scene is None:
        return Content(track, around, visuals, None, tuple(links))
    pair = closest_pair(scene, track.q)
    return Content(with_clearance(track, pair), around, visuals, pair, tuple(links))


class Stage:
    """
    The scene of a page, at one time after the other.

    Parameters
    ----------
    server : viser.ViserServer
        Server with an empty scene.
    content : Content
        What to show.

    Attributes
    ----------
    layers : dict of str to list of SceneNodeHandle
        What can be switched on and off, by its name: escape it.

    """

    def __init__(self, server: viser.ViserServer, content: Content) -> None:
        self.content, track, scene = content, content.track, server.scene
        self._body = ArmBody(scene, track.arm, opacity=GLASS if content.links else 1.0,
                             visuals=content.visuals)
        self.layers: dict[str, list[viser.SceneNodeHandle]] = {
            'arm': list(self._body.surfaces),
            **add_surroundings(scene, self._body, track.arm, content.around)}
        points = tool_path(track.arm, track.q)
        self.layers['path of the tool'] = [add_path(scene, self._body, points)]
        if content.pair is not None:
            self.layers['closest pair'] = [add_clearance(scene, self._body)]
        if content.links:
            self.layers['ellipsoids of inertia'] = add_ellipsoids(
                scene, self._body, content.links)
        origins = link_poses(track.arm, track.q)[:, :, 9:].reshape(-1, 3)
        look_at(server, track.arm, np.concatenate([points, origins]) @ upright(track.arm).T)
        self.show(0.0)

    def show(self, t: float) -> None:
        """Show the state at a time, s."""
        track, pair = self.content.track, self.content.pair
        self._body.place(track.position(t))
        k = track.index(t)
        if track.heat is not None and not self.content.links:
            self._body.paint(np.nan_to_num(track.heat[k]))
        if pair is not None:
            place_clearance(self.layers['closest pair'][0], pair.points[k],
                            bool(pair.distance[k] >= self.content.around.clearance))
