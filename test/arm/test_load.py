# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""``arm.yaml``: what it sets, and what is said when it is wrong."""

import numpy as np
import pytest
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.errors import ArmError

ROW = {'alpha': 0, 'a': 0.1, 'd': 0, 'theta': 0}
BASE = {'name': 'two', 'description': {'mdh': {'rows': [ROW, ROW]}}, 'joints': ['a', 'b']}


def write(folder, **settings):
    path = folder / 'arm.yaml'
    path.write_text(yaml.safe_dump(BASE | settings, sort_keys=False))
    return path


def test_a_description_alone_gives_the_defaults(tmp_path):
    path = tmp_path / 'arm.yaml'
    path.write_text(yaml.safe_dump({'description': BASE['description']}))
    arm = load_arm(path)
    assert arm.name == tmp_path.name
    assert arm.joint_names == ('joint_1', 'joint_2')
    assert arm.friction == ('viscous', 'coulomb', 'offset')
    assert arm.rotor_inertia
    assert arm.drive.signal == 'effort'
    np.testing.assert_array_equal(arm.gravity, [0, 0, -9.81])
    np.testing.assert_array_equal(arm.drive.gain, [1, 1])
    np.testing.assert_array_equal(arm.limits.upper, [np.inf, np.inf])


def test_folder_and_file_and_text_path_give_the_same_arm(tmp_path):
    path = write(tmp_path)
    assert load_arm(path).name == load_arm(tmp_path).name == load_arm(str(path)).name == 'two'


def test_settings_arrive_where_they_belong(tmp_path):
    arm = load_arm(write(
        tmp_path, gravity=[0, 9.81, 0], friction=['viscous'], rotor_inertia=False,
        friction_shape={'smooth_speed': 0.5}, aliases=[['x', 'y'], ['u', 'v']],
        conditioning={'cutoff_hz': 5, 'filter': 'fir', 'period': 10, 'delay': 0.02},
        table={'rate_hz': 100, 'position': ['q0', 'q1'], 'header': ['q0', 'q1', 'w']},
        nominal={'rotor_inertia': [0.1, 0.2], 'viscous': [1, 2]}))
    np.testing.assert_array_equal(arm.gravity, [0, 9.81, 0])
    assert arm.layout.friction == ('Fv',)
    assert not arm.layout.rotor_inertia
    assert arm.friction_shape.smooth_speed == 0.5
    assert arm.aliases == (('x', 'y'), ('u', 'v'))
    assert vars(arm.conditioning) == {
        'cutoff_hz': 5, 'filter': 'fir', 'period': 10, 'delay': 0.02}
    assert (arm.table.rate_hz, arm.table.position) == (100, ('q0', 'q1'))
    assert arm.table.header == ('q0', 'q1', 'w')
    np.testing.assert_array_equal(arm.rotor_nominal, [0.1, 0.2])
    np.testing.assert_array_equal(arm.friction_nominal['viscous'], [1, 2])


@pytest.mark.parametrize(('drive', 'gain'), [
    ({'signal': 'effort', 'unit': 'Nm'}, [1, 1]),
    ({'signal': 'effort', 'sign': [1, -1]}, [1, -1]),
    ({'signal': 'current', 'gain': [2, 3], 'gear_ratio': [10, 100]}, [20, 300]),
    ({'signal': 'voltage', 'torque_constant': [0.5, 0.25], 'amplifier_gain': [2, 8]}, [1, 2]),
])
def test_gain_is_the_product_of_all_factors(tmp_path, drive, gain):
    np.testing.assert_array_equal(load_arm(write(tmp_path, drive=drive)).drive.gain, gain)


def test_transmission_may_be_a_matrix_or_a_diagonal(tmp_path):
    full = load_arm(write(tmp_path, drive={'transmission': [[2, 0], [1, 3]], 'offset': [1, 2]}))
    np.testing.assert_array_equal(full.drive.transmission, [[2, 0], [1, 3]])
    np.testing.assert_array_equal(full.drive.offset, [1, 2])
    diagonal = load_arm(write(tmp_path, drive={'transmission': [2, 3]}))
    np.testing.assert_array_equal(diagonal.drive.transmission, [[2, 0], [0, 3]])


def test_limits_are_overridden_and_planned_motions_keep_off_them(tmp_path):
    arm = load_arm(write(tmp_path, limits={
        'lower': [-1, -2], 'upper': [1, 2], 'velocity': [4, 8], 'acceleration': [3, float('inf')],
        'effort': [10, 20], 'position_margin': 0.25, 'velocity_scale': 0.5, 'effort_scale': 0.25,
    }))
    np.testing.assert_array_equal(arm.limits.lower, [-1, -2])
    np.testing.assert_array_equal(arm.limits.upper, [1, 2])
    np.testing.assert_array_equal(arm.limits.velocity, [4, 8])
    np.testing.assert_array_equal(arm.limits.effort, [10, 20])
    limits = arm.motion_limits
    np.testing.assert_array_equal(limits.lower, [-0.75, -1.75])
    np.testing.assert_array_equal(limits.upper, [0.75, 1.75])
    np.testing.assert_array_equal(limits.velocity, [2, 4])
    np.testing.assert_array_equal(limits.acceleration, [3, np.inf])
    np.testing.assert_array_equal(limits.effort, [2.5, 5])


def test_coupling_rows_and_columns_are_joints(tmp_path):
    column, = load_arm(write(tmp_path, coupling={
        'Iam2': {'quantity': 'qdd', 'rows': {'a': {'b': 1}, 'b': {'a': -2}}}})).coupling
    assert (column.name, column.quantity) == ('Iam2', 'qdd')
    np.testing.assert_array_equal(column.matrix, [[0, 1], [-2, 0]])


def test_links_are_given_at_the_centre_of_mass(tmp_path):
    body = {'mass': 2, 'com': [0.5, 0, 0], 'inertia': [1, 0, 0, 1, 0, 1]}
    arm = load_arm(write(tmp_path, nominal={'links': [body, body]}))
    # 1 + 2 * 0.5² about the two axes across the offset.
    np.testing.assert_array_equal(arm.inertial[1], [2, 1, 0, 0, 1, 0, 0, 1.5, 0, 1.5])


def test_numbers_without_a_point_before_the_exponent_are_numbers(tmp_path):
    path = write(tmp_path)
    path.write_text(path.read_text() + 'friction_shape: {smooth_speed: 1e-3}\n')
    assert load_arm(path).friction_shape.smooth_speed == 0.001


LINK = {'mass': 1, 'com': [0, 0, 0]}
WRONG = {
    'unknown key': ({'fricton': ['viscous']},
                    'unknown key "fricton" in .*arm.yaml; did you mean "friction"'),
    'far-off key': ({'zzzzz': 1}, 'unknown key "zzzzz" in .*; known are name, description'),
    'deep key': ({'drive': {'sginal': 'effort'}},
                 'unknown key "sginal" under "drive" in .*arm.yaml; did you mean "signal"'),
    'short list': ({'drive': {'signal': 'current', 'gain': [1]}},
                   '"drive.gain" in .*arm.yaml must be a list of 2 numbers, not a list of 1'),
    'flat gravity': ({'gravity': 9.81}, '"gravity" in .* must be a list of 3 numbers, not 9.81'),
    'gravity of two': ({'gravity': [0, 9.81]}, '"gravity" in .* 3 numbers, not a list of 2'),
    'word': ({'gravity': [0, 0, 'down']}, r'"gravity\[2\]" in .* a number, not "down"'),
    'endless': ({'gravity': [0, 0, float('-inf')]}, r'"gravity\[2\]" in .* a number, not -inf'),
    'flag': ({'rotor_inertia': 'maybe'}, '"rotor_inertia" in .* must be true or false'),
    'name': ({'name': 5}, '"name" in .* must be text, not 5'),
    'joint number': ({'joints': [1, 2]}, r'"joints\[0\]" in .* must be text, not 1'),
    'joint text': ({'joints': 'a'}, '"joints" in .* must be a list of names'),
    'joint twice': ({'joints': ['a', 'a']}, '"joints" in .* names "a" twice'),
    'joint too many': ({'joints': ['a', 'b', 'c']}, 'names 3 joints, but .* has 2 rows'),
    'section': ({'limits': [1, 2]}, '"limits" in .* must hold keys and values, not a list'),
    'alias': ({'aliases': [['x']]}, r'"aliases\[0\]" .* 2 names, not a list of 1'),
    'flat alias': ({'aliases': ['x', 'y']}, r'"aliases\[0\]" .* list of 2 names, not "x"'),
    'friction': ({'friction': ['viscos']}, '"friction" in .*arm.yaml .*unknown friction .*viscos'),
    'signal': ({'drive': {'signal': 'curent'}}, '"drive.signal" .* did you mean "current"'),
    'unit': ({'drive': {'signal': 'effort', 'unit': 'mA'}}, '"drive.unit" .* one of Nm, N, not'),
    'no gain': ({'drive': {'signal': 'current'}}, '"drive.gain" in .* is missing'),
    'odd gain': ({'drive': {'signal': 'effort', 'gain': [1, 1]}}, '"drive.gain" .* not belong'),
    'zero gain': ({'drive': {'signal': 'current', 'gain': [1, 0]}}, 'gain of zero'),
    'singular': ({'drive': {'transmission': [[1, 1], [1, 1]]}}, 'cannot be inverted'),
    'short matrix': ({'drive': {'transmission': [[1, 1]]}}, 'list of 2 rows, not a list of 1'),
    'no room': ({'limits': {'lower': [-1, 0], 'upper': [1, 0.1], 'position_margin': 0.2}},
                '"limits.position_margin" in .* leaves joint "b" no range'),
    'turned': ({'limits': {'lower': [1, 0], 'upper': [0, 1]}}, '"limits.lower" .* joint "a"'),
    'standstill': ({'limits': {'velocity': [1, 0]}}, '"limits.velocity" .* above zero'),
    'scale': ({'limits': {'effort_scale': 0}}, '"limits.effort_scale" in .* above zero, not 0'),
    'cutoff': ({'conditioning': {'cutoff_hz': -1}}, '"conditioning.cutoff_hz" .* above zero'),
    'filter': ({'conditioning': {'filter': 'butter'}}, 'did you mean "butterworth"'),
    'table': ({'table': {'position': ['x']}}, '"table.position" in .* 2 names, not a list of 1'),
    'coupling joint': ({'coupling': {'K': {'quantity': 'qd', 'rows': {'a': {'bb': 1}}}}},
                       'unknown key "bb" under "coupling.K.rows.a" in'),
    'coupling quantity': ({'coupling': {'K': {'rows': {'a': {'b': 1}}}}}, 'quantity" .* missing'),
    'coupling of none': ({'coupling': {'K': {'quantity': 'qd'}}}, 'couple no joints'),
    'link': ({'nominal': {'links': [LINK, LINK]}}, 'link 1.inertia" in .* is missing'),
    'links': ({'nominal': {'links': [LINK]}}, 'must be a list of 2 links'),
    'description': ({'description': {}}, 'must give exactly one of urdf, mdh and dh'),
    'two descriptions': ({'description': {'urdf': 'a', 'dh': {}}}, 'exactly one of'),
    'no urdf': ({'description': {'urdf': 'none.urdf'}}, 'cannot read the URDF .*none.urdf'),
    'lock': ({'locked': {'a': 1}}, '"locked" in .* works with a URDF only'),
}


@pytest.mark.parametrize('case', WRONG)
def test_a_wrong_setting_is_named_with_its_key_and_file(tmp_path, case):
    settings, message = WRONG[case]
    with pytest.raises(ArmError, match=message) as caught:
        load_arm(write(tmp_path, **settings))
    assert str(tmp_path) in str(caught.value)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize(('content', 'message'), [
    ('a: [1', 'is not valid YAML: .*line'),
    ('name: x\nname: y', 'arm.yaml is not valid YAML: key "name" is repeated, lines 1 and 2'),
    ('drive:\n  signal: effort\n  signal: effort', 'key "signal" is repeated'),
    ('just text', 'must hold keys and values, not "just text"'),
    ('', '"description" in .* must give exactly one'),
    ('a: !!python/object/apply:os.system [ls]', 'is not valid YAML: could not determine'),
    ('name: \x00', 'is not valid YAML'),
    ('? [a, b]\n: 1', 'is not valid YAML|unknown key'),
    ('&a [*a]', 'alias "a" contains itself, line 1'),
    pytest.param('[' * 5000, 'is not valid YAML', id='nested without end'),
])
def test_what_is_no_settings_file_is_refused_in_one_sentence(tmp_path, content, message):
    path = tmp_path / 'arm.yaml'
    path.write_text(content)
    with pytest.raises(ArmError, match=message) as caught:
        load_arm(path)
    assert '\n' not in str(caught.value)


def test_an_arm_that_does_not_exist_is_answered_with_those_that_do(tmp_path):
    with pytest.raises(ArmError, match=r'no arm or file "ur11"; shipped .*panda.*"ur10"'):
        load_arm('ur11')
    with pytest.raises(ArmError, match=r'the folder .* holds no arm\.yaml'):
        load_arm(tmp_path)
    (tmp_path / 'arm.txt').touch()
    with pytest.raises(ArmError, match=r'neither an arm\.yaml nor a robot \(\.urdf, \.xacro'):
        load_arm(tmp_path / 'arm.txt')
