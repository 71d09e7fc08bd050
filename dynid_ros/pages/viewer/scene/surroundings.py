# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Surroundings of an arm in a 3D scene, and the camera."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.surroundings import Surroundings
from dynid_ros.motion.feasibility.bounding_capsule import capsule_along
from dynid_ros.pages.viewer.scene.arm_body import (
    ArmBody,
    Color,
    node_name,
    quaternions,
    turn_between,
    UP,
)
from dynid_ros.pages.viewer.scene.link_visuals import POINT_ARM_LENGTH_M
from dynid_ros.pages.viewer.scene.surfaces import surface_of
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    import viser


OBSTACLE: Color = (150, 120, 90)
HULL: Color = (90, 140, 220)
#: Surface of a half-space, and its lines.
SURFACE: Color = (214, 214, 208)
EDGE_COLOUR: Color = (180, 182, 186)
#: Place of the camera, in radii of the scene.
VIEW = np.array([1.15, 1.15, 0.75])


def add_surroundings(
    server: viser.ViserServer, body: ArmBody, around: Surroundings, points: Array,
) -> dict[str, list[viser.SceneNodeHandle]]:
    """
    Put the obstacles of an arm into its scene, and look at it.

    Parameters
    ----------
    server : viser.ViserServer
        Server of the scene.
    body : ArmBody
        The arm.
    around : Surroundings
        Its obstacles; half-spaces are drawn as grids around its foot.
    points : (N, 3) ndarray
        Points in the picture, in the base frame, m.

    Returns
    -------
    dict of str to list of SceneNodeHandle
        By the name of each obstacle, and ``capsules of the links`` (hidden at first).

    """
    added: dict[str, list[viser.SceneNodeHandle]] = {}
    scene = server.scene
    size = 4 * float(np.linalg.norm(points, axis=1).max()) or POINT_ARM_LENGTH_M
    _look_at(server.initial_camera, points @ body.upright.T)
    for k, wall in enumerate(around.walls):
        added.setdefault(wall.name, []).append(scene.add_grid(
            f'{body.frame(-1)}/wall_{k}_{node_name(wall.name)}', width=size, height=size,
            cell_size=size / 20, section_size=size / 4, cell_color=EDGE_COLOUR,
            section_color=EDGE_COLOUR, plane_color=SURFACE, plane_opacity=0.6,
            wxyz=quaternions(turn_between(UP, wall.normal)),
            position=wall.normal * float(wall.normal @ wall.point)))
    for k, box in enumerate(around.boxes):
        added.setdefault(box.name, []).append(scene.add_box(
            f'{body.frame(-1)}/box_{k}_{node_name(box.name)}', color=OBSTACLE,
            dimensions=tuple(box.size), opacity=0.6, wxyz=quaternions(box.rotation),
            position=box.center))
    for k, capsule in enumerate(around.capsules):
        vertices, faces = surface_of(
            *capsule_along(capsule.start, capsule.end, capsule.radius))
        added.setdefault('capsules of the links', []).append(scene.add_mesh_simple(
            f'{body.frame(capsule.joint)}/hull_{k}', vertices, faces, color=HULL, opacity=0.3,
            cast_shadow=False, visible=False))
    return added


def _look_at(camera: viser.InitialCameraConfig, points: Array) -> None:
    """Place the camera so that points (N, 3) of the upright base frame fill the picture."""
    low, high = np.minimum(points.min(axis=0), 0.0), np.maximum(points.max(axis=0), 0.0)
    radius = max(float(np.linalg.norm(high - low)) / 2, 1e-3)
    camera.look_at = (low + high) / 2
    camera.position = (low + high) / 2 + radius * VIEW
    camera.near, camera.far = radius / 100, radius * 200
