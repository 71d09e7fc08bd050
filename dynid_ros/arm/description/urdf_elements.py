# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Elements of a URDF, for the writers of robots of other formats."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import ArrayLike

from dynid_ros.arm.description.tree import rotation_rpy
from dynid_ros.utilities.arrays import Array

#: Link of the base of a robot that is no child of any joint.
WORLD = 'world'
#: Element below the root that holds a doubt about the file; no other reader knows it.
DOUBT = 'doubt'


def numbers(values: ArrayLike) -> str:
    """Numbers of an attribute, to their last bit."""
    return ' '.join(repr(float(value)) for value in np.ravel(values))


def add_origin(element: Element, place: Array, rotation: Array) -> None:
    """Add the frame with an origin (3,) and axes (3, 3) in the parent's frame."""
    import pinocchio

    rpy = pinocchio.rpy.matrixToRpy(np.ascontiguousarray(rotation))
    ElementTree.SubElement(element, 'origin', xyz=numbers(place), rpy=numbers(rpy))


def add_joint(
    root: Element, name: str, kind: str, links: tuple[str, str], place: Array, rotation: Array,
) -> Element:
    """Add a joint from a parent to a child."""
    joint = ElementTree.SubElement(root, 'joint', name=name, type=kind)
    add_origin(joint, place, rotation)
    ElementTree.SubElement(joint, 'parent', link=links[0])
    ElementTree.SubElement(joint, 'child', link=links[1])
    return joint


def add_inertial(
    link: Element, place: Array, rotation: Array, mass: float, inertia: Array,
) -> None:
    """Add mass, kg, and inertia about the centre of mass (3, 3), kg m², in a frame at it."""
    inertial = ElementTree.SubElement(link, 'inertial')
    add_origin(inertial, place, rotation)
    ElementTree.SubElement(inertial, 'mass', value=numbers(mass))
    ElementTree.SubElement(inertial, 'inertia', attrib={
        f'i{"xyz"[row]}{"xyz"[column]}': numbers(inertia[row, column])
        for row in range(3) for column in range(row, 3)})


def read_inertial(link: Element) -> tuple[float, Any, Array]:
    """Read what `add_inertial` adds: mass, frame as pinocchio.SE3, inertia; zeros without one."""
    import pinocchio

    def read(tag: str, key: str, count: int = 1) -> list[float]:
        found = link.find(f'inertial/{tag}')
        text = None if found is None else found.get(key)
        return [0.0] * count if text is None else [float(x) for x in text.split()]

    frame = pinocchio.SE3(rotation_rpy(read('origin', 'rpy', 3)),
                          np.array(read('origin', 'xyz', 3)))
    return read('mass', 'value')[0], frame, np.array([
        [read('inertia', f'i{"".join(sorted(a + b))}')[0] for b in 'xyz'] for a in 'xyz'])


def add_collision(
    link: Element, place: Array, rotation: Array, shape: str, **attributes: str,
) -> None:
    """Add a shape at which bodies touch."""
    collision = ElementTree.SubElement(link, 'collision')
    add_origin(collision, place, rotation)
    ElementTree.SubElement(
        ElementTree.SubElement(collision, 'geometry'), shape, attrib=attributes)


def add_cylinder(
    link: Element, place: Array, rotation: Array, size: tuple[float, float], *, capsule: bool,
) -> None:
    """Add a cylinder of a radius and a length, m; as a capsule, with a sphere at each end."""
    radius, length = size
    add_collision(link, place, rotation, 'cylinder', radius=numbers(radius),
                  length=numbers(length))
    for end in (-length / 2, length / 2) if capsule else ():
        add_collision(link, place + end * rotation[:, 2], rotation, 'sphere',
                      radius=numbers(radius))
