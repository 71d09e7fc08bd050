# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The arms that come with the package."""

from pathlib import Path
import shutil
import subprocess
import sys

import numpy as np
from oracles import link_poses, pinocchio_model
import pinocchio as pin
import pytest
import yaml

from dynid_ros.arm import load_arm, shipped_arms
from dynid_ros.arm.description.dh import dh_placements
from dynid_ros.arm.parameters import is_physical

ROOT = Path(__file__).resolve().parents[2]
ARMS = ('gluon_6l3', 'hand_leg', 'panda', 'two_axis', 'tx40', 'ur10')


def rz(angle):
    return pin.utils.rotate('z', angle)


def test_the_promised_arms_are_there():
    assert shipped_arms() == ARMS


@pytest.mark.parametrize('name', ARMS)
def test_every_arm_loads_silently_and_is_physical(name, capfd):
    arm = load_arm(name)
    assert capfd.readouterr() == ('', '')
    assert arm.name == name
    assert all(is_physical(link) for link in arm.inertial)
    assert (arm.limits.lower < arm.limits.upper).all()
    assert np.isfinite(arm.limits.effort).all()


@pytest.mark.parametrize('name', ARMS)
def test_every_arm_can_hold_itself_within_its_effort_limits(name):
    arm = load_arm(name)
    model = pinocchio_model(arm)
    data = model.createData()
    rng = np.random.default_rng(0)
    for q in rng.uniform(np.maximum(arm.limits.lower, -np.pi),
                         np.minimum(arm.limits.upper, np.pi), (200, arm.n)):
        assert (np.abs(pin.computeGeneralizedGravity(model, data, q)) < arm.limits.effort).all()


def test_installed_arms_are_found_from_the_prefix(tmp_path):
    package = tmp_path / 'lib' / 'python3' / 'site-packages' / 'dynid_ros'
    shutil.copytree(ROOT / 'dynid_ros', package, ignore=shutil.ignore_patterns('__pycache__'))
    shutil.copytree(ROOT / 'config', tmp_path / 'share' / 'dynid_ros' / 'config')
    code = ('import dynid_ros.arm as arm; '
            'print(arm.__file__, [arm.load_arm(name).name for name in arm.shipped_arms()])')
    done = subprocess.run(
        [sys.executable, '-c', code], cwd=package.parent, capture_output=True, text=True)
    assert done.stderr == ''
    assert done.stdout == f'{package}/arm/__init__.py {list(ARMS)}\n'


def test_ur10_urdf_has_the_link_frames_of_its_dh_table():
    arm = load_arm('ur10')
    alpha, a = np.array([90, 0, 0, 90, -90, 0]) * np.pi / 180, [0, -0.612, -0.5723, 0, 0, 0]
    table = np.array([alpha, a, [0.1273, 0, 0, 0.163941, 0.1157, 0.0922], np.zeros(6)]).T
    rotation, translation = dh_placements(table, modified=False)
    q = np.random.default_rng(1).uniform(-3, 3, 6)
    pose = pin.SE3.Identity()
    for i, urdf in enumerate(link_poses(arm, q)):
        pose = pose * pin.SE3(rotation[i], translation[i]) * pin.SE3(rz(q[i]), np.zeros(3))
        # The URDF writes pi / 2 with 17 digits.
        np.testing.assert_allclose(urdf.homogeneous, pose.homogeneous, rtol=0, atol=1e-14)


@pytest.mark.parametrize('name', ['ur10', 'panda'])
def test_kinematics_agree_with_those_beside_the_recordings(shared_data, name):
    table = yaml.safe_load((shared_data / name / 'kinematics.yaml').read_text())
    rotation, translation = dh_placements(
        np.array(table['rows']), modified=table['convention'] == 'modified_dh')
    arm = load_arm(name)
    np.testing.assert_allclose(arm.rotation, rotation, rtol=0, atol=1e-15)
    np.testing.assert_allclose(arm.translation, translation, rtol=0, atol=1e-15)


def test_tx40_agrees_with_the_urdf_beside_its_recording(shared_data):
    arm = load_arm('tx40')
    theirs = load_arm(shared_data / 'tx40' / 'tx40_mdh_modified.urdf')
    # That file writes pi / 2 with twelve digits.
    np.testing.assert_allclose(arm.rotation, theirs.rotation, rtol=0, atol=1e-11)
    np.testing.assert_allclose(arm.translation, theirs.translation, rtol=0, atol=0)
    np.testing.assert_allclose(arm.inertial[:5], theirs.inertial[:5], rtol=0, atol=1e-11)
    np.testing.assert_array_equal(arm.limits.upper, theirs.limits.upper)


def test_tx40_motors_and_joints_do_the_same_work():
    drive = load_arm('tx40').drive
    motion, effort = np.random.default_rng(2).normal(size=(2, 6))
    motor_motion = drive.transmission @ motion
    joint_effort = drive.transmission.T @ (drive.gain * effort)
    assert effort @ motor_motion == pytest.approx(joint_effort @ motion)
    # Motor 5 turns joint 6 along: joint 5 feels motor 6.
    assert drive.transmission[5, 4] == drive.transmission[5, 5] == 32


def test_tx40_wrist_coupling_gives_equal_and_mutual_terms():
    inertia, viscous, coulomb = load_arm('tx40').coupling
    x = np.arange(1.0, 7.0)
    np.testing.assert_array_equal(inertia.matrix @ x, [0, 0, 0, 0, 6, 5])
    np.testing.assert_array_equal(viscous.matrix @ x, [0, 0, 0, 0, 6, 5])
    np.testing.assert_array_equal(coulomb.matrix @ x, [0, 0, 0, 0, 11, 11])
    assert [c.quantity for c in (inertia, viscous, coulomb)] == ['qdd', 'qd', 'sign_qd']


def gluon_article(q):
    """Rotations and offsets of the Gluon-6L3 as the seed article prints them, multiplied up."""
    c, s = np.cos(q), np.sin(q)
    a3, a4, d2, d4, d5, d6 = 0.17442, 0.17442, 0.08009, -0.00444, 0.08009, 0.04436
    steps = [
        ([[c[0], -s[0], 0], [s[0], c[0], 0], [0, 0, 1]], [0, 0, 0]),
        ([[-s[1], -c[1], 0], [0, 0, -1], [c[1], -s[1], 0]], [0, -d2, 0]),
        ([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]], [a3, 0, 0]),
        ([[s[3], c[3], 0], [-c[3], s[3], 0], [0, 0, 1]], [a4, 0, d4]),
        ([[c[4], -s[4], 0], [0, 0, 1], [-s[4], -c[4], 0]], [0, d5, 0]),
        ([[c[5], -s[5], 0], [0, 0, -1], [s[5], c[5], 0]], [0, -d6, 0]),
    ]
    pose = pin.SE3.Identity()
    for rotation, translation in steps:
        pose = pose * pin.SE3(np.array(rotation), np.array(translation, dtype=float))
        yield pose


def test_gluon_has_the_joint_axes_and_origins_of_the_article():
    arm = load_arm('gluon_6l3')
    q = np.random.default_rng(3).uniform(-3, 3, 6)
    for i, (ours, theirs) in enumerate(zip(link_poses(arm, q), gluon_article(q), strict=True)):
        # With alpha of the other sign, x of frames 1, 4 and 5 points the other way.
        turned = pin.SE3(rz(np.pi if i in (0, 3, 4) else 0.0), np.zeros(3))
        np.testing.assert_allclose(
            ours.homogeneous, (theirs * turned).homogeneous, rtol=0, atol=1e-14)


def test_gluon_stands_upright_with_its_weight_inside_the_arm_at_zero():
    arm = load_arm('gluon_6l3')
    poses = link_poses(arm, np.zeros(6))
    height = [pose.translation[2] for pose in poses]
    np.testing.assert_allclose(height, [0, 0, 0.17442, 0.34884, 0.42893, 0.42893], atol=1e-12)
    for pose, link in zip(poses, arm.inertial, strict=True):
        assert abs(pose.act(link[1:4] / link[0])[0]) < 1e-3


def two_axis_closed_form(q, qd, qdd):
    """Torques of the seed article: M qdd, the Christoffel terms of M, and gravity."""
    th1, th2, th3, th4, th5 = 0.025, 0.001624, 0.00153, 0.001634, 0.0102 * 9.81
    s, c = np.sin(q[1]), np.cos(q[1])
    mass = np.array([[th1 + th2 * s**2, th3 * c], [th3 * c, th4]])
    velocity = [2 * th2 * s * c * qd[0] * qd[1] - th3 * s * qd[1]**2, -th2 * s * c * qd[0]**2]
    return mass @ qdd + velocity + np.array([0, -th5 * s])


def test_two_axis_moves_as_the_closed_form_says():
    model = pinocchio_model(load_arm('two_axis'))
    data = model.createData()
    # Torques of order one, a few dozen roundings each.
    for q, qd, qdd in np.random.default_rng(4).uniform(-5, 5, (50, 3, 2)):
        np.testing.assert_allclose(
            pin.rnea(model, data, q, qd, qdd), two_axis_closed_form(q, qd, qdd),
            rtol=0, atol=1e-13)


def test_two_axis_drive_is_motor_times_amplifier():
    drive = load_arm('two_axis').drive
    assert drive.signal == 'voltage'
    np.testing.assert_allclose(drive.gain, [0.0897 * 1.5, 0.0551], rtol=1e-15)


def test_panda_recording_may_use_either_set_of_joint_names():
    arm = load_arm('panda')
    assert arm.joint_names[0] == 'fer_joint1'
    assert [names[-1] for names in arm.aliases] == ['panda_joint7']
