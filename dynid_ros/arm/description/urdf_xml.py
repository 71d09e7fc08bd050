"""Checks of a URDF's XML, before Pinocchio sees it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
import math
from pathlib import Path
import warnings
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from dynid_ros.arm.description.urdf_numbers import check_numbers, LARGEST
from dynid_ros.arm.description.urdf_source import urdf_root
from dynid_ros.errors import ArmError, ArmWarning

MOVING = ('revolute', 'continuous', 'prismatic')
#: Joints of a base that moves freely; the arm is identified on a base that stands.
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

    """

    name: str
    joints: dict[str, UrdfJoint]
    xml: str
    is_mjcf: bool = False


def read_urdf_xml(path: Path) -> UrdfTree:
    """
    Read a URDF, a xacro file, an MJCF or an SDF, and check that it is one tree of known joints.

    A floating or planar joint is fixed where it stands.

    Raises
    ------
    ArmError
        The file is missing, is not XML, is not a URDF, defines entities, or its joints and links
        do not form one tree.

    """
    root = urdf_root(path)
    check_numbers(root, path)
    links = _by_name(root, 'link', path)
    elements = _by_name(root, 'joint', path)
    joints = {name: _joint(name, element, path) for name, element in elements.items()}
    _check_tree(links, joints, path)
    return UrdfTree(
        root.get('name', ''), joints, _skeleton(root, joints), root.get('source') == 'mjcf')


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


def _joint(name: str, element: Element, path: Path) -> UrdfJoint:
    kind = element.get('type', '')
    if kind not in (*MOVING, *FREE, 'fixed'):
        raise ArmError(f'joint "{name}" in {path} is of type "{kind}"; known are '
                       f'{", ".join((*MOVING, *FREE))} and fixed')
    parent, child = (_link(name, element, end, path) for end in ('parent', 'child'))
    if kind in FREE:
        warnings.warn(f'{path}: the {kind} joint "{name}" is fixed at zero', ArmWarning,
                      stacklevel=2)
    if kind not in MOVING:
        return UrdfJoint('fixed', parent, child)
    where = f'joint "{name}" in {path}'
    limit = element.find('limit')
    found = {
        key: _number(None if limit is None else limit.get(key), where, key)
        for key in ('lower', 'upper', 'velocity', 'effort')
    }
    lower, upper = _range(kind, found['lower'], found['upper'], where)
    dynamics = element.find('dynamics')
    friction = (_number(None if dynamics is None else dynamics.get(key), where, key) or 0.0
                for key in ('damping', 'friction'))
    return UrdfJoint(
        kind, parent, child, lower, upper,
        abs(found['velocity'] or math.inf), abs(found['effort'] or math.inf),
        _mimics(element.find('mimic'), name, where), *friction)


def _link(name: str, element: Element, end: str, path: Path) -> str:
    found = element.find(end)
    link = None if found is None else found.get('link')
    if not link:
        raise ArmError(f'joint "{name}" in {path} has no <{end} link="...">')
    return link


def _number(text: str | None, where: str, key: str) -> float | None:
    if text is None:
        return None
    try:
        value = float(text) if text.isascii() else math.nan
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise ArmError(f'{key}="{text}" of {where} is not a number')
    return value


def _range(
    kind: str, lower: float | None, upper: float | None, where: str,
) -> tuple[float, float]:
    lower, upper = lower or 0.0, upper or 0.0
    if kind == 'continuous' or lower == upper:
        return -math.inf, math.inf
    # Some exporters write 1e16 for none.
    lower, upper = (math.copysign(math.inf, limit) if abs(limit) > LARGEST else limit
                    for limit in (lower, upper))
    if lower > upper:
        raise ArmError(f'the lower limit {lower:g} of {where} lies above the upper one {upper:g}')
    return lower, upper


def _mimics(element: Element | None, name: str, where: str) -> tuple[str, float, float] | None:
    if element is None:
        return None
    multiplier, offset = (
        _number(element.get(key, default), where, key)
        for key, default in (('multiplier', '1'), ('offset', '0')))
    leader = element.get('joint', '')
    if leader == name:
        raise ArmError(f'{where} mimics itself; name the joint that it follows')
    for key, value in (('multiplier', multiplier), ('offset', offset)):
        if not abs(value or 0.0) < LARGEST:
            raise ArmError(f'{key}="{element.get(key)}" of the <mimic> of {where} is no ratio or '
                           'position of an arm; correct it')
    return leader, multiplier or 0.0, offset or 0.0


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
    sound: set[str] = set()
    for link in carrier:
        way = {link: None}
        while link in carrier and link not in sound:
            link = joints[carrier[link]].parent
            if link in way:
                cycle = [*way][[*way].index(link):]
                raise ArmError(f'the links in {path} form a cycle: {" -> ".join([*cycle, link])}')
            way[link] = None
        sound.update(way)
    roots = [link for link in links if link not in carrier]
    if not roots:
        raise ArmError(f'{path} has no links')
    if len(roots) > 1:
        raise ArmError(f'{path} is not one tree: links {", ".join(roots)} have no parent joint; '
                       'only the base may')


def _skeleton(root: Element, joints: dict[str, UrdfJoint]) -> str:
    """Write only the elements that Pinocchio needs, so that it prints no warnings."""
    result = ElementTree.Element('robot', name=root.get('name', 'arm'))
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
