"""What stands around an arm in a 3D scene, and what its motion leaves there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.bodies import path_to
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.surroundings import Surroundings, Wall
from dynid_ros.dynamics.external_force import link_poses
from dynid_ros.motion.feasibility.bounding_capsule import capsule_along
from dynid_ros.pages.view.arm_body import ArmBody, Color, node_name, quaternion
from dynid_ros.pages.view.surfaces import surface_of
from dynid_ros.utilities.arrays import Array

if TYPE_CHECKING:
    import viser


OBSTACLE: Color = (150, 120, 90)
HULL: Color = (90, 140, 220)
PATH: Color = (11, 92, 173)
#: Surface of a half-space, and its lines.
SURFACE: Color = (214, 214, 208)
LINES: Color = (180, 182, 186)
#: Colours of the clearance: from the stated one up, below it.
ENOUGH, TOO_LITTLE = (26, 150, 65), (215, 25, 28)


def reach(arm: ArmModel) -> float:
    """Sum of all links and travels of the longest chain, m: everything lies within."""
    lengths = np.linalg.norm(arm.translation, axis=1) + arm.tree.travel(
        arm.limits.lower, arm.limits.upper)
    longest = max(float(lengths[path_to(arm, joint)].sum()) for joint in range(arm.links))
    return (longest + float(np.linalg.norm(arm.tool.placement.translation))) or 0.1


def add_surroundings(
    scene: viser.SceneApi, body: ArmBody, arm: ArmModel, around: Surroundings,
) -> dict[str, list[viser.SceneNodeHandle]]:
    """
    Put the obstacles of an arm into its scene.

    Returns
    -------
    dict of str to list of SceneNodeHandle
        By the name of each obstacle, and ``capsules of the links`` (hidden at first).

    """
    size = 2 * reach(arm)
    added: dict[str, list[viser.SceneNodeHandle]] = {}
    for k, wall in enumerate(around.walls):
        added.setdefault(wall.name, []).append(_add_wall(scene, body, k, wall, size))
    for k, box in enumerate(around.boxes):
        added.setdefault(box.name, []).append(scene.add_box(
            f'{body.base}/box_{k}_{node_name(box.name)}', color=OBSTACLE,
            dimensions=tuple(box.size), opacity=0.6, wxyz=quaternion(box.rotation),
            position=box.center))
    hulls: list[viser.SceneNodeHandle] = []
    for k, capsule in enumerate(around.capsules):
        shape, placement = capsule_along(capsule.start, capsule.end, capsule.radius)
        vertices, faces = surface_of(shape)
        hulls.append(scene.add_mesh_simple(
            f'{body.frame(capsule.joint)}/hull_{k}',
            vertices @ placement.rotation.T + placement.translation, faces, color=HULL,
            opacity=0.3, cast_shadow=False, visible=False))
    if hulls:
        added['capsules of the links'] = hulls
    return added


def _add_wall(
    scene: viser.SceneApi, body: ArmBody, number: int, wall: Wall, size: float,
) -> viser.SceneNodeHandle:
    """Add a grid for the surface of a half-space, around the foot of the arm."""
    import pinocchio

    turn = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), wall.normal)
    foot = wall.normal * float(wall.normal @ wall.point)
    return scene.add_grid(
        f'{body.base}/wall_{number}_{node_name(wall.name)}', width=size, height=size,
        cell_size=size / 20, section_size=size / 4, cell_color=LINES, section_color=LINES,
        plane_color=SURFACE, plane_opacity=0.6, wxyz=quaternion(turn.toRotationMatrix()),
        position=foot)


def tool_path(arm: ArmModel, q: Array) -> Array:
    """Positions (N, 3) of the tool in the base frame, m, at positions (N, n) of the joints."""
    poses = link_poses(arm, q)[:, arm.tool_link]
    turns = poses[:, :9].reshape(-1, 3, 3)
    return np.asarray(turns @ arm.tool.placement.translation + poses[:, 9:])


def add_path(
    scene: viser.SceneApi, body: ArmBody, points: Array,
) -> viser.SceneNodeHandle:
    """Draw a line through points (N, 3) of the base frame."""
    lines = np.stack([points[:-1], points[1:]], axis=1)
    return scene.add_line_segments(
        f'{body.base}/path_of_the_tool', lines, colors=PATH, thickness=2.0,
        thickness_units='screen')


def add_clearance(scene: viser.SceneApi, body: ArmBody) -> viser.LineSegmentsHandle:
    """Add the line between the nearest points of the closest pair; `place_clearance` moves it."""
    return scene.add_line_segments(
        f'{body.base}/closest_pair', np.zeros((1, 2, 3)), colors=ENOUGH, thickness=5.0,
        thickness_units='screen')


def place_clearance(line: viser.LineSegmentsHandle, points: Array, enough: bool) -> None:
    """Draw the line between points (2, 3) of the base frame."""
    if np.isfinite(points).all():
        line.points = points[None].astype(np.float32)
        line.colors = np.broadcast_to(
            np.array(ENOUGH if enough else TOO_LITTLE, dtype=np.uint8), (1, 2, 3))


def look_at(scene_owner: viser.ViserServer, arm: ArmModel, points: Array) -> None:
    """Place the camera so that points (N, 3) of the upright base frame fill the picture."""
    low, high = np.minimum(points.min(axis=0), 0.0), np.maximum(points.max(axis=0), 0.0)
    middle = (low + high) / 2
    radius = max(float(np.linalg.norm(high - low)) / 2, 0.3 * reach(arm), 1e-3)
    camera = scene_owner.initial_camera
    camera.look_at = middle
    camera.position = middle + radius * np.array([1.15, 1.15, 0.75])
    camera.near, camera.far = radius / 100, radius * 200
