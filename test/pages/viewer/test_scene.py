# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Links in a 3D scene: where they are, what they look like, and how they are named."""

from dataclasses import replace

import numpy as np
import pinocchio
import pytest
from real_urdfs import urdf
from viewer_rig import TWO_JOINTS

from dynid_ros.arm import load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.pages.viewer.scene.arm_body import (
    ArmBody,
    node_name,
    quaternions,
    ramp_color,
    upright,
)
from dynid_ros.pages.viewer.scene.link_visuals import link_visuals
from dynid_ros.pages.viewer.scene.surfaces import MOST_FACES

SHIPPED = ('gluon_6l3', 'hand_leg', 'panda', 'tx40', 'two_axis', 'ur10')
# Meshes of each format, shapes and scales, and colours in the file or beside it.
EXAMPLES = (
    'double_pendulum_simple', 'finger_edu', 'go2', 'hyq_no_sensors', 'iris', 'laikago', 'panda',
    'pr2', 'romeo_laas_small', 'simple_humanoid', 'so100', 'talos_left_arm')


@pytest.fixture(scope='module')
def scene():
    pytest.importorskip('viser')
    from dynid_ros.pages.viewer.server import LOOPBACK, open_server

    server = open_server(LOOPBACK, 0, 'test')
    yield server.scene
    server.stop()


def shown(scene, source):
    arm = load_arm(source)
    visuals, note = link_visuals(load_surroundings(source, arm), arm)
    return arm, visuals, note, ArmBody(scene, arm, visuals)


@pytest.mark.parametrize('name', SHIPPED)
def test_shipped_arms_show_every_link(scene, name):
    arm, visuals, note, _ = shown(scene, name)
    assert {surface.joint for surface in visuals} >= set(range(arm.n))
    assert note == ''


@pytest.mark.slow
@pytest.mark.filterwarnings('ignore::dynid_ros.errors.ArmWarning')
@pytest.mark.parametrize('name', EXAMPLES)
def test_example_arms_show(scene, name):
    arm, visuals, _, body = shown(scene, urdf(name))
    body.place(np.full(arm.n, 0.3))
    body.paint(np.linspace(0, 1, arm.n))
    assert visuals
    for surface in visuals:
        assert np.isfinite(surface.vertices).all()
        assert 0 < len(surface.faces) <= 1.2 * MOST_FACES
        assert surface.faces.max() < len(surface.vertices)


def test_missing_meshes_become_capsules_and_are_named(scene, tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(TWO_JOINTS.format(first='one', second='two', visual=(
        '<visual><geometry><mesh filename="package://gone/link.stl"/></geometry></visual>')))
    _, visuals, note, _ = shown(scene, path)
    assert note.startswith('meshes not found or not readable: link.stl;')
    assert {surface.joint for surface in visuals} >= {0, 1}


@pytest.mark.filterwarnings('ignore::dynid_ros.errors.ArmWarning')
@pytest.mark.parametrize('source', ['ur10', 'panda', 'gluon_6l3', 'example'])
def test_links_are_where_pinocchio_has_them(scene, source):
    arm, *_, body = shown(scene, urdf('xarm7') if source == 'example' else source)
    model = pinocchio.Model()
    for i in range(arm.n):
        model.addJoint(
            int(arm.parent[i]) + 1, pinocchio.JointModelRevoluteUnaligned(arm.axis[i]),
            pinocchio.SE3(arm.rotation[i], arm.translation[i]), str(i))
    data = model.createData()
    q = np.random.default_rng(3).uniform(-2, 2, arm.n)
    pinocchio.forwardKinematics(model, data, q)
    body.place(q)
    for joint, pose in enumerate(list(data.oMi)[1:]):
        node = scene.get_handle_by_name(body.frame(joint))
        # viser keeps single precision.
        np.testing.assert_allclose(node.position, pose.translation, atol=1e-6)
        turn = pinocchio.Quaternion(*map(float, node.wxyz)).toRotationMatrix()
        np.testing.assert_allclose(turn, pose.rotation, atol=1e-6)


def test_gravity_points_down_whatever_the_mounting():
    arm = load_arm('ur10')
    for gravity in ([0, 0, -9.81], [0, 0, 9.81], [9.81, 0, 0], [3, -4, 5]):
        tilted = replace(arm, gravity=np.array(gravity, dtype=float))
        down = upright(tilted) @ tilted.gravity
        np.testing.assert_allclose(down, [0, 0, -np.linalg.norm(gravity)], atol=1e-9)


def test_names_stay_in_their_part_of_the_scene():
    for name in ('a/b', '../x', '<img src=x onerror=alert(1)>', '', 'é' * 500, '\n'):
        assert '/' not in node_name(name)
        assert '<' not in node_name(name)
        assert 0 < len(node_name(name)) <= 60


def test_colours_run_from_grey_to_red_and_stop_there():
    assert ramp_color(-1) == ramp_color(0)
    assert ramp_color(2) == ramp_color(1)
    assert ramp_color(1)[0] > 2 * ramp_color(1)[1]


def test_quaternions_turn_back_into_rotations():
    turn = pinocchio.utils.rpyToMatrix(0.3, -1.2, 2.9)
    w, x, y, z = quaternions(turn[None])[0]
    np.testing.assert_allclose(pinocchio.Quaternion(w, x, y, z).toRotationMatrix(), turn)
