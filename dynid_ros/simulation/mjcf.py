# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""An arm as an MJCF, from its nominal parameters, and as the MuJoCo model of a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np

from dynid_ros.arm.description.urdf_elements import numbers
from dynid_ros.arm.drive import COMMAND
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import EXTENT, inertial_to_com
from dynid_ros.dynamics.rigid_parameters import check_physical

#: Attributes of a joint by the friction terms that they hold.
FRICTION_ATTRIBUTES = {'viscous': 'damping', 'coulomb': 'frictionloss'}
#: Distance of the end stops from the position limits, relative to the range of the joint: control
#: limits are some degrees before the stops, and a motion up to them must not touch.
STOP_DISTANCE = 0.05
#: Time constant of the end stops in steps of the integration, which needs at least two (MuJoCo,
#: "Solver parameters").
STOP_STEPS = 10.0
#: Impedance of the gearing of followers, nearly as rigid as MuJoCo allows.
RIGID = (0.9999, 0.9999, 0.001, 0.5, 2.0)


def mujoco_model(arm: ArmModel, timestep: float = 0.0005) -> Any:
    """
    Build a MuJoCo model: the same joints in the same order, with end stops, without contacts.

    Parameters
    ----------
    arm : ArmModel
        The arm, with physical nominal inertial parameters.
    timestep : float
        Step of the integration, s.

    Returns
    -------
    mujoco.MjModel
        Rotor inertia is the armature of the joints; the caller adds friction. Joints with two
        finite position limits have end stops `STOP_DISTANCE` behind them.

    Raises
    ------
    ArmError
        Nominal inertial parameters of a link are missing or not physical.

    """
    import mujoco

    check_physical(arm)
    # Friction follows from curves of its own.
    model = mujoco.MjModel.from_xml_string(mjcf_of(replace(arm, friction_nominal={})))
    model.opt.timestep = timestep
    # The gearing holds followers within their limits.
    model.jnt_limited[joint_order(model, arm)[arm.n:]] = 0
    behind = STOP_DISTANCE * np.diff(model.jnt_range)
    model.jnt_range += behind * [-1, 1]
    model.jnt_solref[:] = STOP_STEPS * timestep, 1.0
    model.eq_solref[:], model.eq_solimp[:] = (2 * timestep, 1.0), RIGID
    return model


def joint_order(model: Any, arm: ArmModel) -> np.ndarray[Any, np.dtype[np.intp]]:
    """
    Degree of freedom of each joint of an arm in its MuJoCo model, (m,): the n with drives first.

    MuJoCo numbers the bodies of a branched tree depth first, independent of the order of the
    joints.
    """
    return np.array([int(model.joint(name).dofadr[0]) for name in arm.tree.link_names],
                    dtype=np.intp)


def mjcf_of(arm: ArmModel, *, servos: bool = False) -> str:
    """
    Write an arm as an MJCF of its joints and links alone, with a motor at each joint.

    Parameters
    ----------
    arm : ArmModel
        With physical nominal inertial parameters; rotor inertia is armature, and friction other
        than viscous and Coulomb is left out.
    servos : bool
        Whether joints whose drives follow commands have position actuators instead.

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
    for joint, (name, effort) in enumerate(zip(arm.joint_names, arm.limits.effort, strict=True)):
        if servos and has_servos(arm):
            _add_servo(actuators, arm, joint)
            continue
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


def has_servos(arm: ArmModel) -> bool:
    """Whether each joint has a drive of its own that follows commands."""
    return arm.drive.signal == COMMAND and arm.drive.is_direct


def _add_servo(actuators: Any, arm: ArmModel, joint: int) -> None:
    """Add a position actuator; an unknown damping is part of that of the joint."""
    drive, name, effort = arm.drive, arm.joint_names[joint], arm.limits.effort[joint]
    servo = ElementTree.SubElement(
        actuators, 'position', name=name, joint=name, kp=numbers(abs(drive.gain[joint])))
    if drive.damping is not None:
        servo.set('kv', numbers(drive.damping[joint]))
    # The limit is in Nm.
    if np.isfinite(effort) and not drive.scale:
        servo.set('forcerange', numbers([-effort, effort]))


def _add_body(parent: Any, arm: ArmModel, joint: int) -> Any:
    # The axes x and y are the first columns.
    body = ElementTree.SubElement(
        parent, 'body', name=f'link_{joint + 1}', pos=numbers(arm.translation[joint]),
        xyaxes=numbers(arm.rotation[joint][:, :2].T.ravel()))
    element = ElementTree.SubElement(
        body, 'joint', name=arm.tree.link_names[joint],
        type='slide' if arm.tree.prismatic[joint] else 'hinge', axis=numbers(arm.axis[joint]))
    limits = arm.tree.ends(arm.limits.lower, arm.limits.upper)[:, joint]
    if np.isfinite(limits).all() and limits[0] < limits[1]:
        element.set('range', numbers(limits))
    if joint < arm.n:
        if arm.rotor_nominal is not None:
            element.set('armature', numbers(arm.rotor_nominal[joint]))
        element.attrib.update(friction_of(arm, joint, FRICTION_ATTRIBUTES))
    assert arm.inertial is not None
    mass, center, inertia = inertial_to_com(arm.inertial[joint])
    ElementTree.SubElement(
        body, 'inertial', pos=numbers(center), mass=numbers(mass), fullinertia=numbers(
            [*(np.diag(inertia) + EXTENT), inertia[0, 1], inertia[0, 2], inertia[1, 2]]))
    return body


def friction_of(arm: ArmModel, joint: int, attributes: Mapping[str, str]) -> dict[str, str]:
    """Nominal viscous and Coulomb coefficients of a joint, as attributes."""
    return {attribute: numbers(arm.friction_nominal[term][joint])
            for term, attribute in attributes.items() if term in arm.friction_nominal}
