# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Shapes of the links, from a URDF with its mesh files or from declared capsules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from dynid_ros.arm.description.joint_choice import choose_joints
from dynid_ros.arm.description.packages import find_meshes
from dynid_ros.arm.description.urdf import reduced_model
from dynid_ros.arm.description.urdf_source import urdf_root
from dynid_ros.arm.description.urdf_xml import read_urdf_xml
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.surroundings import Capsule
from dynid_ros.motion.feasibility.bounding_capsule import capsule_along, corners
from dynid_ros.motion.feasibility.substitute_shapes import substitutes
from dynid_ros.utilities.arrays import Array


@dataclass(frozen=True, eq=False)
class Body:
    """
    A body of coal on a link.

    Attributes
    ----------
    name : str
        Name for messages.
    joint : int
        Joint that moves it; -1 for the base.
    placement : pinocchio.SE3
        Its pose in the frame of the link.
    shape : coal.CollisionGeometry
        A convex shape, or a mesh as in its file.
    source : str
        File and scale of a mesh; empty for other shapes.

    """

    name: str
    joint: int
    placement: Any
    shape: Any
    source: str = ''

    @property
    def is_mesh(self) -> bool:
        """Whether it is a mesh, which need not be convex."""
        return bool(self.source)


def capsule_body(capsule: Capsule) -> Body:
    """Body of a declared capsule."""
    shape, placement = capsule_along(capsule.start, capsule.end, capsule.radius)
    return Body(capsule.name, capsule.joint, placement, shape)


def urdf_bodies(
    arm: ArmModel, path: Path, locked: dict[str, float],
) -> tuple[list[Body], tuple[str, ...]]:
    """
    Read the collision geometry of a URDF.

    Parameters
    ----------
    arm : ArmModel
        The arm that was read from it.
    path : Path
        The URDF; see `find_meshes` for the places of its meshes.
    locked : dict of str to float
        Positions of locked joints, rad or m.

    Returns
    -------
    bodies : list of Body
        Empty if the file has no collision geometry.
    notes : tuple of str
        A line that names the meshes that were not found or not readable, and what replaces them.

    """
    shapes, missing = read_geometry(arm, path, locked)
    return [
        Body(body.name, joint, body.placement, body.geometry, f'{body.meshPath} {body.meshScale}'
             if hasattr(body.geometry, 'buildConvexHull') else '')
        for joint, body in shapes], missing


def read_geometry(
    arm: ArmModel, path: Path, locked: Mapping[str, float], kind: str = 'collision',
) -> tuple[list[tuple[int, Any]], tuple[str, ...]]:
    """
    Read the shapes of a URDF.

    Parameters
    ----------
    arm, path, locked
        As for `urdf_bodies`.
    kind : str
        ``collision``, where `substitutes` replace missing meshes, or ``visual``.

    Returns
    -------
    shapes : list of (int, pinocchio.GeometryObject)
        Each shape with the joint of the arm that moves it, -1 for the base.
    missing : tuple of str
        A line on the collision meshes that are missing, or the URI of each visual one.

    """
    import coal
    import pinocchio

    tree = read_urdf_xml(path)
    root = urdf_root(path)
    loader = coal.CachedMeshLoader()
    missing = _point_to_files(root, path, loader, kind)
    model = reduced_model(tree.xml, {}, path)
    geometry = pinocchio.buildGeomFromUrdfString(
        model, _shapes_alone(tree.xml, root, kind),
        pinocchio.GeometryType.VISUAL if kind == 'visual' else pinocchio.GeometryType.COLLISION,
        mesh_loader=loader)
    notes = tuple(missing)
    if kind == 'collision':
        replaced, notes = substitutes(model, root, tree.joints, missing)
        for body in replaced:
            geometry.addGeometryObject(body)
    _, _, rest = choose_joints(tree.joints, arm.joint_names, dict(locked), path)
    reference = pinocchio.neutral(model)
    for name, position in rest.items():
        reference[model.joints[model.getJointId(name)].idx_q] = position
    if rest:
        model, geometry = pinocchio.buildReducedModel(
            model, geometry, [model.getJointId(name) for name in rest], reference)
    return [
        (arm.tree.link_names.index(model.names[shape.parentJoint]) if shape.parentJoint else -1,
         shape) for shape in geometry.geometryObjects], notes


def _shapes_alone(skeleton: str, root: Any, kind: str) -> str:
    """Add the shapes of a URDF to its checked elements, so that no other can fail."""
    checked = ElementTree.fromstring(skeleton)
    shapes = {link.get('name'): link.findall(kind) for link in root.findall('link')}
    for link in checked.findall('link'):
        link.extend(shapes[link.get('name')])
    return ElementTree.tostring(checked, encoding='unicode')


def link_boxes(bodies: Sequence[Body], joints: int) -> Array:
    """
    Return the box along the axes of each joint's frame around the shapes of its link.

    Parameters
    ----------
    bodies : sequence of Body
        From `urdf_bodies`.
    joints : int
        n.

    Returns
    -------
    (n, 3, 2) ndarray
        x, y and z from and to, m; infinite for a link without a shape.

    """
    boxes = np.full((joints, 3, 2), (-np.inf, np.inf))
    for joint in range(joints):
        points = [np.array([body.placement.act(corner) for corner in corners(body.shape)])
                  for body in bodies if body.joint == joint]
        if points:
            every = np.concatenate(points)
            boxes[joint] = np.column_stack([every.min(axis=0), every.max(axis=0)])
    return boxes


def _point_to_files(root: Any, path: Path, loader: Any, kind: str) -> dict[str, list[str]]:
    """Replace the URIs of meshes by paths; return the links of each mesh that is taken out."""
    missing: dict[str, list[str]] = {}
    files = find_meshes({mesh.get('filename', '') for mesh in root.iterfind(
        f'link/{kind}/geometry/mesh')}, path)
    for link in root.findall('link'):
        for other in link.findall('collision' if kind == 'visual' else 'visual'):
            link.remove(other)
        for shape in link.findall(kind):
            mesh = shape.find('geometry/mesh')
            if mesh is None:
                continue
            uri = mesh.get('filename', '')
            found = files[uri]
            if found is not None and _readable(found, mesh, loader):
                mesh.set('filename', str(found))
            else:
                link.remove(shape)
                missing.setdefault(uri, []).append(link.get('name', ''))
    return missing


def _readable(path: Path, mesh: Any, loader: Any) -> bool:
    """Whether the loader, which keeps the mesh for later, can read it at its scale."""
    try:
        scale = np.array([float(x) for x in mesh.get('scale', '1 1 1').split()])
        loader.load(str(path), scale)
    except (ValueError, RuntimeError):
        return False
    return True
