# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Shapes in place of meshes that are missing: boxes from the inertia, or lines between joints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from dynid_ros.arm.description.urdf_elements import read_inertial
from dynid_ros.arm.description.urdf_xml import UrdfJoint
from dynid_ros.motion.feasibility.bounding_capsule import capsule_along

#: Radius of the capsules along the lines between joints, m: a slender link.
LINE_RADIUS = 0.03
#: Shortest line that gets a capsule, m.
SHORTEST_LINE_M = 1e-3


def substitutes(
    model: Any, root: Any, joints: Mapping[str, UrdfJoint], missing: Mapping[str, list[str]],
) -> tuple[list[Any], tuple[str, ...]]:
    """
    Make shapes for links with missing meshes.

    A link with an inertia becomes the homogeneous box of that inertia, another one becomes
    capsules from its frame to the joints that it carries.

    Parameters
    ----------
    model : pinocchio.Model
        Of the complete URDF, no joint locked.
    root : Element
        The URDF.
    joints : mapping of str to UrdfJoint
        Joints of the URDF.
    missing : mapping of str to list of str
        Links that lack a mesh, by its URI.

    Returns
    -------
    bodies : list of pinocchio.GeometryObject
        The shapes.
    notes : tuple of str
        A line on all of them; empty if nothing is missing.

    """
    bodies: list[Any] = []
    kinds: dict[str, list[str]] = {}
    links = {element.get('name'): element for element in root.findall('link')}
    for link in dict.fromkeys(link for names in missing.values() for link in names):
        box = _inertia_box(model, links[link])
        shapes = _lines(model, joints, link) if box is None else [box]
        kind = 'nothing' if not shapes else 'lines between joints' if box is None else (
            'the box of the same inertia')
        kinds.setdefault(kind, []).append(link)
        bodies += shapes
    if not missing:
        return [], ()
    files = ', '.join(sorted({PurePosixPath(uri).name or uri for uri in missing}))
    taken = '; '.join(f'{kind} for {", ".join(names)}' for kind, names in kinds.items())
    return bodies, (
        f'meshes not found, not readable or empty: {files} (set ROS_PACKAGE_PATH to the folder '
        f'that holds their package, or write them again); clearance takes instead {taken}',)


def _frame(model: Any, link: str) -> Any:
    import pinocchio

    return model.frames[model.getFrameId(link, pinocchio.FrameType.BODY)]


def _inertia_box(model: Any, link: Any) -> Any:
    """Homogeneous box of the mass and inertia of a link, or None where it has none."""
    import coal
    import pinocchio

    mass, at, inertia = read_inertial(link)
    if not mass > 0:
        return None
    moments, axes = np.linalg.eigh(inertia)
    # Of a box, Ixx = m (b² + c²) / 12.
    size = np.sqrt(np.maximum(6 / mass * (moments.sum() - 2 * moments), 0.0))
    if not size.max() > 0:
        return None
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    name = link.get('name')
    frame = _frame(model, name)
    return pinocchio.GeometryObject(
        f'{name}_inertia', frame.parentJoint, 0,
        frame.placement * at * pinocchio.SE3(axes, np.zeros(3)),
        coal.Box(*np.maximum(size, SHORTEST_LINE_M)))


def _lines(model: Any, joints: Mapping[str, UrdfJoint], link: str) -> list[Any]:
    """Capsules from the frame of a link to the joints that it carries."""
    import pinocchio

    frame = _frame(model, link)
    result = []
    for name, joint in joints.items():
        if joint.parent != link:
            continue
        end = (_frame(model, joint.child).placement if joint.kind == 'fixed'
               else model.jointPlacements[model.getJointId(name)]).translation
        start = frame.placement.translation
        if np.linalg.norm(end - start) < SHORTEST_LINE_M:
            continue
        shape, placement = capsule_along(start, end, LINE_RADIUS)
        result.append(pinocchio.GeometryObject(
            f'{link}_to_{name}', frame.parentJoint, 0, placement, shape))
    return result
