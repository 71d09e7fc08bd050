"""An identified model without dynid_ros: a Python file that needs NumPy alone, and a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import yaml

from dynid_ros.arm.friction import PRESLIDING_DISTANCE, WARM_SECONDS
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_to_com, parameter_units
from dynid_ros.dynamics.regressor import tree
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
Dynamics of the arm {name}, identified by dynid_ros. NumPy alone is needed.

    tau = torque(q, qd, qdd)    # of the drives: links, rotors and friction
    g = gravity(q)              # that holds the arm at rest, without friction
    M = mass_matrix(q)          # links and rotors

q, qd and qdd are positions, velocities and accelerations in rad, rad/s and rad/s² (m, m/s and m/s²
for prismatic joints), in the order of JOINTS, of one state (n,) or of any number (N, n). tau and g
have the same shape, in Nm (N for prismatic joints); M is (n, n) or (N, n, n), in kg m² (kg).

With the friction term viscous_warm, warmth is the root mean square of the speed of each joint over
the last {warm_seconds:g} s, rad/s; it is zero for cold joints. With the term presliding, that
argument holds z of each joint, from one sample to the next
z = sign(dq) + (z - sign(dq)) exp(-|dq| / {distance:g}); joints slide without it.
"""

import numpy as np

JOINTS = {joints}
PARENT = {parent}
PRISMATIC = {prismatic}
# Of the joint frames in their parents' links: rotations, and origins, m; axes in the joint frames.
ROTATION = np.array({rotation})
TRANSLATION = np.array({translation})
AXIS = np.array({axis})
# m/s², in the base frame.
GRAVITY = np.array({gravity})
# Motion of all joints of the tree, GEARING @ q + OFFSET: some may follow others.
GEARING, OFFSET = np.array({gearing}), np.array({offset})
# Of each link, about the origin of its joint's frame: m, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz,
# kg, kg m and kg m².
INERTIAL = np.array({inertial})
# Rotor inertia seen at the joint, kg m² (kg).
ROTOR = np.array({rotor})
# rad/s (m/s).
SMOOTH_SPEED, STRIBECK_SPEED = {smooth!r}, {stribeck!r}
# Coefficients of the joints, Nm per unit of their factor in torque().
FRICTION = {friction}


def torque(q, qd=0.0, qdd=0.0, warmth=0.0, presliding=None):
    """Torque of the drives at the joints, with rotor inertia and friction, (n,) or (N, n), Nm."""
    q, qd, qdd = _states(q, qd, qdd)
    tau = rigid_torque(q, qd, qdd) + ROTOR * qdd
{terms}    return tau


def gravity(q):
    """Torque that holds the arm at rest, without friction, (n,) or (N, n), Nm."""
    return rigid_torque(q)


def mass_matrix(q):
    """Mass matrix of links and rotors, (n, n) or (N, n, n), kg m²."""
    columns = [rigid_torque(q, 0.0, unit, np.zeros(3)) for unit in np.eye(len(JOINTS))]
    return np.stack(columns, axis=-1) + np.diag(ROTOR)


def rigid_torque(q, qd=0.0, qdd=0.0, gravity=GRAVITY):
    """Torque that the links need, by the recursion of Newton and Euler, (n,) or (N, n), Nm."""
    q, qd, qdd = _states(q, qd, qdd)
    q, qd, qdd = q @ GEARING.T + OFFSET, qd @ GEARING.T, qdd @ GEARING.T
    turns, arms, motions, wrenches = [], [], [], []
    for i, parent in enumerate(PARENT):
        axis, zero = AXIS[i], np.zeros((*q.shape[:-1], 3))
        w, dw, a = motions[parent] if parent >= 0 else (zero, zero, zero - gravity)
        x, v, dv = (axis * state[..., i, None] for state in (q, qd, qdd))
        R = ROTATION[i] @ _turn(axis, 0.0 * q[..., i] if PRISMATIC[i] else q[..., i])
        p = TRANSLATION[i] + (x @ ROTATION[i].T if PRISMATIC[i] else zero)
        a = _into(R, a + np.cross(dw, p) + np.cross(w, np.cross(w, p)))
        w, dw = _into(R, w), _into(R, dw)
        if PRISMATIC[i]:
            a = a + dv + 2 * np.cross(w, v)
        else:
            dw = dw + dv + np.cross(w, v)
            w = w + v
        m, h, I = _link(INERTIAL[i])
        force = m * a + np.cross(dw, h) + np.cross(w, np.cross(w, h))
        moment = dw @ I + np.cross(w, w @ I) + np.cross(h, a)
        turns.append(R)
        arms.append(p)
        motions.append((w, dw, a))
        wrenches.append([force, moment])
    tau = np.zeros(q.shape)
    for i in reversed(range(len(PARENT))):
        force, moment = wrenches[i]
        tau[..., i] = (force if PRISMATIC[i] else moment) @ AXIS[i]
        if PARENT[i] >= 0:
            carried, onto = _out_of(turns[i], force), wrenches[PARENT[i]]
            onto[0] = onto[0] + carried
            onto[1] = onto[1] + _out_of(turns[i], moment) + np.cross(arms[i], carried)
    return tau @ GEARING


def _states(q, *rates):
    q = np.asarray(q, dtype=float)
    if q.shape[-1:] != (len(JOINTS),):
        n = len(JOINTS)
        raise ValueError(f'q must have the shape ({{n}},) or (N, {{n}}), but has {{q.shape}}')
    return np.broadcast_arrays(q, *(np.asarray(rate, dtype=float) for rate in rates))


def _turn(axis, angle):
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = angle[..., None, None]
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def _into(R, vector):
    return np.einsum('...ji,...j->...i', R, vector)


def _out_of(R, vector):
    return np.einsum('...ij,...j->...i', R, vector)


def _link(p):
    xx, xy, xz, yy, yz, zz = p[4:]
    return p[0], p[1:4], np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
'''


def python_of(arm: ArmModel) -> str:
    """
    Write a Python file that computes torque, gravity and mass matrix of an arm.

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
    order = arm.tree.order
    terms = ''.join(f"    tau = tau + np.array(FRICTION['{name}']) * ({FRICTION[name]})\n"
                    for name in arm.friction)
    return _PYTHON.format(
        name=arm.name, joints=arm.joint_names, parent=tree(arm).parent.tolist(),
        prismatic=arm.tree.prismatic[order].tolist(), rotation=arm.rotation[order].tolist(),
        translation=arm.translation[order].tolist(), axis=arm.axis[order].tolist(),
        gearing=arm.tree.gearing[order].tolist(),
        offset=arm.tree.positions(np.zeros(arm.n))[order].tolist(),
        gravity=arm.gravity.tolist(), inertial=arm.inertial[order].tolist(),
        rotor=rotor.tolist(),
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

    for joint, name in enumerate(model.arm.tree.link_names):
        columns = layout.inertial(joint)
        mass, center, inertia = inertial_to_com(found.values[columns])
        links[name] = {
            'mass': mass, 'mass_std': float(found.std[columns][0]),
            'center_of_mass': center.tolist(),
            'inertia_about_center': dict(zip(
                ('xx', 'xy', 'xz', 'yy', 'yz', 'zz'), inertia[np.triu_indices(3)].tolist(),
                strict=True)),
            **stated(range(columns.stop, min(joint + 1, layout.joints) * layout.block))}
    header = ('# Physically possible parameters, by dynid_ros: links by the joint that moves them '
              'and in its frame; kg, m, kg m².\n')
    coupling = stated(range(layout.first_coupling, layout.size))
    text: str = yaml.safe_dump({
        'arm': model.arm.name, 'links': links, **({'coupling': coupling} if coupling else {}),
    }, sort_keys=False)
    return header + text
