"""A MuJoCo model of an arm, from its nominal parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import EXTENT, inertial_to_com
from dynid_ros.dynamics.rigid_parameters import check_physical

#: Distance of the end stops behind the position limits, by the range of the joint. Limits of the
#: control lie some degrees before the stops, and a motion that uses them fully must not touch.
STOP_DISTANCE = 0.05
#: Time constant of the end stops, by the step of the integration, which bears two (MuJoCo,
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
    spec = mujoco.MjSpec()
    spec.modelname = arm.name
    spec.compiler.degree = False
    spec.option.timestep = timestep
    spec.option.gravity = arm.gravity
    bodies: dict[int, Any] = {}
    rotor = arm.rotor_nominal
    for joint in arm.tree.order.tolist():
        parent = spec.worldbody if arm.parent[joint] < 0 else bodies[arm.parent[joint]]
        bodies[joint] = _add_link(parent, arm, joint)
        driven = joint < arm.n
        stops = _end_stops(arm, joint) if driven else None
        bodies[joint].add_joint(
            name=arm.tree.link_names[joint],
            type=mujoco.mjtJoint.mjJNT_SLIDE if arm.tree.prismatic[joint] else (
                mujoco.mjtJoint.mjJNT_HINGE),
            axis=arm.axis[joint],
            armature=0.0 if rotor is None or not driven else float(rotor[joint]),
            limited=bool(stops),
            range=stops or (0.0, 0.0),
            solref_limit=(STOP_STEPS * timestep, 1.0),
        )
    for each in arm.tree.followers:
        gearing = spec.add_equality(
            type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT, name1=each.name,
            name2=arm.joint_names[each.leader], solref=(2 * timestep, 1.0), solimp=RIGID)
        gearing.data[:2] = each.offset, each.multiplier
    return spec.compile()


def joint_order(model: Any, arm: ArmModel) -> np.ndarray[Any, np.dtype[np.intp]]:
    """
    Degree of freedom of each joint of an arm in its MuJoCo model, (m,): the n with drives first.

    MuJoCo numbers the bodies of a branched tree depth first, whatever the order of the joints.
    """
    return np.array([int(model.joint(name).dofadr[0]) for name in arm.tree.link_names],
                    dtype=np.intp)


def _end_stops(arm: ArmModel, joint: int) -> tuple[float, float] | None:
    """Positions of the end stops of a joint, or None if it has none."""
    lower, upper = float(arm.limits.lower[joint]), float(arm.limits.upper[joint])
    if not (np.isfinite([lower, upper]).all() and lower < upper):
        return None
    behind = STOP_DISTANCE * (upper - lower)
    return lower - behind, upper + behind


def _add_link(parent: Any, arm: ArmModel, joint: int) -> Any:
    """Add the body that a joint moves, with its inertia about the centre of mass."""
    import mujoco

    assert arm.inertial is not None
    mass, com, inertia = inertial_to_com(arm.inertial[joint])
    xx, yy, zz = np.diag(inertia) + EXTENT
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(arm.rotation[joint]).ravel())
    return parent.add_body(
        name=f'link of {arm.tree.link_names[joint]}',
        pos=arm.translation[joint],
        quat=quaternion,
        mass=mass,
        ipos=com,
        fullinertia=[xx, yy, zz, inertia[0, 1], inertia[0, 2], inertia[1, 2]],
        explicitinertial=True,
    )
