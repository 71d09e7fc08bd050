# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""MJCF reading against MuJoCo itself."""

import mujoco
import numpy as np
from oracles import link_poses, pinocchio_model
import pinocchio as pin
import pytest
from urdf_files import MJCF

from dynid_ros.arm.description.mjcf import dissipation, mjcf_as_urdf
from dynid_ros.arm.description.urdf import read_urdf
from dynid_ros.arm.load import load_arm
from dynid_ros.errors import ArmError

SEED = 3


@pytest.fixture
def path(tmp_path):
    file = tmp_path / 'odd.xml'
    file.write_text(MJCF)
    return file


def test_joint_torque_is_mujocos_at_any_state(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    model.dof_armature[:], model.dof_damping[:], model.dof_frictionloss[:] = 0, 0, 0
    data = mujoco.MjData(model)
    arm = read_urdf(path)
    assert arm.tree.joint_names == ('yaw', 'pitch', 'lift')
    (path.parent / 'arm.yaml').write_text('description: {urdf: odd.xml}\n')
    oracle = pinocchio_model(load_arm(path.parent))
    rng = np.random.default_rng(SEED)
    for _ in range(20):
        # Within the limits, whose reaction is no part of the torque.
        q = rng.uniform([-2, -1, -0.2], [2, 1, 0.3])
        qd, qdd = rng.normal(size=(2, 3))
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        np.testing.assert_allclose(
            pin.rnea(oracle, oracle.createData(), q, qd, qdd), data.qfrc_inverse, atol=1e-10)


def test_links_stand_where_mujoco_puts_them(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    q = np.array([0.7, -0.5, 0.2])
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    pose = link_poses(read_urdf(path).tree, q)[-1]
    # The slider has its joint at the body's own origin.
    np.testing.assert_allclose(pose.translation, data.body('slider').xpos, atol=1e-12)
    np.testing.assert_allclose(pose.rotation.ravel(), data.body('slider').xmat, atol=1e-12)


def test_limits_and_dissipation_are_those_of_the_file(path):
    limits = read_urdf(path).limits
    np.testing.assert_array_equal(limits.lower, [-2, -1, -0.2])
    np.testing.assert_array_equal(limits.effort, [100, np.inf, np.inf])
    for found, value in zip(dissipation(path, ('lift', 'yaw')), (0.1, 0.2, 0.3), strict=True):
        assert found.tolist() == [0, value]


def test_collision_geometry_is_written_as_urdf_has_it(path):
    shapes = [shape.tag for shape in mjcf_as_urdf(path).iterfind('.//collision/geometry/*')]
    assert shapes == ['box', 'cylinder', 'sphere', 'sphere']


def test_an_equality_of_joints_is_a_mimic(path):
    path.write_text(MJCF.replace('<actuator>', (
        '<equality><joint joint1="lift" joint2="yaw" polycoef="0.1 2 0 0 0"/></equality>'
        '<actuator>')))
    assert read_urdf(path).tree.joint_names == ('yaw', 'pitch')


def test_a_free_body_is_fixed_with_a_word(path):
    path.write_text(MJCF.replace(
        '<geom type="box" size="0.05 0.06 0.07" mass="2"/>',
        '<freejoint/><geom type="box" size="0.05 0.06 0.07" mass="2"/>'))
    read = read_urdf(path)
    assert read.doubts == ('the free body "base" is fixed where it stands',)
    assert read.tree.joint_names == ('yaw', 'pitch', 'lift')


SHELL = MJCF.replace('<worldbody>', (
    '<asset><mesh name="shell" file="no.stl"/><texture name="skin" type="2d" file="no.png"/>'
    '<material name="skin" texture="skin"/></asset><worldbody>')).replace(
        '<geom type="capsule"',
        '<geom type="mesh" mesh="shell" material="skin" {touch}/><geom type="capsule"')


@pytest.mark.filterwarnings('error')
def test_what_is_only_seen_may_be_missing(path):
    whole = read_urdf(path)
    path.write_text(SHELL.format(touch='contype="0" conaffinity="0"'))
    np.testing.assert_array_equal(read_urdf(path).inertial, whole.inertial)


def test_a_missing_shape_that_touches_is_named_and_one_that_weighs_refused(path):
    path.write_text(SHELL.format(touch=''))
    (doubt,) = read_urdf(path).doubts
    assert 'do without the missing no.stl' in doubt
    path.write_text(SHELL.format(touch='contype="0" conaffinity="0"').replace(
        '<inertial pos="0.02 0.01 0.1" mass="3" fullinertia="0.03 0.04 0.02 0.001 0.002 0.003"/>',
        '').replace('<geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.04"/>', ''))
    with pytest.raises(ArmError, match=r'cannot compile .* without the missing no.stl'):
        read_urdf(path)


@pytest.mark.parametrize(('old', 'new', 'message'), [
    ('type="slide" axis="1 0 1" range="-0.2 0.3" ref="0.1"', 'type="ball"', 'has a ball joint'),
    ('mass="3"', 'mass="-3"', 'MuJoCo cannot compile'),
])
def test_a_file_that_cannot_be_used_is_one_clear_error(path, old, new, message):
    path.write_text(MJCF.replace(old, new))
    with pytest.raises(ArmError, match=message) as caught:
        load_arm(path)
    assert 'odd.xml' in str(caught.value) and '\n' not in str(caught.value)
