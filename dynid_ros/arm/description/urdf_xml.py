# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Check a URDF's XML before Pinocchio, which drops invalid numbers silently."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
import math
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from dynid_ros.arm.description.urdf_elements import DOUBT
from dynid_ros.arm.description.urdf_source import urdf_root
from dynid_ros.errors import ArmError, listed

MOVING = ('revolute', 'continuous', 'prismatic')
#: Largest size, mass, inertia, position limit or ratio, in SI units, that an arm can have.
LARGEST_IN_URDF = 1e9
#: Attributes of shapes, and how many numbers each holds.
_SIZES = {'box': {'size': 3}, 'sphere': {'radius': 1}, 'cylinder': {'radius': 1, 'length': 1},
          'capsule': {'radius': 1, 'length': 1}, 'mesh': {'scale': 3}}
_INERTIA = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
#: Joints of a base that moves freely; the arm is identified on a fixed base.
FREE = ('floating', 'planar')


@dataclass(frozen=True)
class UrdfJoint:
    """
    Properties of a joint besides its place in the tree.

    Attributes
    ----------
    kind : str
        ``revolute``, ``continuous``, ``prismatic`` or ``fixed``.
    parent, child : str
        Links.
    lower, upper, velocity, effort : float
        Limits, infinite where unknown. Placeholders of exporters count as
        unknown: a velocity or an effort of zero, and equal position limits.
    mimics : tuple of (str, float, float) or None
        Joint that it follows, multiplier and offset.
    damping, friction : float
        Viscous and Coulomb friction of ``<dynamics>``.
    axis : (float, float, float)
        Unit axis in the frame of the joint.

    """

    kind: str
    parent: str
    child: str
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    mimics: tuple[str, float, float] | None = None
    damping: float = 0.0
    friction: float = 0.0
    axis: tuple[float, ...] = (1.0, 0.0, 0.0)


@dataclass(frozen=True)
class UrdfTree:
    """
    A URDF that is one tree, reduced to the elements that dynamics needs.

    Attributes
    ----------
    name : str
        Name of the robot.
    joints : dict of str to UrdfJoint
        All joints, fixed ones too.
    xml : str
        Links with their inertia and joints, nothing else; continuous joints are written as
        revolute ones, from which they differ by their limits only.
    is_mjcf : bool
        Whether the source is an MJCF.
    meshes : tuple of str
        Files of the collision shapes, as the source writes them, once each.
    doubts : tuple of str
        Clauses on implausible content, and how it is read.

    """

    name: str
    joints: dict[str, UrdfJoint]
    xml: str
    is_mjcf: bool = False
    meshes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def read_urdf_xml(path: Path) -> UrdfTree:
    """
    Read a URDF, a xacro file, an MJCF or an SDF, and check that it is one tree of known joints.

    A floating or planar joint is fixed in place.

    Raises
    ------
    ArmError
        The file is missing, is not XML, is not a URDF, defines entities, or its joints and links
        do not form one tree.

    """
    root = urdf_root(path)
    doubts = [each.text or '' for each in root.findall(DOUBT)]
    links = _by_name(root, 'link', path)
    for name, link in links.items():
        doubts += _check_link(link, name, path)
    elements = _by_name(root, 'joint', path)
    joints = {name: _joint(name, element, path) for name, element in elements.items()}
    doubts += [f'the {element.get("type")} joint "{name}" is fixed at zero'
               for name, element in elements.items() if element.get('type') in FREE]
    doubts += [f'joint "{name}" mimics "{joint.mimics[0]}", which the file does not have, and '
               'stays where it is' for name, joint in joints.items()
               if joint.mimics is not None and joint.mimics[0] not in joints]
    _check_tree(links, joints, path)
    meshes = dict.fromkeys(
        mesh.get('filename', '') for mesh in root.iterfind('link/collision/geometry/mesh'))
    return UrdfTree(
        root.get('name', ''), joints, _skeleton(root, joints), root.get('source') == 'mjcf',
        tuple(meshes), tuple(dict.fromkeys(doubts)))


def _by_name(root: Element, tag: str, path: Path) -> dict[str, Element]:
    result: dict[str, Element] = {}
    for element in root.findall(tag):
        name = element.get('name')
        if not name:
            raise ArmError(f'a <{tag}> in {path} has no name')
        if name in result:
            raise ArmError(f'{path} has two {tag}s named "{name}"')
        result[name] = element
    return result


def _check_link(link: Element, name: str, path: Path) -> list[str]:
    """Check the numbers of a link, and return the doubts about them."""
    where, doubts = f'link "{name}" in {path}', []
    for inertial in link.findall('inertial'):
        _check_origin(inertial, where)
        mass = _numbers(inertial, 'mass', 'value', where)[0]
        if mass < 0:
            doubts.append(f'link "{name}" has a mass of {mass:g} kg, which no body has; correct '
                          'it, or state the link under "nominal" in arm.yaml')
        if inertial.find('inertia') is None:
            doubts.append(
                f'link "{name}" states a mass without <inertia>; it counts as a point')
            ElementTree.SubElement(inertial, 'inertia', dict.fromkeys(_INERTIA, '0'))
        for key in _INERTIA:
            _numbers(inertial, 'inertia', key, where)
    for collision in link.findall('collision'):
        place = f'the <collision> of {where}'
        _check_origin(collision, place)
        for tag, sizes in _SIZES.items():
            for key, count in sizes.items():
                if collision.find(f'geometry/{tag}') is not None and not all(_numbers(
                        collision, f'geometry/{tag}', key, place,
                        '1 1 1' if key == 'scale' else None, count)):
                    raise ArmError(f'the {key} of a {tag} in {place} is zero; correct it')
    return doubts


def _check_origin(owner: Element, where: str) -> None:
    for key in ('xyz', 'rpy'):
        _numbers(owner, 'origin', key, where, '0 0 0', 3)


def _numbers(
    owner: Element, path: str, key: str, where: str, default: str | None = None, count: int = 1,
    largest: float = LARGEST_IN_URDF,
) -> list[float]:
    """Read the numbers of an attribute of an element below another one."""
    element, tag = owner.find(path), path.rpartition('/')[2]
    text = default if element is None else element.get(key, default)
    if text is None:
        raise ArmError(f'{where} has no <{tag} {key}="...">; add it')
    try:
        values = [float(word) for word in text.split() if word.isascii() and '_' not in word]
    except ValueError:
        values = []
    if len(values) != count or not all(abs(value) <= largest for value in values):
        wanted = f'{count} numbers' if count > 1 else 'a number'
        raise ArmError(f'<{tag} {key}="{text}"> of {where} must hold {wanted} of an arm, with '
                       'decimal points; correct it, or expand the xacro file')
    return values


def _joint(name: str, element: Element, path: Path) -> UrdfJoint:
    where = f'joint "{name}" in {path}'
    kind = element.get('type', '')
    if kind not in (*MOVING, *FREE, 'fixed'):
        raise ArmError(f'{where} is of type "{kind}"; known are {", ".join((*MOVING, *FREE))} and '
                       'fixed')
    parent, child = (_link(element, end, where) for end in ('parent', 'child'))
    _check_origin(element, where)
    if kind not in MOVING:
        return UrdfJoint('fixed', parent, child)
    axis = _numbers(element, 'axis', 'xyz', where, '1 0 0', 3)
    if not math.hypot(*axis):
        raise ArmError(f'the axis of {where} has no direction')
    lower, upper, velocity, effort = (
        _numbers(element, 'limit', key, where, '0', largest=math.inf)[0]
        for key in ('lower', 'upper', 'velocity', 'effort'))
    if kind == 'continuous' or lower == upper:
        lower, upper = -math.inf, math.inf
    # Some exporters write 1e16 for none.
    lower, upper = (math.copysign(math.inf, limit) if abs(limit) > LARGEST_IN_URDF else limit
                    for limit in (lower, upper))
    if lower > upper:
        raise ArmError(f'the lower limit {lower:g} of {where} lies above the upper one {upper:g}')
    mimics = None
    if (mimic := element.find('mimic')) is not None:
        mimics = (mimic.get('joint', ''), _numbers(element, 'mimic', 'multiplier', where, '1')[0],
                  _numbers(element, 'mimic', 'offset', where, '0')[0])
        if mimics[0] == name:
            raise ArmError(f'{where} mimics itself; name the joint that it follows')
    return UrdfJoint(
        kind, parent, child, lower, upper, abs(velocity) or math.inf, abs(effort) or math.inf,
        mimics, _numbers(element, 'dynamics', 'damping', where, '0', largest=math.inf)[0],
        _numbers(element, 'dynamics', 'friction', where, '0', largest=math.inf)[0],
        tuple(x / math.hypot(*axis) for x in axis))


def _link(element: Element, end: str, where: str) -> str:
    found = element.find(end)
    link = None if found is None else found.get('link')
    if not link:
        raise ArmError(f'{where} has no <{end} link="...">')
    return link


def _check_tree(links: Iterable[str], joints: dict[str, UrdfJoint], path: Path) -> None:
    carrier: dict[str, str] = {}
    for name, joint in joints.items():
        for link in (joint.parent, joint.child):
            if link not in links:
                raise ArmError(f'joint "{name}" in {path} refers to link "{link}", which the file '
                               'does not have')
        if joint.child in carrier:
            raise ArmError(f'link "{joint.child}" in {path} has two parent joints, '
                           f'"{carrier[joint.child]}" and "{name}"; cut the loop open')
        carrier[joint.child] = name
    roots = [link for link in links if link not in carrier]
    if len(roots) > 1:
        raise ArmError(f'{path} is not one tree: links {", ".join(roots)} have no parent joint; '
                       'only the base may')
    carried = defaultdict(list)
    for joint in joints.values():
        carried[joint.parent].append(joint.child)
    for link in (reached := roots[:1]):
        reached += carried[link]
    lost = [link for link in links if link not in set(reached)]
    if lost:
        raise ArmError(f'the links in {path} form a cycle: {listed(lost)}')
    if not roots:
        raise ArmError(f'{path} has no links')


def _skeleton(root: Element, joints: dict[str, UrdfJoint]) -> str:
    """Write only the elements that Pinocchio needs, so that it prints no warnings."""
    result = ElementTree.Element('robot', name=root.get('name') or 'arm')
    for link in root.findall('link'):
        copy = ElementTree.SubElement(result, 'link', name=link.attrib['name'])
        copy.extend(link.findall('inertial'))
    for element in root.findall('joint'):
        name = element.attrib['name']
        kind = joints[name].kind.replace('continuous', 'revolute')
        copy = ElementTree.SubElement(result, 'joint', name=name, type=kind)
        for tag in ('origin', 'parent', 'child', 'axis'):
            copy.extend(element.findall(tag))
        ElementTree.SubElement(copy, 'limit', lower='-1', upper='1', effort='1', velocity='1')
    return ElementTree.tostring(result, encoding='unicode')
