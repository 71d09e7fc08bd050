"""The nominal arm in Pinocchio."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_to_com
from dynid_ros.dynamics.rigid_parameters import rigid_parameters

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PinocchioArm:
    """
    An arm in Pinocchio, with scratch data: one thread at a time.

    Attributes
    ----------
    model, data : pinocchio.Model and pinocchio.Data
        One Pinocchio joint a joint, of the same frame and name, numbered depth first.
    order : (n,) ndarray of int
        Joint of the arm at each place of Pinocchio's vectors.
    place : (n,) ndarray of int
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
        kind = pinocchio.JointModelPrismaticUnaligned(axis) if arm.prismatic[joint] else (
            pinocchio.JointModelRevoluteUnaligned(axis))
        placement = pinocchio.SE3(arm.rotation[joint], arm.translation[joint])
        ids[joint] = model.addJoint(
            ids[int(arm.parent[joint])], kind, placement, arm.joint_names[joint])
        if parameters.inertial[joint, 0] > 0:
            body = pinocchio.Inertia(*inertial_to_com(parameters.inertial[joint]))
            model.appendBodyToJoint(ids[joint], body, pinocchio.SE3.Identity())
    model.gravity.linear = np.asarray(arm.gravity)
    places = np.array(order, dtype=np.intp)
    model.armature = np.diag(parameters.rotor)[places]
    return PinocchioArm(model, model.createData(), places, np.argsort(places))


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
