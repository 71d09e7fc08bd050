# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``dynid init``: from a description to an arm.yaml that every command reads."""

import json
import re
import shlex
import struct

import numpy as np
import pytest
from real_urdfs import urdf
from urdf_files import chain, joint, link, MJCF, robot, write, XACRO, xacro_file

from dynid_ros.arm import load_arm
from dynid_ros.arm.load import description_file
from dynid_ros.errors import ArmWarning
from dynid_ros.interface.cli.main import main
from dynid_ros.motion.feasibility.link_shapes import urdf_bodies

GRIPPER = (*chain('finger', 'arm_link6', 1), *chain('thumb', 'arm_link6', 1))

CORNERS = [(0, 0, 0), (0.2, 0, 0), (0, 0.3, 0), (0, 0, 0.4)]
#: A tetrahedron.
STL = struct.pack('<80xI', 4) + b''.join(
    struct.pack('<12fH', 0, 0, 0, *(x for k in face for x in CORNERS[k]), 0)
    for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)))


@pytest.fixture
def with_head(tmp_path):
    return write(tmp_path, robot(
        link('base'), *chain('head', 'base', 1), *chain('arm', 'base', 6), *GRIPPER))


def init(capsys, path, *more):
    status = main(['init', str(path), '-o', str(path.parent / 'my arm'), *more])
    return status, capsys.readouterr(), path.parent / 'my arm'


@pytest.mark.filterwarnings('error')
def test_arm_yaml_is_the_arm_with_the_rest_locked(with_head, capsys):
    status, printed, folder = init(capsys, with_head)
    assert status == 0
    assert 'Locked: head1, finger1, thumb1.' in printed.out
    assert '--tip' not in printed.out
    assert 'drive: which signal your driver publishes' in printed.out
    arm = load_arm(folder)
    assert arm.joint_names == tuple(f'arm{i}' for i in range(1, 7))
    np.testing.assert_array_equal(arm.limits.velocity, np.full(6, 4.0))
    assert np.isfinite(arm.limits.acceleration).all()
    assert arm.inertial is not None


def test_guess_is_printed_and_written_where_it_can_be_changed(tmp_path, capsys):
    arms = [part for side in ('left', 'right') for part in (
        *chain(side, 'torso_link1', 5), link(f'{side}_jaw'),
        joint(f'{side}_gripper', f'{side}_link5', f'{side}_jaw'))]
    path = write(tmp_path, robot(link('base'), *chain('torso', 'base', 1), *arms))
    status, printed, folder = init(capsys, path)
    assert status == 0
    guess = 'guessed to be no joints of the arm: torso1 of a torso or base; left_gripper of a gr'
    assert guess[1:] in printed.out
    assert ('several chains, to left_link5 (5 joints), right_link5 (5 joints); for another one: '
            f"dynid init {path} -o '{folder}_right_link5' --tip right_link5.\n") in printed.out
    text = (folder / 'arm.yaml').read_text()
    assert guess in text
    text = text.replace('joints: [left1', 'joints: [torso1, left1').replace('torso1: 0.0, ', '')
    (folder / 'arm.yaml').write_text(text[:text.index('limits:')])
    assert load_arm(folder).joint_names == ('torso1', *(f'left{i}' for i in range(1, 6)))


def test_what_the_file_leaves_out_is_stated_and_filled_in(tmp_path, capsys):
    path = write(tmp_path, robot(
        link('base'), link('a', np.random.default_rng(0)),
        joint('j', 'base', 'a', 'continuous', extra='')))
    status, printed, folder = init(capsys, path)
    assert status == 0
    assert 'No usable velocity limit for j; planned motions assume 2 rad/s' in printed.out
    limits = load_arm(folder).limits
    assert limits.velocity.tolist() == [2.0]
    assert np.isinf([limits.lower[0], limits.upper[0], limits.effort[0]]).all()
    assert 'the description has none' not in printed.out
    # Some makers write zeros where they state no range.
    path.write_text(path.read_text().replace(
        'continuous', 'revolute').replace('<axis', '<limit lower="0" upper="0" effort="0"/><axis'))
    assert 'limits.lower and upper of j: the description has none' in init(
        capsys, path, '-o', str(tmp_path / 'other'))[1].out


@pytest.mark.parametrize(('effort', 'told'), [(20.0, False), (19.0, True)])
def test_a_drive_that_cannot_hold_its_links_is_told(tmp_path, capsys, effort, told):
    # 2 kg at 1 m about a horizontal axis take 19.62 Nm at most.
    body = ('<link name="a"><inertial><origin xyz="1 0 0"/><mass value="2"/><inertia ixx="0.1" '
            'ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>')
    path = write(tmp_path, robot(link('base'), body, joint(
        'j', 'base', 'a', axis='0 1 0',
        extra=f'<limit lower="-3" upper="3" velocity="2" effort="{effort}"/>')))
    status, printed, folder = init(capsys, path)
    assert status == 0
    assert ('does not hold the stated masses in every pose at j (19 of 19.5 Nm)'
            in printed.out) == told
    assert load_arm(folder).limits.effort.tolist() == [effort]


@pytest.mark.parametrize(('choice', 'joints'), [
    (('--tip', 'head_link1'), ('head1',)), (('--joints', 'arm1,arm3'), ('arm1', 'arm3')),
    (('--joints', 'all'),
     ('head1', *(f'arm{i}' for i in range(1, 7)), 'finger1', 'thumb1'))])
def test_user_may_choose_the_joints(with_head, capsys, choice, joints):
    status, _, folder = init(capsys, with_head, *choice)
    assert status == 0
    assert load_arm(folder).joint_names == joints


@pytest.mark.parametrize(('choice', 'message'), [
    (('--tip', 'head_link'), 'did you mean "head_link1"'),
    (('--joints', 'arm9'), 'has no joint "arm9"'),
    (('--xacro', 'reach'), 'write NAME:=VALUE')])
def test_wrong_choice_is_one_sentence_and_writes_nothing(with_head, capsys, choice, message):
    status, printed, folder = init(capsys, with_head, *choice)
    assert status == 2
    assert message in printed.err and printed.err.count('\n') == 1
    assert not folder.exists()


def test_arm_yaml_that_is_there_is_not_overwritten(with_head, capsys):
    folder = init(capsys, with_head)[2]
    before = (folder / 'arm.yaml').read_bytes()
    status, printed, _ = init(capsys, with_head)
    assert status == 2
    assert 'exists already' in printed.err
    assert (folder / 'arm.yaml').read_bytes() == before


def test_arguments_of_a_xacro_file_are_kept_in_a_urdf(tmp_path, capsys):
    pytest.importorskip('xacro', reason='xacro is not installed')
    status, _, folder = init(capsys, xacro_file(tmp_path, XACRO), '--xacro', 'reach:=0.25')
    assert status == 0
    assert load_arm(folder).translation[0].tolist() == [0.25, 0, 0]


def test_a_xacro_argument_may_be_empty(tmp_path, capsys):
    pytest.importorskip('xacro', reason='xacro is not installed')
    path = xacro_file(tmp_path, XACRO.replace('name="r"', 'name="r$(arg reach)"').replace(
        '<origin xyz="$(arg reach) 0 0"/>', ''))
    status, _, folder = init(capsys, path, '--xacro', 'reach:=')
    assert status == 0
    assert load_arm(folder).name == 'r'


MESHES = {
    'package://maker/meshes/{}.stl': 'maker', 'file://$(find maker)/meshes/{}.stl': 'maker',
    '../meshes/{}.stl': 'maker', 'package://shared/meshes/{}.stl': 'others/shared-2'}


@pytest.mark.parametrize('arguments', [(), ('--xacro', 'reach:=0.25')])
@pytest.mark.parametrize('uri', MESHES)
def test_meshes_of_a_xacro_file_are_found_from_its_folder(
        tmp_path, monkeypatch, capsys, uri, arguments):
    pytest.importorskip('xacro', reason='xacro is not installed')
    for name in ('AMENT_PREFIX_PATH', 'ROS_PACKAGE_PATH'):
        monkeypatch.delenv(name, raising=False)
    for place, name in (('maker', 'maker'), ('others/shared-2', 'shared')):
        (tmp_path / place / 'meshes').mkdir(parents=True)
        (tmp_path / place / 'package.xml').write_text(f'<package><name>{name}</name></package>')
    (tmp_path / MESHES[uri] / 'meshes/a.stl').write_bytes(STL)
    shapes = ''.join(f'<collision><geometry><mesh filename="{uri.format(name)}"/></geometry>'
                     '</collision>' for name in ('a', 'lost'))
    (tmp_path / 'maker/urdf').mkdir()
    path = xacro_file(tmp_path / 'maker/urdf', XACRO.replace(
        '<link name="a"/>', f'<link name="a">{shapes}</link>'))
    folder = tmp_path / 'elsewhere/my_arm'
    assert main(['init', str(path), '-o', str(folder), *arguments]) == 0
    printed = capsys.readouterr().out
    assert 'Collision meshes found: 1 of 2.' in printed and 'empty: lost.stl' in printed
    # The box around the mesh, as every command sees it.
    assert 'j: [0.0, 0.2, 0.0, 0.3, 0.0, 0.4]' in (folder / 'arm.yaml').read_text()
    bodies, _ = urdf_bodies(load_arm(folder), description_file(folder), {})
    assert [body.name for body in bodies if body.is_mesh] == ['a_0']


QUESTIONS = {
    'mimics a joint that is not there': (
        [link('a'), joint('j', 'base', 'a'), link('b'),
         joint('f', 'a', 'b', extra='<mimic joint="lost"/>')],
        'joint "f" mimics "lost", which the file does not have, and stays where it is'),
    'a negative mass': (
        [link('a', np.random.default_rng(0), -2), joint('j', 'base', 'a')],
        'link "a" has a mass of -2 kg, which no body has'),
    'floats': (
        [link('a'), link('b'), joint('free', 'base', 'a', 'floating'), joint('j', 'a', 'b')],
        'the floating joint "free" is fixed at zero'),
}


@pytest.mark.parametrize('case', QUESTIONS)
def test_what_cannot_be_meant_is_told_once_and_no_command_repeats_it(tmp_path, capsys, case):
    parts, doubt = QUESTIONS[case]
    path = write(tmp_path, robot(link('base'), *parts))
    status, printed, folder = init(capsys, path)
    assert status == 0
    everything = printed.out + printed.err
    assert everything.count(doubt[1:]) == 1
    assert main(['pose-error', str(folder)]) == 0
    assert doubt not in capsys.readouterr().err
    # A doubt that is taken out is told again, and so is one that came later.
    text = (folder / 'arm.yaml').read_text()
    (folder / 'arm.yaml').write_text(text[:text.index('# Doubts')])
    with pytest.warns(ArmWarning, match=re.escape(doubt)):
        load_arm(folder)


def test_a_leg_that_is_chosen_is_questioned(tmp_path, capsys):
    legs = [part for side in ('left', 'right')
            for part in chain(f'{side}_knee', 'base', 6)]
    path = write(tmp_path, robot(link('base'), *legs, *chain('arm', 'base', 5)))
    printed = init(capsys, path, '--json')[1]
    facts = json.loads(printed.out)
    assert facts['chains'] == {'left_knee_link6': 6, 'right_knee_link6': 6, 'arm_link5': 5}
    assert any('seems to be a leg, by left_knee1' in doubt for doubt in facts['doubts'])
    # The line that is told takes the arm, although the other leg is longer.
    line = next(doubt for doubt in facts['doubts'] if 'several chains' in doubt)
    words = shlex.split(line.partition('another one: dynid ')[2])
    assert main(words) == 0
    assert load_arm(words[words.index('-o') + 1]).joint_names == (
        'arm1', 'arm2', 'arm3', 'arm4', 'arm5')
    assert 'seems to be a leg' not in capsys.readouterr().out


def test_friction_and_rotor_inertia_of_an_mjcf_are_nominal_values(tmp_path, capsys):
    path = tmp_path / 'odd.xml'
    path.write_text(MJCF)
    status, _, folder = init(capsys, path)
    assert status == 0
    arm = load_arm(folder)
    assert arm.rotor_nominal.tolist() == [0.1, 0, 0]
    assert arm.friction_nominal['coulomb'].tolist() == [0.3, 0, 0]


def test_boxes_of_the_collision_shapes_are_ready_to_be_bounds(tmp_path, capsys):
    folder = tmp_path / 'panda'
    assert main(['init', str(urdf('panda')), '-o', str(folder)]) == 0
    capsys.readouterr()
    assert load_arm(folder).link_bounds is None
    path = folder / 'arm.yaml'
    text, section = path.read_text().split('# links:')
    path.write_text(text + 'links:' + section.replace('\n#', '\n'))
    arm = load_arm(folder)
    centers = arm.inertial[:, 1:4] / arm.inertial[:, :1]
    box = arm.link_bounds.center
    assert (box[..., 0] < centers).all() and (centers < box[..., 1]).all()
    # The hand's mesh ends 5 cm before its fingertips, and 22 cm after the flange's joint.
    np.testing.assert_allclose(box[6, 2, 1], 0.22, atol=0.01)
    assert arm.link_bounds.mass[6].tolist() == [0.5, 1.0]
