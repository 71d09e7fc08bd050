"""An identified model as an MJCF."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np

from dynid_ros.applications.export.urdf import friction_of
from dynid_ros.arm.description.urdf_elements import numbers
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import EXTENT, inertial_to_com

#: Attributes of a joint by the friction terms that they hold.
FRICTION = {'viscous': 'damping', 'coulomb': 'frictionloss'}


def mjcf_of(arm: ArmModel) -> str:
    """
    Write an arm as an MJCF of its joints and links alone, with a motor at each joint.

    Parameters
    ----------
    arm : ArmModel
        With physical nominal inertial parameters; rotor inertia is armature, and friction other
        than viscous and Coulomb is left out.

    """
    root = ElementTree.Element('mujoco', model=arm.name)
    ElementTree.SubElement(root, 'compiler', angle='radian', autolimits='true')
    ElementTree.SubElement(root, 'option', gravity=numbers(arm.gravity))
    world = ElementTree.SubElement(root, 'worldbody')
    bodies: dict[int, Any] = {}
    for joint in arm.tree.order.tolist():
        parent = world if arm.parent[joint] < 0 else bodies[arm.parent[joint]]
        bodies[joint] = _add_body(parent, arm, joint)
    actuators = ElementTree.SubElement(root, 'actuator')
    for name, effort in zip(arm.joint_names, arm.limits.effort, strict=True):
        motor = ElementTree.SubElement(actuators, 'motor', name=name, joint=name)
        if np.isfinite(effort):
            motor.set('ctrlrange', numbers([-effort, effort]))
    if arm.tree.followers:
        equality = ElementTree.SubElement(root, 'equality')
        for each in arm.tree.followers:
            ElementTree.SubElement(
                equality, 'joint', joint1=each.name, joint2=arm.joint_names[each.leader],
                polycoef=numbers([each.offset, each.multiplier, 0, 0, 0]))
    ElementTree.indent(root)
    return f'{ElementTree.tostring(root, encoding="unicode")}\n'


def _add_body(parent: Any, arm: ArmModel, joint: int) -> Any:
    import pinocchio

    x, y, z, w = pinocchio.Quaternion(np.ascontiguousarray(arm.rotation[joint])).coeffs()
    body = ElementTree.SubElement(
        parent, 'body', name=f'link_{joint + 1}', pos=numbers(arm.translation[joint]),
        quat=numbers([w, x, y, z]))
    element = ElementTree.SubElement(
        body, 'joint', name=arm.tree.link_names[joint],
        type='slide' if arm.tree.prismatic[joint] else 'hinge', axis=numbers(arm.axis[joint]))
    limits = arm.tree.ends(arm.limits.lower, arm.limits.upper)[:, joint]
    if np.isfinite(limits).all():
        element.set('range', numbers(limits))
    if joint < arm.n:
        if arm.rotor_nominal is not None:
            element.set('armature', numbers(arm.rotor_nominal[joint]))
        element.attrib.update(friction_of(arm, joint, FRICTION))
    assert arm.inertial is not None
    mass, center, inertia = inertial_to_com(arm.inertial[joint])
    ElementTree.SubElement(
        body, 'inertial', pos=numbers(center), mass=numbers(mass), fullinertia=numbers(
            [*(np.diag(inertia) + EXTENT), inertia[0, 1], inertia[0, 2], inertia[1, 2]]))
    return body
