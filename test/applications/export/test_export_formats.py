# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Exported files against Pinocchio, MuJoCo and the torque of the model."""

from dataclasses import replace
from functools import partial
import re
from xml.etree import ElementTree

import numpy as np
from oracles import pinocchio_model, random_arm
import pinocchio
import pytest
from real_urdfs import urdf
from results import identification, metrics

from dynid_ros.applications.export.formats import export_model, FORMATS
from dynid_ros.applications.export.standalone import python_of
from dynid_ros.applications.export.urdf import replaced_urdf, urdf_of
from dynid_ros.arm import load_arm
from dynid_ros.arm.friction import TERMS
from dynid_ros.arm.parameters import inertial_from_com, inertial_to_com
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import ArmError
from dynid_ros.interface.cli.main import main
from dynid_ros.simulation.mjcf import mjcf_of

REAL = ('ur5_robot', 'kinova', 'xarm7', 'tiago_no_hand', 'talos_left_arm', 'so101', 'z1', 'baxter',
        'panda', 'ur3_gripper')


def arm_of(seed, friction=('viscous', 'coulomb')):
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, 4)
    return replace(arm, friction=friction, rotor_nominal=rng.uniform(0.1, 1.0, 4),
                   friction_nominal={name: rng.uniform(0.1, 1.0, 4) for name in friction})


def comments(text):
    return re.sub('(?s)<inertial.*?</inertial>', '', text).count('<!--')


def states(arm, count=20):
    return np.random.default_rng(1).uniform(-1, 1, (3, count, arm.n))


def torque(arm, q, qd, qdd):
    """Torque of the nominal parameters, friction included."""
    rigid = arm.rigid
    load = regressor(rigid, q, 0 * q, 0 * q) @ nominal_parameters(rigid)
    return regressor(arm, q, qd, qdd, load=load) @ nominal_parameters(arm)


def test_the_command_offers_every_format(capsys):
    with pytest.raises(SystemExit):
        main(['export', '--help'])
    offered = '{' + ','.join(FORMATS) + '}'
    assert offered in capsys.readouterr().out


@pytest.mark.parametrize('seed', range(4))
def test_plain_urdf_has_the_torque_of_the_links(seed):
    arm = arm_of(seed)
    model = pinocchio.buildModelFromXML(urdf_of(arm))
    model.gravity.linear = arm.gravity
    order = [model.joints[model.getJointId(name)].idx_v for name in arm.joint_names]
    data = model.createData()
    for q, qd, qdd in zip(*states(arm), strict=True):
        given = np.zeros((3, arm.n))
        given[:, order] = q, qd, qdd
        # Continuous joints have two coordinates there.
        place = pinocchio.integrate(model, pinocchio.neutral(model), given[0])
        rigid = torque(replace(arm.rigid, rotor_nominal=None), q[None], qd[None], qdd[None])[0]
        np.testing.assert_allclose(
            pinocchio.rnea(model, data, place, *given[1:])[order], rigid, rtol=1e-9, atol=1e-9)
    dynamics = ElementTree.fromstring(urdf_of(arm)).findall('joint/dynamics')
    assert [float(each.get('damping')) for each in dynamics] == arm.friction_nominal[
        'viscous'].tolist()


@pytest.mark.parametrize('seed', range(4))
def test_mjcf_has_the_torque_of_links_rotors_and_viscous_friction(seed):
    mujoco = pytest.importorskip('mujoco')
    arm = arm_of(seed, ('viscous',))
    model = mujoco.MjModel.from_xml_string(mjcf_of(arm))
    data = mujoco.MjData(model)
    order = [int(model.joint(name).dofadr[0]) for name in arm.joint_names]
    for q, qd, qdd in zip(*states(arm), strict=True):
        data.qpos[order], data.qvel[order], data.qacc[order] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        np.testing.assert_allclose(
            data.qfrc_inverse[order], torque(arm, q[None], qd[None], qdd[None])[0], rtol=1e-6,
            atol=1e-6)


@pytest.mark.parametrize('damping', [None, np.array([0.4, 0.3, 0.2, 0.1])])
def test_position_actuators_have_the_law_of_the_drives(damping):
    mujoco = pytest.importorskip('mujoco')
    arm, kp, n = arm_of(2, ('viscous',)), np.array([30.0, 20.0, 10.0, 5.0]), 4
    drive = replace(arm.drive, signal='command', gain=kp, damping=damping)
    limits = replace(arm.limits, effort=np.full(n, 2.0))
    model = mujoco.MjModel.from_xml_string(
        mjcf_of(replace(arm, drive=drive, limits=limits), servos=True))
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    order = [int(model.joint(name).dofadr[0]) for name in arm.joint_names]
    for _ in range(5):
        q, qd, command = rng.normal(scale=0.1, size=(3, n))
        data.qpos[order], data.qvel[order], data.ctrl[:] = q, qd, command
        mujoco.mj_forward(model, data)
        tau = kp * (command - q) - (0.0 if damping is None else damping * qd)
        np.testing.assert_allclose(
            data.qfrc_actuator[order], np.clip(tau, -2.0, 2.0), rtol=1e-6)
    # Of a stiffness that nobody states, limits in Nm do not hold.
    free = mjcf_of(replace(arm, drive=replace(drive, scale='relative'), limits=limits),
                   servos=True)
    assert 'forcerange' in mjcf_of(replace(arm, drive=drive, limits=limits), servos=True)
    assert 'forcerange' not in free


@pytest.mark.parametrize('names', [(), ('viscous', 'coulomb', 'offset'), tuple(TERMS)])
def test_python_file_has_the_whole_torque(names):
    arm = arm_of(5, names)
    space, (q, qd, qdd) = exported(arm), states(arm)
    expected = torque(arm, q, qd, qdd)
    np.testing.assert_allclose(space['torque'](q, qd, qdd), expected, rtol=1e-9, atol=1e-9)
    for k in range(len(q)):
        np.testing.assert_allclose(
            space['torque'](q[k], qd[k], qdd[k]), expected[k], rtol=1e-9, atol=1e-9)
    assert space['JOINTS'] == arm.joint_names


def test_a_file_of_parameters_that_predict_worse_than_the_model_says_so(tmp_path):
    arm = arm_of(5)
    error = partial(metrics, arm, 'last third', True)
    for possible, worse in ((4.0, True), (2.0, False)):
        model = identification(
            arm, theta=base_parameters(arm).grouping @ nominal_parameters(arm),
            validation=error(2.0), consistent=error(possible))
        for name in ('arm.py', 'arm.yaml'):
            notes = export_model(model, tmp_path / name)
            assert worse == any(
                note.startswith('these parameters have 4 % torque error on the last 33 % of the '
                                'same recording, and the model 2 %') for note in notes)


def exported(arm):
    space = {}
    exec(compile(python_of(arm), 'exported.py', 'exec'), space)
    return space


@pytest.mark.parametrize('seed', range(4))
def test_python_file_has_the_dynamics_of_pinocchio(seed):
    arm = arm_of(seed, ('viscous',))
    space, (q, qd, qdd), model = exported(arm), states(arm), pinocchio_model(arm)
    data, rest, rotor = model.createData(), np.zeros(arm.n), np.asarray(arm.rotor_nominal)
    mass, gravity = space['mass_matrix'](q), space['gravity'](q)
    rigid = space['torque'](q, qd, qdd) - arm.friction_nominal['viscous'] * qd
    for k, (own, rate, acceleration) in enumerate(zip(q, qd, qdd, strict=True)):
        weight = pinocchio.computeGeneralizedGravity(model, data, own).copy()
        M = np.transpose([pinocchio.rnea(model, data, own, rest, unit) - weight
                          for unit in np.eye(arm.n)]) + np.diag(rotor)
        torque = pinocchio.rnea(model, data, own, rate, acceleration) + rotor * acceleration
        for got, expected in ((mass[k], M), (space['mass_matrix'](q[k]), M), (gravity[k], weight),
                              (rigid[k], torque)):
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


def test_python_file_names_the_shape_that_it_wants():
    with pytest.raises(ValueError, match=re.escape('(N, 4), but has (3,)')):
        exported(arm_of(0, ()))['gravity'](np.zeros(3))


@pytest.mark.parametrize('name', REAL)
@pytest.mark.filterwarnings('ignore::dynid_ros.errors.ArmWarning')
def test_urdf_of_a_real_robot_comes_back_with_other_inertias_only(name, tmp_path):
    source = urdf(name)
    arm = load_arm(source)
    rng = np.random.default_rng(0)
    heavier = []
    for link in arm.inertial:
        mass, center, inertia = inertial_to_com(link) if link[0] > 0 else (
            1.0, np.zeros(3), 0.01 * np.eye(3))
        factor = rng.uniform(1.5, 3.0)
        heavier.append(inertial_from_com(
            factor * mass, center + 0.001, factor * inertia + 0.01 * np.eye(3)))
    planted = replace(arm, inertial=np.array(heavier), friction_nominal={
        'viscous': rng.uniform(0.1, 1, arm.n), 'coulomb': rng.uniform(0.1, 1, arm.n)})
    text, notes = replaced_urdf(planted, source)
    assert notes == []
    made = tmp_path / 'made.urdf'
    made.write_text(text)
    again = load_arm(made)
    assert again.joint_names == arm.joint_names
    np.testing.assert_allclose(again.inertial, planted.inertial, rtol=1e-9, atol=1e-12)
    # Those beside an old inertia go with it.
    assert comments(text) == comments(source.read_text())
    before, after = ElementTree.parse(source), ElementTree.parse(made)
    for tag in ('visual', 'collision', 'transmission', 'gazebo', 'limit', 'axis'):
        assert [ElementTree.tostring(e).strip() for e in before.iter(tag)] == [
            ElementTree.tostring(e).strip() for e in after.iter(tag)]


FIXED = """<?xml version="1.0"?>
<!-- by hand -->
<robot name="r">
  <link name="base"/>
  <link name="upper"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
    iyz="0"/></inertial></link>
  <link name="camera"><inertial><origin xyz="0 0 0.1"/><mass value="0.5"/><inertia ixx="0.01"
    iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="9" velocity="1"/></joint>
  <joint name="screw" type="fixed"><origin xyz="0.3 0 0"/><parent link="upper"/>
    <child link="camera"/></joint>
</robot>
"""


def fixed_urdf(tmp_path):
    path = tmp_path / 'fixed.urdf'
    path.write_text(FIXED)
    return path


def test_links_that_are_fixed_to_one_keep_their_share(tmp_path):
    path = fixed_urdf(tmp_path)
    arm = load_arm(path)
    body = inertial_from_com(3.5, [0.05, 0.0, 0.02], 2 * np.eye(3))
    text, notes = replaced_urdf(replace(arm, inertial=body[None]), path)
    assert notes == []
    assert '<!-- by hand -->' in text
    masses = {link.get('name'): float(link.find('inertial/mass').get('value'))
              for link in ElementTree.fromstring(text).findall('link')
              if link.find('inertial') is not None}
    assert masses == {'upper': pytest.approx(3.0), 'camera': 0.5}
    path.write_text(text)
    np.testing.assert_allclose(load_arm(path).inertial[0], body, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize('encoding', ['iso-8859-1', 'utf-16', 'utf-8'])
def test_urdf_of_any_encoding_becomes_utf_8(tmp_path, encoding):
    path = tmp_path / 'fixed.urdf'
    declared = f'<?xml version="1.0" encoding="{encoding}"?>\n'
    body = FIXED.split('\n', 1)[1].replace('by hand', 'von Händen')
    path.write_bytes((declared + body).encode(encoding))
    arm = load_arm(path)
    body = inertial_from_com(3.5, [0.05, 0.0, 0.02], 2 * np.eye(3))
    text, _ = replaced_urdf(replace(arm, inertial=body[None]), path)
    assert '<!-- von Händen -->' in text and 'encoding="utf-8"' in text
    path.write_text(text, encoding='utf-8')
    np.testing.assert_allclose(load_arm(path).inertial[0], body, rtol=1e-9, atol=1e-12)


def test_prefixes_that_are_never_declared_are_read_and_kept(tmp_path):
    path = tmp_path / 'fixed.urdf'
    path.write_text(FIXED.replace('<limit ', '<limit drake:acceleration="2.5" ').replace(
        '</robot>', '<sensor:camera name="c"/></robot>'))
    arm = load_arm(path)
    body = inertial_from_com(3.5, [0.05, 0.0, 0.02], 2 * np.eye(3))
    text, _ = replaced_urdf(replace(arm, inertial=body[None]), path)
    assert 'drake:acceleration="2.5"' in text and '<sensor:camera' in text
    path.write_text(text)
    np.testing.assert_allclose(load_arm(path).inertial[0], body, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings('ignore::dynid_ros.errors.ArmWarning')
def test_links_that_state_too_much_lose_it_with_a_word(tmp_path):
    path = fixed_urdf(tmp_path)
    arm = load_arm(path)
    light = inertial_from_com(0.4, [0.0, 0.0, 0.0], 0.01 * np.eye(3))
    text, notes = replaced_urdf(replace(arm, inertial=light[None]), path)
    assert "links fixed to 'upper' have lost their inertia" in notes[0]
    assert 'camera' in notes[0]
    path.write_text(text)
    np.testing.assert_allclose(load_arm(path).inertial[0], light, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(('change', 'said'), [
    (('name="j"', 'name="k"'), 'has no joint j'),
    (('axis xyz="0 1 0"', 'axis xyz="1 0 0"'), "the axis of joint 'j' differs by 1"),
])
def test_urdf_of_another_robot_is_refused_with_the_difference(tmp_path, change, said):
    path = fixed_urdf(tmp_path)
    arm = load_arm(path)
    path.write_text(FIXED.replace(*change))
    with pytest.raises(ArmError, match=said):
        replaced_urdf(arm, path)


def test_coupled_joints_are_refused_by_the_python_file():
    with pytest.raises(ArmError, match='are coupled'):
        python_of(load_arm('tx40'))


def test_a_urdf_with_other_names_of_the_joints_is_taken_by_their_aliases(tmp_path):
    arm = load_arm('panda')
    text, _ = replaced_urdf(arm, urdf('panda'))
    file = tmp_path / 'identified.urdf'
    file.write_text(text)
    model = pinocchio.buildModelFromUrdf(str(file))
    data = model.createData()
    places = [model.joints[model.getJointId(name)].idx_v for name in arm.aliases[0]]
    q, qd, qdd = states(arm)
    theirs = np.zeros((3, len(q), model.nv))
    theirs[:, :, places] = q, qd, qdd
    torque = [pinocchio.rnea(model, data, *state)[places] for state in zip(*theirs, strict=True)]
    rigid = arm.rigid
    # Fingers of the hand, which are no part of the arm, keep the inertia that the file states.
    hand = pinocchio.buildModelFromUrdf(str(urdf('panda')))
    fingers = sum(hand.inertias[hand.getJointId(f'panda_finger_joint{k}')].mass for k in (1, 2))
    expected = regressor(rigid, q, qd, qdd) @ nominal_parameters(rigid)
    reach = 1.5 * fingers * 9.81
    assert np.abs(np.array(torque) - expected).max() < reach
    assert np.abs(np.array(torque) - expected)[:, -1].max() < 0.1 * reach
