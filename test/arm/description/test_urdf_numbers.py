# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Numbers of a URDF: what no body can have, and what its parser would drop in silence."""

import numpy as np
import pytest
from urdf_files import joint, link, robot, write

from dynid_ros.arm import load_arm
from dynid_ros.arm.parameters import inertial_from_com, inertial_to_com, is_physical
from dynid_ros.errors import ArmError, ArmWarning
from dynid_ros.interface.cli.main import main

GOOD = {'mass': '1', 'xyz': '0.1 0 0', 'rpy': '0 0 0', 'ixx': '0.01', 'iyy': '0.01',
        'izz': '0.01'}


def arm(folder, *more, **changes):
    body = ('<link name="{name}"><inertial><mass value="{mass}"/>'
            '<origin xyz="{xyz}" rpy="{rpy}"/><inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" '
            'iyz="0" izz="{izz}"/></inertial></link>')
    return write(folder, robot(
        link('base'), body.format(name='l1', **{**GOOD, **changes}), joint('j1', 'base', 'l1'),
        body.format(name='l2', **GOOD), joint('j2', 'l1', 'l2', place='<origin xyz="0.3 0 0"/>'),
        *more))


@pytest.mark.parametrize(('key', 'value', 'element'), [
    ('mass', '5,0', 'mass value'), ('mass', 'nan', 'mass value'), ('mass', 'inf', 'mass value'),
    ('mass', '${m}', 'mass value'), ('mass', '', 'mass value'), ('mass', '1e308', 'mass value'),
    ('ixx', 'x', 'inertia ixx'), ('iyy', '1_0', 'inertia iyy'), ('izz', '-inf', 'inertia izz'),
    ('xyz', '0,1 0 0', 'origin xyz'),
    ('xyz', '0 0', 'origin xyz'), ('rpy', 'nan 0 0', 'origin rpy')])
def test_a_number_that_would_be_dropped_is_named(tmp_path, key, value, element):
    with pytest.raises(ArmError, match=r'link "l1" in .*urdf') as caught:
        load_arm(arm(tmp_path, **{key: value}))
    assert f'<{element}="{value}">' in str(caught.value)


@pytest.mark.parametrize('gone', ['<mass value="1"/>', 'ixy="0"'])
def test_half_an_inertia_is_named(tmp_path, gone):
    path = arm(tmp_path)
    path.write_text(path.read_text().replace(gone, '', 1))
    with pytest.raises(ArmError, match=r'link "l1" in .* has no <(mass v|inertia ixy).*; add it'):
        load_arm(path)


def test_a_mass_alone_is_a_point(tmp_path):
    camera = ('<link name="camera"><inertial><mass value="0.5"/><origin xyz="0.1 0 0"/></inertial>'
              '</link>')
    path = arm(tmp_path, camera, joint('screw', 'l2', 'camera', 'fixed'))
    with pytest.warns(ArmWarning, match='link "camera" states a mass without <inertia>'):
        found = load_arm(path)
    np.testing.assert_allclose(
        found.inertial[1], inertial_from_com(1.5, [0.1, 0, 0], 0.01 * np.eye(3)))


def test_commands_that_compute_torque_refuse_a_negative_mass(tmp_path, capsys):
    path = str(arm(tmp_path, mass='-1'))
    (tmp_path / 'log.npz').touch()
    for words in (['external-force', path, '--wrench', *'000001'],
                  ['design', path, '-o', str(tmp_path / 'm.yaml')],
                  ['simulate', path, '-o', str(tmp_path / 'bag')],
                  ['validate', path, str(tmp_path / 'log.npz'), '--arm', path]):
        assert main(words) == 2
        line = capsys.readouterr().err.splitlines()[-1]
        assert "the link at joint 'j1'" in line and 'its mass is -1 kg' in line
        assert 'correct the link' in line
    assert {p.name for p in tmp_path.iterdir()} == {'arm.urdf', 'log.npz'}
    assert main(['pose-error', path]) == 0


@pytest.mark.parametrize(('changes', 'moments'), [
    # Second moments of 0.0125, 0.0125 and -0.0025 kg m²: a thin disk.
    ({'izz': '0.025'}, [0.0125, 0.0125, 0.025]),
    # Second moments of 0.015, -0.005 and -0.005 kg m²: a thin rod.
    ({'ixx': '-0.01'}, [0.0, 0.015, 0.015]),
])
def test_nearest_body_takes_the_place_of_an_impossible_one_with_a_word(
        tmp_path, capsys, changes, moments):
    path = arm(tmp_path, **changes)
    with pytest.warns(ArmWarning, match='at joint "j1" by .* %') as told:
        found = load_arm(path)
    assert len(told) == 1 and 'j2' not in str(told[0].message)
    mass, center, inertia = inertial_to_com(found.inertial[0])
    assert (mass, center.tolist()) == (1.0, pytest.approx([0.1, 0, 0]))
    np.testing.assert_allclose(np.linalg.eigvalsh(inertia), moments, atol=3e-5)
    assert is_physical(found.inertial[0])
    assert main(['init', str(path), '-o', str(tmp_path / 'new')]) == 0
    printed = capsys.readouterr()
    assert printed.out.count('at joint "j1"') == 1 and not printed.err


@pytest.mark.filterwarnings('error')
def test_inertia_that_is_rounded_is_no_noise(tmp_path):
    found = load_arm(arm(tmp_path, izz='0.0201', ixx='0.01', iyy='0.01'))
    assert is_physical(found.inertial[0])


@pytest.mark.parametrize(('mimic', 'message'), [
    ('joint="j3"', 'joint "j3" in .* mimics itself'),
    ('joint="j1" multiplier="inf"', '<mimic multiplier="inf"> of joint "j3"'),
    ('joint="j1" offset="-1e300"', '<mimic offset="-1e300"> of joint "j3"')])
def test_a_joint_that_cannot_follow_is_named(tmp_path, mimic, message):
    with pytest.raises(ArmError, match=message):
        load_arm(arm(tmp_path, link('l3'), joint('j3', 'l2', 'l3', extra=f'<mimic {mimic}/>')))


def test_a_limit_of_a_placeholder_is_none(tmp_path):
    path = arm(tmp_path)
    path.write_text(path.read_text().replace('upper="3"', 'upper="1e16"'))
    assert load_arm(path).limits.upper.tolist() == [float('inf')] * 2


@pytest.mark.filterwarnings('error')
def test_three_thousand_fixed_joints_in_a_row_are_read(tmp_path):
    parts = [link('f0')]
    for i in range(1, 3000):
        parts += [link(f'f{i}'), joint(f'f{i}', f'f{i - 1}', f'f{i}', 'fixed')]
    path = write(tmp_path, robot(*parts, link('l'), joint(
        'j', 'f2999', 'l', extra='<limit lower="-1" upper="1" velocity="1"/>')))
    # A cubic search took more than a minute.
    with pytest.warns(match='no usable effort limit'):
        assert load_arm(path).joint_names == ('j',)


@pytest.mark.filterwarnings('error::RuntimeWarning')
@pytest.mark.parametrize('kind', ['continuous', 'revolute'])
def test_an_arm_without_limits_makes_no_noise(tmp_path, kind, capsys):
    path = arm(tmp_path)
    path.write_text(path.read_text().replace('"revolute"', f'"{kind}"'))
    assert main(['external-force', str(path), '--wrench', *'000001', '--json']) == 0
    assert main(['pose-error', str(path), '--json']) == 0
    told = capsys.readouterr()
    assert 'NaN' not in told.out and 'Infinity' not in told.out and 'Runtime' not in told.err


def test_init_needs_no_element_that_is_not_checked(tmp_path, capsys):
    path = arm(tmp_path)
    path.write_text(path.read_text().replace(
        '<limit lower', '<safety_controller k_velocity="x"/><limit lower', 1))
    assert main(['init', str(path), '-o', str(tmp_path / 'new')]) == 0
    path.write_text(path.read_text().replace(
        '<inertial>', '<collision><geometry><box size="a"/></geometry></collision><inertial>', 1))
    assert main(['init', str(path), '-o', str(tmp_path / 'other')]) == 2
    assert f'<box size="a"> of the <collision> of link "l1" in {path}' in capsys.readouterr().err
    assert not (tmp_path / 'other' / 'arm.yaml').exists()
