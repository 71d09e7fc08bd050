"""An identified model without dynid_ros: a Python file that needs NumPy alone, and a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import yaml

from dynid_ros.arm.friction import PRESLIDING_DISTANCE, WARM_SECONDS
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_to_com, parameter_units
from dynid_ros.errors import ArmError
from dynid_ros.estimation.model.identified_model import IdentifiedModel

#: Friction terms as Python, of the speeds qd, the history and the load of the joints.
FRICTION = {
    'viscous': 'qd',
    'coulomb': 'np.sign(qd)',
    'offset': 'np.ones_like(qd)',
    'coulomb_smooth': 'np.tanh(qd / SMOOTH_SPEED)',
    'sign_10': 'np.tanh(qd / 0.01)',
    'sign_100': 'np.tanh(qd / 0.1)',
    'sign_1000': 'np.tanh(qd)',
    'stribeck': 'np.tanh(qd / SMOOTH_SPEED) * np.exp(-np.abs(qd) / STRIBECK_SPEED)',
    'viscous_cuberoot': 'np.cbrt(qd)',
    'viscous_warm': 'warmth * qd',
    'presliding': 'np.sign(qd) if presliding is None else np.asarray(presliding, dtype=float)',
    'load': 'np.abs(rigid_torque(q, 0 * q, 0 * q)) * np.tanh(qd / SMOOTH_SPEED)',
}

_PYTHON = '''\
"""
Torque of the arm {name}, identified by dynid_ros.

    tau = torque(q, qd, qdd)

with q, qd, qdd of shape (n,), rad, rad/s, rad/s² (m for prismatic joints), in the order of JOINTS;
tau in Nm (N). With the friction term viscous_warm, warmth is the root mean square of the speed of
each joint over the last {warm_seconds:g} s; it is zero for cold joints. With the term presliding,
that argument holds z of each joint, from one sample to the next
z = sign(dq) + (z - sign(dq)) exp(-|dq| / {distance:g}); joints slide without it.
"""

import numpy as np

JOINTS = {joints}
PARENT = {parent}
PRISMATIC = {prismatic}
ROTATION = np.array({rotation})
TRANSLATION = np.array({translation})
AXIS = np.array({axis})
GRAVITY = np.array({gravity})
# Of each link, about the origin of its joint's frame: m, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz.
INERTIAL = np.array({inertial})
ROTOR = np.array({rotor})
SMOOTH_SPEED, STRIBECK_SPEED = {smooth!r}, {stribeck!r}
FRICTION = {friction}


def torque(q, qd, qdd, warmth=0.0, presliding=None):
    """Torque of the drives at the joints, with rotor inertia and friction."""
    q, qd, qdd = (np.asarray(x, dtype=float) for x in (q, qd, qdd))
    tau = rigid_torque(q, qd, qdd) + ROTOR * qdd
{terms}    return tau


def rigid_torque(q, qd, qdd):
    """Torque that the links need, by the recursion of Newton and Euler."""
    n = len(PARENT)
    turns, arms, motions, wrenches = [], [], [], []
    for i in range(n):
        axis, parent = AXIS[i], PARENT[i]
        w, dw, a = motions[parent] if parent >= 0 else (np.zeros(3), np.zeros(3), -GRAVITY)
        R = ROTATION[i] if PRISMATIC[i] else ROTATION[i] @ _turn(axis, q[i])
        p = TRANSLATION[i] + (ROTATION[i] @ axis * q[i] if PRISMATIC[i] else 0)
        a = R.T @ (a + np.cross(dw, p) + np.cross(w, np.cross(w, p)))
        w, dw = R.T @ w, R.T @ dw
        if PRISMATIC[i]:
            a = a + axis * qdd[i] + 2 * np.cross(w, axis * qd[i])
        else:
            dw = dw + axis * qdd[i] + np.cross(w, axis * qd[i])
            w = w + axis * qd[i]
        m, h, I = _link(INERTIAL[i])
        force = m * a + np.cross(dw, h) + np.cross(w, np.cross(w, h))
        moment = I @ dw + np.cross(w, I @ w) + np.cross(h, a)
        turns.append(R)
        arms.append(p)
        motions.append((w, dw, a))
        wrenches.append([force, moment])
    tau = np.zeros(n)
    for i in reversed(range(n)):
        force, moment = wrenches[i]
        tau[i] = AXIS[i] @ (force if PRISMATIC[i] else moment)
        if PARENT[i] >= 0:
            carried = turns[i] @ force
            wrenches[PARENT[i]][0] = wrenches[PARENT[i]][0] + carried
            wrenches[PARENT[i]][1] = (
                wrenches[PARENT[i]][1] + turns[i] @ moment + np.cross(arms[i], carried))
    return tau


def _turn(axis, angle):
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def _link(p):
    xx, xy, xz, yy, yz, zz = p[4:]
    return p[0], p[1:4], np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
'''


def python_of(arm: ArmModel) -> str:
    """
    Write a Python file that computes the torque of an arm.

    Parameters
    ----------
    arm : ArmModel
        With nominal inertial parameters, rotor inertia and friction.

    Raises
    ------
    ArmError
        Joints are coupled, which the file has no terms for.

    """
    if arm.coupling:
        raise ArmError(f"the joints of '{arm.name}' are coupled, which the Python file does not "
                       'compute; use dynid_ros itself')
    assert arm.inertial is not None
    rotor = np.zeros(arm.n) if arm.rotor_nominal is None else arm.rotor_nominal
    terms = ''.join(f"    tau = tau + np.array(FRICTION['{name}']) * ({FRICTION[name]})\n"
                    for name in arm.friction)
    return _PYTHON.format(
        name=arm.name, joints=arm.joint_names, parent=arm.parent.tolist(),
        prismatic=arm.prismatic.tolist(), rotation=arm.rotation.tolist(),
        translation=arm.translation.tolist(), axis=arm.axis.tolist(),
        gravity=arm.gravity.tolist(), inertial=arm.inertial.tolist(), rotor=rotor.tolist(),
        smooth=arm.friction_shape.smooth_speed, stribeck=arm.friction_shape.stribeck_speed,
        friction={name: arm.friction_nominal[name].tolist() for name in arm.friction},
        terms=terms, warm_seconds=WARM_SECONDS, distance=PRESLIDING_DISTANCE)


def table_of(model: IdentifiedModel) -> str:
    """Write the links, rotor inertia, friction and couplings of a model as YAML."""
    found, layout = model.standard_parameters(), model.arm.layout
    units = dict(zip(found.names, parameter_units(model.arm), strict=True))
    links: dict[str, Any] = {}

    def stated(columns: range) -> dict[str, Any]:
        return {found.names[k]: {'value': float(found.values[k]), 'std': float(found.std[k]),
                                 'unit': units[found.names[k]]} for k in columns}

    for joint, name in enumerate(model.arm.joint_names):
        columns = layout.inertial(joint)
        mass, center, inertia = inertial_to_com(found.values[columns])
        links[name] = {
            'mass': mass, 'mass_std': float(found.std[columns][0]),
            'center_of_mass': center.tolist(),
            'inertia_about_center': dict(zip(
                ('xx', 'xy', 'xz', 'yy', 'yz', 'zz'), inertia[np.triu_indices(3)].tolist(),
                strict=True)),
            **stated(range(columns.stop, (joint + 1) * layout.block))}
    header = ('# Physically possible parameters, by dynid_ros: links by the joint that moves them '
              'and in its frame; kg, m, kg m².\n')
    coupling = stated(range(model.arm.n * layout.block, layout.size))
    text: str = yaml.safe_dump({
        'arm': model.arm.name, 'links': links, **({'coupling': coupling} if coupling else {}),
    }, sort_keys=False)
    return header + text
