# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Copies of an arm.yaml with other gains: what changes, and what stays."""

import numpy as np
import pytest
import yaml

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive_file import check_copy, write_copy
from dynid_ros.errors import ArmError, ResultError

HEAD = """\
name: two  # of two joints
description: {mdh: {rows: [{alpha: 0, a: 0.1, d: 0, theta: 0}, {alpha: 0, a: 0, d: 0, theta: 0}]}}
joints: [a, b]
"""
TAIL = '# The end.\ngravity: [0, 0, -9.81]\n'
DRIVES = {
    'flow': 'drive: {signal: current, gain: [2, 3], sign: [1, -1]}  # Nm/A\n',
    'block': 'drive:\n  signal: current  # A\n  gain:\n  - 2  # first\n  - 3\n  sign: [1, -1]\n',
    'last': 'drive:\n  sign: [1, -1]\n  signal: current\n  gain:\n    - 2\n    - 3\n',
    'voltage': 'drive:\n  signal: voltage\n  torque_constant: [0.5, 2]\n'
               '  amplifier_gain: [4, 1.5]\n  sign: [1, -1]\n',
    'effort': 'drive: {signal: effort, unit: Nm}\n',
    'effort of motors': 'drive:\n  signal: effort\n  gear_ratio: [2, 3]\n  sign: [1, -1]\n',
    'nothing': '',
}


@pytest.mark.parametrize('kind', DRIVES)
def test_gains_change_and_all_else_stays(tmp_path, kind):
    source, target = tmp_path / 'arm.yaml', tmp_path / 'new.yaml'
    source.write_text(HEAD + DRIVES[kind] + TAIL)
    gain = load_arm(source).drive.gain * [1.25, 0.7123456]
    write_copy(str(source), gain, target)
    np.testing.assert_allclose(load_arm(target).drive.gain, gain, rtol=1e-7)
    before, after = (yaml.safe_load(path.read_text()) for path in (source, target))
    changed = {'gain', 'torque_constant', 'gear_ratio'}
    for content in (before, after):
        content['drive'] = {key: value for key, value in content.get('drive', {}).items()
                            if key not in changed and (kind != 'nothing' or key != 'signal')}
    assert before == after
    assert target.read_text().startswith(HEAD)
    assert '# The end.' in target.read_text()


def test_a_copy_elsewhere_finds_the_description(tmp_path):
    folder = tmp_path / "an engineer's cell"
    folder.mkdir()
    target = folder / 'panda.yaml'
    wanted = load_arm('panda')
    write_copy('panda', wanted.drive.gain * 2, target)
    copy = load_arm(target)
    np.testing.assert_array_equal(copy.translation, wanted.translation)
    np.testing.assert_array_equal(copy.drive.gain, wanted.drive.gain * 2)


def test_a_text_in_which_gains_stand_elsewhere_is_not_copied(tmp_path):
    source, target = tmp_path / 'arm.yaml', tmp_path / 'new.yaml'
    source.write_text('locked: &both {}\n' + HEAD.replace('[a, b]', '[a, b]\naliases: [&g [2, 3]]')
                      + 'drive: {signal: current, gain: *g}\n')
    with pytest.raises((ResultError, ArmError)):
        write_copy(str(source), np.array([4.0, 4.0]), target)
    assert not target.exists()


def test_what_cannot_be_written_is_refused_before_the_work(tmp_path):
    source = tmp_path / 'arm.yaml'
    source.write_text(HEAD)
    with pytest.raises(ResultError, match='exists already'):
        check_copy(str(source), source)
    with pytest.raises(ResultError, match=r'must end in \.yaml'):
        check_copy(str(source), tmp_path / 'new.txt')
    robot = tmp_path / 'robot.urdf'
    robot.write_text('<robot name="r"/>')
    with pytest.raises(ArmError, match='dynid init'):
        check_copy(str(robot), tmp_path / 'new.yaml')
