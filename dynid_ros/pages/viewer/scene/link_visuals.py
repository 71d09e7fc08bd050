# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Visual shapes of the links of an arm: meshes of its URDF, or capsules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.surroundings import Surroundings
from dynid_ros.errors import ArmError
from dynid_ros.motion.feasibility.bounding_capsule import capsule_along
from dynid_ros.motion.feasibility.link_shapes import Body, capsule_body, read_geometry, urdf_bodies
from dynid_ros.pages.viewer.scene.surfaces import surface_of
from dynid_ros.utilities.arrays import Array

#: Radius of a capsule between two joints, as share of the sum of all links, and its bounds as
#: share of its own length.
CAPSULE_RADIUS, SLENDEREST, THICKEST = 0.025, 0.02, 0.25
#: Distance from which two joints are separate, as share of the same sum.
APART_SHARE = 1e-3
#: Length of an arm whose joints all lie in one point, m.
POINT_ARM_LENGTH_M = 0.1


class Visual:
    """
    A surface that moves with a link.

    Parameters
    ----------
    joint : int
        Joint that moves it, -1 for none.
    shape : coal.CollisionGeometry
        The shape.
    placement : pinocchio.SE3
        Its pose in the frame of the link.
    rgba : (4,) ndarray, optional
        Its colour, where one is stated.

    Attributes
    ----------
    vertices : (V, 3) ndarray
        Corners in the frame of the link, m.
    faces : (F, 3) ndarray of int64
        Corners of each triangle.
    color : list of int or None
        Red, green and blue up to 255; None where nothing states them.

    """

    def __init__(
        self, joint: int, shape: Any, placement: Any, rgba: Array | None = None,
    ) -> None:
        self.joint = joint
        self.vertices, self.faces = surface_of(shape, placement)
        self.color: Any = None if rgba is None else (
            255 * np.clip(rgba[:3], 0, 1)).astype(int).tolist()


def link_visuals(around: Surroundings, arm: ArmModel) -> tuple[list[Visual], str]:
    """
    Find the visual shapes of the links of an arm.

    These are the first available of: visual shapes of the URDF; capsules of arm.yaml; collision
    shapes of the URDF; capsules between the joints, which also replace missing meshes.

    Parameters
    ----------
    around : Surroundings
        Of the arm; empty ones where its files are not known.
    arm : ArmModel
        The arm.

    Returns
    -------
    visuals : list of Visual
        All surfaces.
    note : str
        One line on mesh files that were not found or are not readable; empty where none is.

    Raises
    ------
    ArmError
        The description of the arm is unusable.

    """
    drawn: list[Visual] = []
    missing: tuple[str, ...] = ()
    if around.urdf is not None:
        drawn, missing = _drawn(arm, around.urdf, around.locked)
    bare = set(range(-1, arm.links)) - {visual.joint for visual in drawn}
    if missing:
        names = ', '.join(sorted({PurePosixPath(uri).name or uri for uri in missing}))
        return [*drawn, *joint_capsules(arm, sorted(bare))], (
            f'meshes not found or not readable: {names}; capsules between the joints replace '
            'them')
    bodies: Iterable[Body] = map(capsule_body, around.capsules)
    if bare - {-1} and not around.capsules and around.urdf is not None:
        bodies, _ = urdf_bodies(arm, around.urdf, around.locked)
    found = [Visual(body.joint, body.shape, body.placement)
             for body in bodies if body.joint in bare]
    return [*drawn, *found] or joint_capsules(arm), ''


def joint_capsules(arm: ArmModel, joints: Sequence[int] | None = None) -> list[Visual]:
    """
    Capsules from the frame of each link to the joints that it carries, and to the tool.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    joints : sequence of int, optional
        Joints whose links are drawn, -1 for the base; all by default.

    """
    ends: dict[int, list[Array]] = {i: [] for i in range(-1, arm.links)}
    for i, parent in enumerate(arm.parent.tolist()):
        ends[parent].append(arm.translation[i])
    ends[arm.tool_link].append(arm.tool.placement.translation)
    total = float(sum(np.linalg.norm(end) for some in ends.values() for end in some))
    total = total or POINT_ARM_LENGTH_M
    drawn = []
    for joint in ends if joints is None else joints:
        lines = [end for end in ends[joint] if np.linalg.norm(end) > APART_SHARE * total]
        # A joint without a length shows as a ball.
        for end in lines or ([np.zeros(3)] if joint >= 0 else []):
            length = float(np.linalg.norm(end))
            radius = CAPSULE_RADIUS * total if not length else float(np.clip(
                CAPSULE_RADIUS * total, SLENDEREST * length, THICKEST * length))
            drawn.append(Visual(joint, *capsule_along(np.zeros(3), end, radius)))
    return drawn


def _drawn(
    arm: ArmModel, urdf: Path, locked: dict[str, float],
) -> tuple[list[Visual], tuple[str, ...]]:
    """Visual shapes of a URDF; none if they are invalid, as dynamics needs none."""
    try:
        shapes, missing = read_geometry(arm, urdf, locked, 'visual')
    except ArmError:
        raise
    except (ValueError, RuntimeError):
        return [], ()
    return [
        Visual(joint, body.geometry, body.placement,
               body.meshColor if body.overrideMaterial else None)
        for joint, body in shapes], missing
