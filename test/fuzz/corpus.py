# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Good inputs of all kinds, small, of one arm of two joints."""

from __future__ import annotations

from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores
from scipy.io import savemat

from dynid_ros.arm.drive import JOINT_STATE
from dynid_ros.data.files.joint_state_cdr import encode
from dynid_ros.interface.cli.main import main

ARM = """\
name: small
description:
  mdh:
    units: {length: m, angle: deg}
    rows:
    - {alpha: 0, a: 0, d: 0.1, theta: 0}
    - {alpha: 90, a: 0.3, d: 0.0, theta: 10, kind: revolute}
joints: [joint_1, joint_2]
aliases: [[pan, lift]]
gravity: [0, 0, -9.81]
drive: {signal: effort, unit: Nm, sign: [1, 1], gear_ratio: [1, 1.0], offset: [0, 0]}
friction: [viscous, coulomb]
friction_shape: {smooth_speed: 0.03, stribeck_speed: 0.1}
rotor_inertia: true
limits:
  lower: [-2.0, -2.0]
  upper: [2, 2]
  velocity: [2, 2]
  acceleration: [5, 5]
  effort: [90, 90]
  position_margin: 0.01
conditioning: {cutoff_hz: 8, filter: butterworth, delay: 0.001}
table: {rate_hz: 100, header: [t, q_0, q_1, tau_0, tau_1]}
coupling: {K: {quantity: qdd, rows: {joint_1: {joint_2: 1}, joint_2: {joint_1: 1}}}}
nominal:
  links:
  - {mass: 2, com: [0.1, 0, 0], inertia: [0.01, 0, 0, 0.02, 0, 0.02]}
  - {mass: 1.0, com: [0.1, 0, 0], inertia: [0.01, 0, 0, 0.02, 0, 0.02]}
  rotor_inertia: [0.1, 0.1]
  viscous: [0.5, 0.5]
tool: {translation: [0.1, 0, 0], rpy: [0, 0, 0.1], joint: joint_2}
tolerances: {units: {length: mm, angle: deg}, a: 0.1, alpha: 0.05, d: [0.1, 0.2], reading: 0.01}
collision:
- {link: joint_1, from: [0, 0, 0], to: [0.3, 0, 0], radius: 0.05}
environment: {floor: -1, clearance: 0.01, walls: [{point: [2, 0, 0], normal: [-1, 0, 0]}]}
links: {total_mass: [1, 9], mass: {joint_1: [0.5, 5]}}
"""
_LINK = """\
  <link name="{name}">
    <inertial><mass value="1.5"/><origin xyz="0.1 0 0" rpy="0 0 0"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
    <collision><geometry><box size="0.1 0.1 0.3"/></geometry></collision>
  </link>
"""
_JOINT = """\
  <joint name="{name}" type="revolute">
    <parent link="{parent}"/><child link="{child}"/>
    <origin xyz="0.3 0 0.1" rpy="0 0.5 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="90" velocity="2"/><dynamics damping="0.1" friction="0.2"/>
  </joint>
"""
URDF = (
    '<?xml version="1.0" encoding="utf-8"?>\n<robot name="small">\n  <link name="base"/>\n'
    + ''.join(_LINK.format(name=name) for name in ('one', 'two', 'finger'))
    + _JOINT.format(name='joint_1', parent='base', child='one')
    + _JOINT.format(name='joint_2', parent='one', child='two')
    + _JOINT.format(name='jaw', parent='two', child='finger').replace(
        '<limit', '<mimic joint="joint_2" multiplier="1" offset="0"/><limit')
    + '</robot>\n')
NAMES = ('joint_1', 'joint_2')
T = 1e9 + np.arange(400) / 100
Q = np.stack([np.sin(3 * (T - T[0])), np.cos(4 * (T - T[0]))], axis=1)
TAU = np.stack([8 * np.cos(3 * (T - T[0])), 5 * Q[:, 1]], axis=1)


def messages() -> tuple[np.ndarray, list[bytes]]:
    """Stamps, ns, and messages in CDR."""
    stamps = np.rint(T * 1e9).astype(np.int64)
    return stamps, [row.tobytes() for row in encode(NAMES, stamps, (Q, None, TAU))]


def write_bag(path: Path, stamps: np.ndarray, rows: list[bytes], *, mcap: bool) -> None:
    """Write messages of any content as a bag."""
    store = StoragePlugin.MCAP if mcap else StoragePlugin.SQLITE3
    with Writer(path, version=9, storage_plugin=store) as writer:
        connection = writer.add_connection(
            '/joint_states', JOINT_STATE, typestore=get_typestore(Stores.ROS2_HUMBLE))
        for stamp, row in zip(stamps.tolist(), rows, strict=True):
            writer.write(connection, stamp, row)


def write_corpus(folder: Path) -> None:
    """Write a file of each kind: descriptions, recordings, a result and a motion."""
    (folder / 'arm.yaml').write_text(ARM)
    (folder / 'arm.urdf').write_text(URDF)
    np.savez(folder / 'log.npz', t=T, q=Q, tau=TAU)
    # Another motion: samples that the model was fitted to are no recording of a load.
    np.savez(folder / 'loaded.npz', t=T, q=0.9 * Q[:, ::-1], tau=1.3 * TAU[:, ::-1])
    table = np.column_stack([T - T[0], Q, TAU])
    (folder / 'log.csv').write_text('t,q_0,q_1,tau_0,tau_1\n' + '\n'.join(
        ','.join(f'{value:.6g}' for value in row) for row in table) + '\n')
    (folder / 'printed.csv').write_text(''.join(
        f'{int(t) + 1},{int(1e9 * (t % 1))},,joint_2,joint_1,{q[1]},{q[0]},,{tau[1]},{tau[0]}\n'
        for t, q, tau in zip((T - T[0]).tolist(), Q.tolist(), TAU.tolist(), strict=True)))
    savemat(folder / 'log.mat', {'t': T, 'q': Q, 'tau': TAU})
    for name in ('mcap', 'db3'):
        write_bag(folder / name, *messages(), mcap=name == 'mcap')
    with redirect_stdout(None):
        _write_computed(folder)


def _write_computed(folder: Path) -> None:
    arm = ['--arm', str(folder / 'arm.yaml')]
    assert main(['identify', str(folder / 'log.npz'), *arm, '--friction', 'viscous', '-o',
                 str(folder / 'result')]) in (0, 1)
    assert main(['design', str(folder / 'arm.yaml'), '-o', str(folder / 'motion.yaml'), '--period',
                 '2', '--periods', '1', '--harmonics', '2', '--time', '5', '--starts', '1']) == 0
    assert main(['feedforward', str(folder / 'motion.yaml'), '--model', str(folder / 'result'),
                 '--rate', '10', '-o', str(folder / 'points.yaml')]) in (0, 1)
