# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
SDF as a URDF.

Poses have the meaning of SDFormat 1.7 and later (sdformat.org, Pose frame semantics): a link's
pose is given in the model's frame, a joint's pose in its child's, each unless ``relative_to``
names another; the axis of a joint is given in the joint's frame, before version 1.5 in the
model's. In a URDF, a link has the frame of the joint that carries it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from dynid_ros.arm.description.urdf_elements import (
    add_collision,
    add_cylinder,
    add_inertial,
    add_joint,
    numbers,
    WORLD,
)
from dynid_ros.errors import ArmError
from dynid_ros.utilities.arrays import Array

MODEL_FRAME = '__model__'
#: Limits above this are none: SDFormat's default is 1e16.
ENDLESS = 1e15
#: First version in which the axis of a joint is given in the joint's frame.
JOINT_FRAME = (1, 5)


def sdf_as_urdf(sdf: Element, path: Path) -> Element:
    """
    Write the one model of an SDF as the root element of a URDF.

    Parameters
    ----------
    sdf : Element
        The root of the file.
    path : Path
        The file, for messages.

    Raises
    ------
    ArmError
        The file has not exactly one model, nests or includes others, or has a pose, a number or a
        name of a frame that is unusable.

    """
    model = _only_model(sdf, path)
    frames = _Frames(model, path)
    root = ElementTree.Element('robot', name=model.get('name', path.stem))
    joints = model.findall('joint')
    carriers = {_text(joint, 'child', path): joint for joint in joints}
    placed = {link.get('name', ''): frames.of(link.get('name', ''))
              for link in model.findall('link')}
    placed |= {child: frames.of(joint.get('name', '')) for child, joint in carriers.items()}
    if any(_text(joint, 'parent', path) == WORLD for joint in joints):
        ElementTree.SubElement(root, 'link', name=WORLD)
        placed[WORLD] = frames.pose(model).inverse()
    for link in model.findall('link'):
        _write_link(root, link, frames, placed[link.get('name', '')])
    in_model = tuple(map(int, sdf.get('version', '1.7').split('.')[:2])) < JOINT_FRAME
    for joint in joints:
        _write_joint(root, joint, frames, placed, in_model)
    return root


def _only_model(sdf: Element, path: Path) -> Element:
    models = sdf.findall('model') + sdf.findall('world/model')
    if len(models) != 1:
        names = ', '.join(model.get('name', '?') for model in models) or 'none'
        raise ArmError(f'{path} must have one model, not {len(models)} ({names}); leave only the '
                       'robot')
    for tag in ('model', 'include'):
        if models[0].find(tag) is not None:
            raise ArmError(f'the model in {path} holds a further <{tag}>; write its links and '
                           'joints into the model itself, or give a URDF')
    return models[0]


class _Frames:
    """Poses of links, joints and frames in the frame of the model."""

    def __init__(self, model: Element, path: Path) -> None:
        self.path = path
        self._elements = {
            element.get('name', ''): element
            for tag in ('frame', 'joint', 'link') for element in model.findall(tag)}
        self._asked: list[str] = []

    def of(self, name: str) -> Any:
        """Return the frame of an element."""
        import pinocchio

        if name == MODEL_FRAME:
            return pinocchio.SE3.Identity()
        if name not in self._elements:
            raise ArmError(f'{self.path} refers to "{name}", which the model does not have')
        if name in self._asked:
            raise ArmError(f'the poses in {self.path} form a cycle: '
                           f'{" -> ".join([*self._asked, name])}')
        self._asked.append(name)
        element = self._elements[name]
        found = self.within(element, {
            'link': MODEL_FRAME, 'joint': element.findtext('child', '').strip(),
        }.get(element.tag, element.get('attached_to') or MODEL_FRAME))
        self._asked.pop()
        return found

    def within(self, element: Element, parent: str) -> Any:
        """Return the frame of an element whose pose refers to a parent by default."""
        pose = element.find('pose')
        given = None if pose is None else pose.get('relative_to')
        return self.of(given or parent) * self.pose(element)

    def pose(self, element: Element) -> Any:
        """Return the pose of an element by itself."""
        import pinocchio

        pose = element.find('pose')
        if pose is None:
            return pinocchio.SE3.Identity()
        quaternion = pose.get('rotation_format') == 'quat_xyzw'
        values = self.vector(pose.text, 7 if quaternion else 6, f'pose of "{element.get("name")}"')
        if quaternion:
            return pinocchio.XYZQUATToSE3(values)
        angles = np.radians(values[3:]) if pose.get('degrees') == 'true' else values[3:]
        return pinocchio.SE3(pinocchio.rpy.rpyToMatrix(angles), values[:3])

    def vector(self, text: str | None, size: int, where: str) -> Array:
        """Read numbers; the reader of the URDF refuses implausible ones."""
        try:
            values = (np.zeros(size) if text is None
                      else np.array(text.split(), dtype=np.float64))
        except ValueError:
            values = np.empty(0)
        if len(values) != size:
            wanted = f'{size} numbers' if size > 1 else 'a number'
            raise ArmError(f'the {where} in {self.path} must be {wanted}, not "{text}"')
        return values

    def number(self, element: Element, tag: str, default: float) -> float:
        """Read the number of a child of an element."""
        return float(self.vector(element.findtext(tag, repr(default)), 1, f'<{tag}>')[0])


def _write_link(root: Element, link: Element, frames: _Frames, placed: Any) -> None:
    name = link.get('name', '')
    element = ElementTree.SubElement(root, 'link', name=name)
    own = placed.inverse() * frames.of(name)
    inertial = link.find('inertial')
    if inertial is not None and inertial.get('auto') != 'true':
        at = own * frames.pose(inertial)
        inertia = np.eye(3)
        for row, column in zip(*np.triu_indices(3), strict=True):
            inertia[row, column] = inertia[column, row] = frames.number(
                inertial, f'inertia/i{"xyz"[row]}{"xyz"[column]}', float(row == column))
        add_inertial(element, at.translation, at.rotation,
                     frames.number(inertial, 'mass', 1.0), inertia)
    for collision in link.findall('collision'):
        geometry = collision.find('geometry')
        if geometry is not None:
            _write_shape(element, geometry, placed.inverse() * frames.within(collision, name),
                         frames)


def _write_shape(link: Element, geometry: Element, at: Any, frames: _Frames) -> None:
    place, rotation = at.translation, at.rotation
    for shape in geometry:
        if shape.tag == 'box':
            sides = frames.vector(shape.findtext('size', '1 1 1'), 3, 'size of a box')
            add_collision(link, place, rotation, 'box', size=numbers(sides))
        elif shape.tag == 'ellipsoid':
            radii = frames.vector(shape.findtext('radii', '1 1 1'), 3, 'radii of an ellipsoid')
            add_collision(link, place, rotation, 'box', size=numbers(2 * radii))
        elif shape.tag == 'sphere':
            radius = frames.number(shape, 'radius', 1.0)
            add_collision(link, place, rotation, 'sphere', radius=numbers(radius))
        elif shape.tag in ('cylinder', 'capsule'):
            size = frames.number(shape, 'radius', 1.0), frames.number(shape, 'length', 1.0)
            add_cylinder(link, place, rotation, size, capsule=shape.tag == 'capsule')
        elif shape.tag == 'mesh':
            scale = frames.vector(shape.findtext('scale', '1 1 1'), 3, 'scale of a mesh')
            add_collision(link, place, rotation, 'mesh', scale=numbers(scale),
                          filename=shape.findtext('uri', '').strip())


def _write_joint(
    root: Element, joint: Element, frames: _Frames, placed: dict[str, Any], in_model: bool,
) -> None:
    name, kind = joint.get('name', ''), joint.get('type', '')
    parent, child = (_text(joint, end, frames.path) for end in ('parent', 'child'))
    if parent not in placed:
        raise ArmError(f'joint "{name}" in {frames.path} refers to link "{parent}", which the '
                       'file does not have')
    at = placed[parent].inverse() * placed[child]
    element = add_joint(root, name, kind, (parent, child), at.translation, at.rotation)
    axis = joint.find('axis')
    if axis is None:
        return
    xyz = axis.find('xyz')
    direction = frames.vector('0 0 1' if xyz is None else xyz.text, 3, f'axis of "{name}"')
    given = None if xyz is None else xyz.get('expressed_in')
    if in_model or axis.findtext('use_parent_model_frame', '').strip() in ('1', 'true'):
        given = MODEL_FRAME
    if given:
        direction = placed[child].rotation.T @ frames.of(given).rotation @ direction
    ElementTree.SubElement(element, 'axis', xyz=numbers(direction))
    limit = axis.find('limit')
    if limit is not None:
        _write_limit(element, limit, frames)
    mimic = axis.find('mimic')
    if mimic is not None:
        multiplier = frames.number(mimic, 'multiplier', 1.0)
        offset = (frames.number(mimic, 'offset', 0.0)
                  - multiplier * frames.number(mimic, 'reference', 0.0))
        ElementTree.SubElement(element, 'mimic', joint=mimic.get('joint', ''),
                               multiplier=numbers(multiplier), offset=numbers(offset))


def _write_limit(joint: Element, limit: Element, frames: _Frames) -> None:
    lower, upper = (frames.number(limit, key, sign * math.inf)
                    for key, sign in (('lower', -1), ('upper', 1)))
    if max(-lower, upper) >= ENDLESS and joint.get('type') == 'revolute':
        joint.set('type', 'continuous')
    # SDFormat writes no bound as a negative one, and a URDF as zero.
    velocity, effort = (max(0.0, frames.number(limit, key, 0.0)) for key in ('velocity', 'effort'))
    ElementTree.SubElement(joint, 'limit', lower=numbers(lower), upper=numbers(upper),
                           velocity=numbers(velocity), effort=numbers(effort))


def _text(joint: Element, end: str, path: Path) -> str:
    text = joint.findtext(end, '').strip()
    if not text:
        raise ArmError(f'joint "{joint.get("name")}" in {path} has no <{end}>')
    return text
