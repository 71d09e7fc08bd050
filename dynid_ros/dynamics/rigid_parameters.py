"""Rigid-body parameters of an arm, nominal or identified, and the nominal arm in Pinocchio."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.friction import friction_terms
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_to_com, pseudo_inertia
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import ArmError
from dynid_ros.utilities.arrays import Array

#: Rounding of the smallest eigenvalue of a pseudo-inertia, by the largest one.
ROUNDING = 1e-13


def nominal_parameters(arm: ArmModel) -> Array:
    """
    Nominal standard parameters, zero for an unknown rotor, friction or coupling term.

    Parameters
    ----------
    arm : ArmModel
        The arm, with nominal inertial parameters.

    Returns
    -------
    (p,) ndarray
        In the order of ``arm.layout``.

    Raises
    ------
    ArmError
        The arm has no nominal inertial parameters.

    """
    layout = arm.layout
    theta = np.zeros(layout.size)
    theta[layout.all_inertial()] = _stated(arm).ravel()
    if layout.rotor_inertia and arm.rotor_nominal is not None:
        theta[[layout.rotor(j) for j in range(arm.n)]] = arm.rotor_nominal
    for term in friction_terms(arm.friction):
        columns = [layout.friction_column(j, term.symbol) for j in range(arm.n)]
        theta[columns] = arm.friction_nominal.get(term.name, 0.0)
    return theta


class IdentifiedParameters(Protocol):
    """Interface of an identified result for the rigid-body functions."""

    @property
    def arm(self) -> ArmModel:
        """Return the arm."""

    @property
    def theta(self) -> Array:
        """Return the base parameters (b,), in the order of ``base_parameters(arm)``."""


@dataclass(frozen=True, eq=False)
class RigidParameters:
    """
    Parameters of the rigid-body dynamics, without friction.

    Attributes
    ----------
    arm : ArmModel
        The arm.
    inertial : (m, 10) ndarray
        Inertial parameters of the links. Those of an identified arm represent its base
        parameters, with zeros for the free ones: the torque of all links is right, but a single
        link need not be physical.
    rotor : (n, n) ndarray
        Rotor part of the mass matrix: rotor inertia, and the couplings by acceleration.

    """

    arm: ArmModel
    inertial: Array
    rotor: Array


def rigid_parameters(model: ArmModel | IdentifiedParameters) -> RigidParameters:
    """
    Collect the rigid-body parameters of an arm or of a result.

    Raises
    ------
    ArmError
        The arm has no nominal inertial parameters.

    """
    if isinstance(model, ArmModel):
        return _nominal(model)
    return _identified(model.arm, model.theta)


@lru_cache(maxsize=32)
def _nominal(arm: ArmModel) -> RigidParameters:
    rotor = np.zeros(arm.n) if arm.rotor_nominal is None else arm.rotor_nominal
    return RigidParameters(
        arm, np.ascontiguousarray(_stated(arm), dtype=float), np.diag(rotor))


def _stated(arm: ArmModel) -> Array:
    if arm.inertial is None:
        raise ArmError(
            f"the arm '{arm.name}' has no nominal inertias; add them to its URDF or arm.yaml, "
            'or use an identified result')
    return arm.inertial


def _identified(arm: ArmModel, theta: Array) -> RigidParameters:
    layout = arm.layout
    standard = np.zeros(layout.size)
    standard[base_parameters(arm).columns] = theta
    rotor = np.zeros((arm.n, arm.n))
    if layout.rotor_inertia:
        rotor += np.diag(standard[[layout.rotor(j) for j in range(arm.n)]])
    first = layout.first_coupling
    for k, column in enumerate(arm.coupling):
        if column.quantity == 'qdd':
            rotor += standard[first + k] * column.matrix
    inertial = standard[layout.all_inertial()].reshape(arm.links, -1)
    return RigidParameters(arm, inertial, rotor)


def check_physical(arm: ArmModel) -> None:
    """
    Make sure that an arm can be simulated.

    Raises
    ------
    ArmError
        Nominal inertial parameters of a link are missing or not physical.

    """
    for name, link in zip(arm.tree.link_names, _stated(arm), strict=True):
        if link[0] == 0:
            raise ArmError(
                f"the arm '{arm.name}' cannot be simulated: the link at joint '{name}' has no "
                'mass; state it in the URDF or arm.yaml')
    check_possible(arm)


def check_possible(arm: ArmModel) -> None:
    """
    Make sure that bodies can have the nominal inertias of an arm, if it has any.

    Raises
    ------
    ArmError
        Those of a link are impossible; the message names the joint that moves it and the value.

    """
    for name, link in zip(arm.tree.link_names, () if arm.inertial is None else arm.inertial,
                          strict=arm.inertial is not None):
        eigenvalues = np.linalg.eigvalsh(pseudo_inertia(link))
        if link[0] >= 0 and eigenvalues[0] >= -ROUNDING * eigenvalues[-1]:
            continue
        reason = f'its mass is {link[0]:.4g} kg' if link[0] <= 0 else (
            'a principal moment of inertia is negative or above the sum of the others')
        raise ArmError(
            f"no body is like the link at joint '{name}' of the arm '{arm.name}': {reason}; "
            'correct the link in the URDF, or state it under "nominal" in arm.yaml')


@dataclass(frozen=True, eq=False)
class PinocchioArm:
    """
    An arm in Pinocchio, with scratch data: one thread at a time.

    Attributes
    ----------
    model, data : pinocchio.Model and pinocchio.Data
        One Pinocchio joint a joint, of the same frame and name, numbered depth first; followers
        move by themselves.
    order : (m,) ndarray of int
        Joint of the arm at each place of Pinocchio's vectors.
    place : (m,) ndarray of int
        Place of each joint of the arm in Pinocchio's vectors.

    """

    model: Any
    data: Any
    order: NDArray[np.intp]
    place: NDArray[np.intp]


@lru_cache(maxsize=16)
def pinocchio_arm(arm: ArmModel) -> PinocchioArm:
    """
    Build an arm in Pinocchio from its nominal parameters, rotor inertia included.

    Pinocchio's algorithms that work on subtrees (the mass matrix, the articulated bodies) need
    the joints of each subtree numbered without gaps; depth-first numbers are.

    Raises
    ------
    ArmError
        The arm has no nominal inertial parameters.

    """
    import pinocchio

    parameters = rigid_parameters(arm)
    model = pinocchio.Model()
    model.name = arm.name
    order = depth_first(arm)
    ids: dict[int, int] = {-1: 0}
    for joint in order:
        axis = arm.axis[joint]
        kind = pinocchio.JointModelPrismaticUnaligned(axis) if arm.tree.prismatic[joint] else (
            pinocchio.JointModelRevoluteUnaligned(axis))
        placement = pinocchio.SE3(arm.rotation[joint], arm.translation[joint])
        ids[joint] = model.addJoint(
            ids[int(arm.parent[joint])], kind, placement, arm.tree.link_names[joint])
        if parameters.inertial[joint, 0] > 0:
            body = pinocchio.Inertia(*_body(arm, parameters.inertial[joint]))
            model.appendBodyToJoint(ids[joint], body, pinocchio.SE3.Identity())
    model.gravity.linear = np.asarray(arm.gravity)
    places = np.array(order, dtype=np.intp)
    rotor = np.append(np.diag(parameters.rotor), np.zeros(arm.links - arm.n))
    model.armature = rotor[places]
    return PinocchioArm(model, model.createData(), places, np.argsort(places))


def _body(arm: ArmModel, inertial: Array) -> tuple[float, Array, Array]:
    """Mass, centre and inertia of a link; no moment is negative by rounding."""
    mass, center, inertia = inertial_to_com(inertial)
    moments, axes = np.linalg.eigh(inertia)
    if moments[0] >= 0:
        return mass, center, inertia
    if moments[0] < -ROUNDING * (moments[2] + mass * float(center @ center)):
        check_possible(arm)
    return mass, center, (axes * np.maximum(moments, 0)) @ axes.T


def depth_first(arm: ArmModel) -> list[int]:
    """Joints in depth-first order: each is followed by all that it carries."""
    carried: dict[int, list[int]] = {}
    for joint, carrier in enumerate(arm.parent):
        carried.setdefault(int(carrier), []).append(joint)
    order: list[int] = []
    waiting = carried.get(-1, [])[::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += carried.get(order[-1], [])[::-1]
    return order
