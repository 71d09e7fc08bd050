# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""An identified model as a URDF: the user's own with its inertias replaced, or a plain one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
import re
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from dynid_ros.applications.export.file_error import DYNAMICS
from dynid_ros.applications.export.format_friction import simple_arm
from dynid_ros.arm.description.joint_choice import choose_joints
from dynid_ros.arm.description.tree import KinematicTree
from dynid_ros.arm.description.urdf import describe, reduced_model
from dynid_ros.arm.description.urdf_elements import (
    add_inertial,
    add_joint,
    numbers,
    read_inertial,
)
from dynid_ros.arm.description.urdf_source import with_prefixes
from dynid_ros.arm.description.urdf_xml import read_urdf_xml, UrdfTree
from dynid_ros.arm.load import description_file
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_from_com, inertial_to_com, is_physical
from dynid_ros.errors import ArmError
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.simulation.mjcf import friction_of
from dynid_ros.utilities.arrays import Array

#: Differences of geometry that are rounding, m or without unit.
GEOMETRY_ROUNDING = 1e-6
#: Declaration of an XML file up to the name of its encoding.
DECLARED = re.compile(r'(<\?xml[^>]*?encoding=["\'])([\w.-]+)')
#: End of a URDF by which `check_output` knows that it may be replaced.
SIGNED = '<!-- Inertias and friction by dynid_ros. -->\n'


def urdf_of(arm: ArmModel) -> str:
    """
    Write an arm as a URDF of its joints and links alone.

    Parameters
    ----------
    arm : ArmModel
        With physical nominal inertial parameters.

    """
    root = ElementTree.Element('robot', name=arm.name)
    ElementTree.SubElement(root, 'link', name='base_link')
    names = ['base_link', *(f'link_{joint + 1}' for joint in range(arm.links))]
    led, own = arm.tree.followers, arm.limits
    # Speed and effort limits of a follower belong to the joint that it follows.
    limits = np.array([
        *arm.tree.ends(own.lower, own.upper),
        [*own.velocity, *(abs(each.multiplier) * own.velocity[each.leader] for each in led)],
        [*own.effort, *np.zeros(len(led))]])
    bounded = np.isfinite(limits[:2]).all(axis=0)
    kinds = np.where(arm.tree.prismatic, 'prismatic', np.where(bounded, 'revolute', 'continuous'))
    # A URDF states unknown bounds as zero.
    limits = np.where(np.isfinite(limits), limits, 0.0)
    assert arm.inertial is not None
    for joint, name in enumerate(arm.tree.link_names):
        element = add_joint(
            root, name, str(kinds[joint]), (names[arm.parent[joint] + 1], names[joint + 1]),
            arm.translation[joint], arm.rotation[joint])
        ElementTree.SubElement(element, 'axis', xyz=numbers(arm.axis[joint]))
        ElementTree.SubElement(element, 'limit', attrib=dict(zip(
            ('lower', 'upper', 'velocity', 'effort'), map(numbers, limits[:, joint]),
            strict=True)))
        if joint < arm.n:
            _set_friction(element, arm, joint)
        else:
            follower = led[joint - arm.n]
            ElementTree.SubElement(
                element, 'mimic', joint=arm.joint_names[follower.leader],
                multiplier=numbers(follower.multiplier), offset=numbers(follower.offset))
        link = ElementTree.SubElement(root, 'link', name=names[joint + 1])
        _set_inertial(link, arm.inertial[joint])
    ElementTree.indent(root)
    return f'<?xml version="1.0"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def replaced_urdf(arm: ArmModel, source: Path) -> tuple[str, list[str]]:
    """
    Replace inertias and friction in a URDF; meshes, comments and all else stay.

    An identified link is the sum of all links that move with its joint. Links fixed to it keep
    their inertia, unless the rest is not physical: then the link takes theirs, too.

    Parameters
    ----------
    arm : ArmModel
        With physical nominal inertial parameters.
    source : Path
        The URDF, with the names of the joints or their aliases.

    Returns
    -------
    text : str
        The new URDF.
    notes : list of str
        Links that lost their inertia, a sentence each.

    Raises
    ------
    ArmError
        The file is no URDF, or not the arm's; the message names the difference.

    """
    robot = read_urdf_xml(source)
    known = [own for own in (arm.joint_names, *arm.aliases) if robot.joints.keys() >= set(own)]
    if not known:
        missing = [name for name in arm.joint_names if name not in robot.joints]
        raise ArmError(f"{source} is not the URDF of '{arm.name}': it has no joint "
                       f'{", ".join(missing)}; for other names of its joints, set aliases in '
                       'arm.yaml')
    arm = arm.with_tree(joint_names=known[0])
    _check_same(arm, describe(robot, source, arm.joint_names).tree, source)
    text = _as_utf8(source.read_bytes())
    root = _plain_root(text, source)
    # As the reader names links that have the name of a joint.
    links = {f'{name}_link' if name in robot.joints else name: link
             for link in root.findall('link') for name in [link.get('name', '')]}
    places, notes = _places(arm, robot, source), []
    assert arm.inertial is not None
    for joint, name in enumerate(arm.tree.link_names):
        own = robot.joints[name].child
        fixed = {link: at for link, at in places[name].items() if link != own and link in links}
        rest = arm.inertial[joint] - sum(
            (_carried(links[link], at) for link, at in fixed.items()), np.zeros(10))
        if not is_physical(rest):
            rest = arm.inertial[joint]
            lost = [link for link in fixed if _take_inertial(links[link])]
            notes.append(f"links fixed to '{own}' have lost their inertia to it, since they state "
                         f'more than what moves with {name}: {", ".join(lost)}')
        _set_inertial(links[own], rest)
        if joint < arm.n:
            element = next(e for e in root.findall('joint') if e.get('name') == name)
            _set_friction(element, arm, joint)
    prolog = text[:text.index('<robot')]
    return f'{prolog}{ElementTree.tostring(root, encoding="unicode")}\n', notes


def signed_urdf(model: IdentifiedModel, robot: Path | None) -> tuple[str, list[str]]:
    """
    Write a model as a URDF: possible links, and friction by `simple_arm`.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    robot : Path or None
        URDF whose inertias and friction are replaced, as by `replaced_urdf`; without it, a URDF of
        joints and links alone is written.

    Returns
    -------
    text : str
        The URDF, by its last line a file of dynid.
    notes : list of str
        What was changed beside inertias and friction, a sentence each.

    """
    arm = simple_arm(model, rotor_inertia=False)
    text, notes = (urdf_of(arm), []) if robot is None else replaced_urdf(arm, robot)
    return text + SIGNED, notes


def _as_utf8(data: bytes) -> str:
    """Decode a file that XML parsers can read, and declare the encoding of the new one."""
    declared = DECLARED.match(data.decode('ascii', 'ignore').replace('\0', ''))
    text = data.decode(declared[2] if declared else 'utf-8-sig')
    return DECLARED.sub(r'\1utf-8', text, count=1)


def _plain_root(text: str, source: Path) -> Element:
    """Root of a URDF, comments included."""
    builder = ElementTree.TreeBuilder(insert_comments=True, insert_pis=True)
    text = with_prefixes(text.encode()).decode()
    for prefix, place in re.findall(r'xmlns:([\w.-]+)=["\']([^"\']+)', text):
        # Otherwise they are written as ns0 and so on, which no reader knows.
        with suppress(ValueError):
            ElementTree.register_namespace(prefix, place)
    root = ElementTree.fromstring(text, ElementTree.XMLParser(target=builder))
    expanded = not any(isinstance(each.tag, str) and 'xacro' in each.tag for each in root.iter())
    if root.tag != 'robot' or not expanded:
        raise ArmError(f'{source} is not a plain URDF; give the URDF that is made of it')
    return root


def _check_same(arm: ArmModel, tree: KinematicTree, source: Path) -> None:
    """Make sure that the joints of a URDF are where the arm has them."""
    if [e.name for e in arm.tree.followers] != [e.name for e in tree.followers]:
        raise ArmError(f"{source} is not the URDF of '{arm.name}': other joints follow others")
    for quantity in ('gearing', 'parent', 'prismatic', 'translation', 'rotation', 'axis'):
        ours, theirs = getattr(arm.tree, quantity), getattr(tree, quantity)
        off = np.abs(np.subtract(ours, theirs, dtype=float)).reshape(arm.links, -1).max(axis=1)
        if off.max() > GEOMETRY_ROUNDING:
            joint = int(off.argmax())
            raise ArmError(
                f"{source} is not the URDF of '{arm.name}': the {quantity} of joint "
                f"'{arm.tree.link_names[joint]}' differs by {off.max():.3g}")


def _places(arm: ArmModel, robot: UrdfTree, source: Path) -> dict[str, dict[str, Any]]:
    """Links by the joint that they move with, and where they are in its frame."""
    import pinocchio

    _, _, rest = choose_joints(robot.joints, arm.joint_names, {}, source)
    model = reduced_model(robot.xml, rest, source)
    found: dict[str, dict[str, Any]] = {}
    for frame in model.frames:
        if frame.type == pinocchio.FrameType.BODY:
            carrier = model.names[frame.parentJoint]
            found.setdefault(carrier, {})[frame.name] = frame.placement
    return found


def _carried(link: Element, place: Any) -> Array:
    """Inertial parameters (10,) of a link in the frame of the joint that carries it."""
    mass, frame, inertia = read_inertial(link)
    at = place * frame
    return inertial_from_com(mass, at.translation, at.rotation @ inertia @ at.rotation.T)


def _set_inertial(link: Element, parameters: Array) -> None:
    """Replace the inertia of a link, at its place among the elements."""
    place = next((k for k, child in enumerate(link) if child.tag == 'inertial'), 0)
    before = _take_inertial(link)
    mass, center, inertia = inertial_to_com(parameters)
    add_inertial(link, center, np.eye(3), mass, inertia)
    made = link[-1]
    link.remove(made)
    made.tail = before.tail if before is not None else '\n  '
    link.insert(place, made)


def _take_inertial(link: Element) -> Element | None:
    found = link.find('inertial')
    if found is not None:
        link.remove(found)
    return found


def _set_friction(joint: Element, arm: ArmModel, index: int) -> None:
    values = friction_of(arm, index, DYNAMICS)
    if not values:
        return
    dynamics = joint.find('dynamics')
    if dynamics is None:
        dynamics = ElementTree.SubElement(joint, 'dynamics')
        dynamics.tail = '\n  '
    dynamics.attrib.update(values)


def robot_description(name_or_path: str | Path) -> Callable[[IdentifiedModel], str]:
    """
    Return how a model becomes the robot description of its arm.

    Parameters
    ----------
    name_or_path : str or Path
        As for ``load_arm``; empty where a result alone describes the arm. The links of a plain
        URDF get the new inertias; for others, a URDF of joints and links alone is written.

    Returns
    -------
    callable
        Takes a model, and returns a URDF with its possible links and fitted friction.

    """
    urdf = description_file(name_or_path) if name_or_path else None

    def describe(model: IdentifiedModel) -> str:
        arm = simple_arm(model, rotor_inertia=False)
        if urdf is not None and urdf.suffix.lower() == '.urdf':
            # Else an SDF or a xacro file by another name.
            with suppress(ArmError):
                return replaced_urdf(arm, urdf)[0] + SIGNED
        return urdf_of(arm) + SIGNED

    return describe
