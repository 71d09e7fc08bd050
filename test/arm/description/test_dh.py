# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""DH tables against products of elementary transforms."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from oracles import link_poses
import pinocchio as pin
import pytest

from dynid_ros.arm.description.dh import dh_placements, read_dh
from dynid_ros.arm.description.schema import Section
from dynid_ros.errors import ArmError

seeds = st.integers(0, 2**32 - 1)
KEYS = ('alpha', 'a', 'd', 'theta')
# Products of a dozen transforms of order one, each rounded once.
CLOSE = {'rtol': 0, 'atol': 1e-13}


def turn(axis, angle):
    return pin.SE3(pin.utils.rotate(axis, angle), np.zeros(3))


def shift(axis, length):
    return pin.SE3(np.eye(3), length * np.eye(3)['xyz'.index(axis)])


def section(path, rows, units=None):
    data = {'rows': rows} if units is None else {'rows': rows, 'units': units}
    return Section(data, path, ('units', 'rows'), 'description.mdh')


def random_rows(seed):
    rng = np.random.default_rng(seed)
    rows = [dict(zip(KEYS, map(float, rng.uniform(-2, 2, 4)), strict=True)) for _ in range(5)]
    for row in rows:
        if rng.random() < 0.4:
            row['kind'] = 'prismatic'
    return rows, rng.uniform(-3, 3, 5)


def joint_values(row, q):
    slides = row.get('kind') == 'prismatic'
    return row['theta'] + (0 if slides else q), row['d'] + (q if slides else 0)


@given(seeds)
def test_modified_table_gives_craigs_link_frames(tmp_path_factory, seed):
    rows, q = random_rows(seed)
    read = read_dh(section(tmp_path_factory.getbasetemp() / 'arm.yaml', rows), (), modified=True)
    pose = pin.SE3.Identity()
    for row, value, ours in zip(rows, q, link_poses(read.tree, q), strict=True):
        theta, d = joint_values(row, value)
        pose = pose * turn('x', row['alpha']) * shift('x', row['a'])
        pose = pose * turn('z', theta) * shift('z', d)
        np.testing.assert_allclose(ours.homogeneous, pose.homogeneous, **CLOSE)


@given(seeds)
def test_standard_table_gives_its_frames_before_a_and_alpha(tmp_path_factory, seed):
    rows, q = random_rows(seed)
    read = read_dh(section(tmp_path_factory.getbasetemp() / 'arm.yaml', rows), (), modified=False)
    pose = pin.SE3.Identity()
    for row, value, ours in zip(rows, q, link_poses(read.tree, q), strict=True):
        theta, d = joint_values(row, value)
        pose = pose * turn('z', theta) * shift('z', d)
        np.testing.assert_allclose(ours.homogeneous, pose.homogeneous, **CLOSE)
        pose = pose * shift('x', row['a']) * turn('x', row['alpha'])


def test_a_and_alpha_of_the_last_standard_row_only_place_a_tool():
    table = np.random.default_rng(3).uniform(-1, 1, (4, 4))
    other = table.copy()
    other[-1, :2] = 9.0
    pairs = zip(
        dh_placements(table, modified=False), dh_placements(other, modified=False), strict=True)
    for ours, same in pairs:
        np.testing.assert_array_equal(ours, same)


def test_millimetres_and_degrees_mean_the_same_arm(tmp_path):
    metres = [{'alpha': np.pi / 2, 'a': 0.25, 'd': -0.5, 'theta': np.pi}]
    millimetres = [{'alpha': 90, 'a': 250, 'd': -500, 'theta': 180}]
    one = read_dh(section(tmp_path, metres), (), modified=True)
    two = read_dh(
        section(tmp_path, millimetres, {'length': 'mm', 'angle': 'deg'}), (), modified=True)
    np.testing.assert_allclose(one.tree.translation, two.tree.translation, **CLOSE)
    np.testing.assert_allclose(one.tree.rotation, two.tree.rotation, **CLOSE)


GOOD = {'alpha': 0, 'a': 0, 'd': 0, 'theta': 0}


@pytest.mark.parametrize(('row', 'message'), [
    ({'alpha': 0, 'a': 0, 'theta': 0}, '"description.mdh.rows, row 2.d" in .* is missing'),
    (GOOD | {'a': 'long'}, r'"description.mdh.rows, row 2.a" in .*arm.yaml must be a number, not '
                           '"long"'),
    (GOOD | {'a': True}, 'must be a number, not True'),
    (GOOD | {'aplha': 1}, 'unknown key "aplha" under .*row 2.* in .*yaml; did you mean "alpha"'),
    (GOOD | {'kind': 'prismtic'}, 'row 2.kind.* did you mean "prismatic"'),
    (GOOD | {'d': -1e12}, r'"description.mdh.rows" in .*arm.yaml holds a length of 1e\+12 m'),
    ([0, 0, 0, 0], 'row 2.* must hold keys and values, not a list'),
])
def test_a_bad_row_is_named_with_file_number_and_key(tmp_path, row, message):
    with pytest.raises(ArmError, match=message):
        read_dh(section(tmp_path / 'arm.yaml', [GOOD, row]), (), modified=True)


def test_unknown_units_and_wrong_counts_are_refused(tmp_path):
    with pytest.raises(ArmError, match='must be one of m, mm, not "cm"'):
        read_dh(section(tmp_path, [GOOD], {'length': 'cm'}), (), modified=True)
    with pytest.raises(ArmError, match=r'names 2 joints, but .* has 1 rows'):
        read_dh(section(tmp_path, [GOOD]), ('a', 'b'), modified=True)
    with pytest.raises(ArmError, match='must be a list with one row a joint'):
        read_dh(section(tmp_path, None), (), modified=True)


@pytest.mark.parametrize('units', [None, {'angle': 'deg'}, {'angle': 'rad'}])
def test_multiples_of_pi_are_radians_whatever_the_unit(tmp_path, units):
    scale = np.pi / 180 if units == {'angle': 'deg'} else 1.0
    words = {'-pi/2': -np.pi / 2, '3*pi/4': 0.75 * np.pi, '0.5 pi': np.pi / 2, 'PI': np.pi,
             '+π/3': np.pi / 3}
    rows = [{'alpha': word, 'a': 0.1, 'd': 0, 'theta': 0.2} for word in words]
    exact = [{**row, 'alpha': angle, 'theta': 0.2 * scale}
             for row, angle in zip(rows, words.values(), strict=True)]
    ours, theirs = (read_dh(section(tmp_path / 'arm.yaml', *given), (), modified=True)
                    for given in ((rows, units), (exact,)))
    np.testing.assert_allclose(ours.tree.rotation, theirs.tree.rotation, **CLOSE)
    with pytest.raises(ArmError, match=r'row 1.*alpha.*must be a number.*"pi/0"'):
        read_dh(section(tmp_path / 'arm.yaml', [{**rows[0], 'alpha': 'pi/0'}]), (), modified=True)
