# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Excitation files come back as they were written, and damage is named."""

from dataclasses import replace

import numpy as np
from oracles import random_arm
import pytest
import yaml

from dynid_ros.arm.description.tree import JointLimits
from dynid_ros.errors import InputError
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.motion.trajectory.motion_file import arm_hash, read_motion, write_motion
from dynid_ros.motion.trajectory.motion_pair import MotionPair


@pytest.fixture
def arm():
    """Arm with some limits known and some not."""
    limits = JointLimits(
        np.array([-1.0, -np.inf]), np.array([1.5, np.inf]), np.array([2.0, np.inf]),
        np.array([1 / 3, 7.0]), np.array([np.inf, 40.0]))
    return replace(random_arm(np.random.default_rng(0), 2), limits=limits)


@pytest.fixture
def written(arm, tmp_path):
    """File with a motion whose numbers have all digits."""
    rng = np.random.default_rng(1)
    motion = FourierMotion.at_rest(
        10 / 3, rng.normal(size=2), 1e-7 * rng.normal(size=(2, 8)), 3, 0.1)
    path = tmp_path / 'excitation.yaml'
    write_motion(path, motion, arm)
    return path, motion


def test_a_motion_reads_back_without_loss(written, arm):
    path, motion = written
    read = read_motion(path, arm)
    for name in ('period', 'periods', 'ramp'):
        assert getattr(read.motion, name) == getattr(motion, name)
    for name in ('offset', 'sine', 'cosine'):
        np.testing.assert_array_equal(getattr(read.motion, name), getattr(motion, name))
    joints = yaml.safe_load(path.read_text())['joints']
    for name in ('lower', 'upper', 'velocity', 'acceleration', 'effort'):
        for limit, joint in zip(getattr(arm.limits, name), joints.values(), strict=True):
            assert joint['limits'].get(name, limit if np.isinf(limit) else None) == limit
    assert read.joint_names == ('j1', 'j2')


def test_a_pair_reads_back_without_loss(written, arm):
    path, motion = written
    other = FourierMotion.at_rest(2.0, [0.1, 0.2], np.full((2, 4), 0.01))
    write_motion(path, MotionPair(motion, other, 1.7), arm, {'seed': 3})
    pair = read_motion(path).motion
    assert (pair.way, pair.duration) == (1.7, motion.duration + 1.7 + 2.0)
    t = np.linspace(-1.0, 20.0, 400)
    for own, given in ((pair.excitation, motion), (pair.validation, other)):
        for one, two in zip(own.evaluate(t), given.evaluate(t), strict=True):
            np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(pair.evaluate(100.0)[0], other.start)


@pytest.mark.parametrize(('change', 'words'), [
    ({'way': None}, 'validation.*way'), ({'way': -1.0}, 'way'), ({'way': 1e9}, 'it would last'),
    ({'joints': {'j1': {}}}, 'validation.joints.j1.sine'), ({'other': 1}, 'other')])
def test_a_damaged_validation_motion_is_named(written, arm, change, words):
    path, motion = written
    write_motion(path, MotionPair(motion, motion, 1.0), arm)
    content = yaml.safe_load(path.read_text())
    content['validation'] |= change
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(InputError, match=words):
        read_motion(path)


def test_hash_tells_kinematics_and_limits_apart_but_not_inertias(arm):
    moved = arm.with_tree(translation=arm.translation + 1e-6)
    slower = replace(arm, limits=replace(arm.limits, velocity=np.array([1.0, 1.0])))
    renamed = arm.with_tree(joint_names=('a', 'b'))
    heavier = replace(arm, inertial=2 * arm.inertial)
    assert len({arm_hash(a) for a in (arm, moved, slower, renamed)}) == 4
    assert arm_hash(heavier) == arm_hash(arm)


def test_a_motion_for_another_arm_is_refused(written, arm):
    path, _ = written
    with pytest.raises(InputError, match=r'moves the joints j1, j2, but the arm .* has a, b'):
        read_motion(path, arm.with_tree(joint_names=('a', 'b')))
    with pytest.raises(InputError, match="made for 'random' with other kinematics or limits"):
        read_motion(path, arm.with_tree(translation=arm.translation + 1))


@pytest.mark.parametrize(('keys', 'value', 'message'), [
    (('format',), 'other', "lacks 'format: dynid_ros excitation'"),
    (('version',), 2, 'version 2 of the excitation format, but only version 1'),
    (('motion', 'period'), 'long', '"motion.period" in .* must be a number'),
    (('motion', 'periods'), 2.5, '"motion.periods" in .* must be a whole number'),
    (('motion', 'ramp'), None, '"motion.ramp" in .* is missing'),
    (('motion', 'ramp'), -1.0, 'holds no usable motion: the ramp must not be a negative time'),
    (('motion', 'periods'), 2**32, 'holds no usable motion: it would last 1.43.*e.10 s; keep'),
    (('joints', 'j1', 'sine'), [1.0], '"joints.j1.sine" in .* 5 numbers, not a list of 1'),
    (('joints', 'j2', 'offset'), None, '"joints.j2.offset" in .* is missing'),
    (('joints',), {}, '"joints" in .* must hold one entry for each joint'),
    (('speed',), 1, 'unknown key "speed"'),
])
def test_damage_is_named_in_one_line(written, keys, value, message):
    path, _ = written
    content = yaml.safe_load(path.read_text())
    place = content
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    with pytest.raises(InputError, match=message) as error:
        read_motion(path)
    assert '\n' not in str(error.value)
    assert 'excitation.yaml' in str(error.value)


def test_files_that_cannot_be_read_or_written_are_named(arm, written, tmp_path):
    with pytest.raises(InputError, match=r'cannot read .*missing\.yaml: No such file'):
        read_motion(tmp_path / 'missing.yaml')
    with pytest.raises(InputError, match=r'cannot be written: is a directory'):
        write_motion(tmp_path, written[1], arm)
    (tmp_path / 'broken.yaml').write_text('a: [1, 2')
    with pytest.raises(InputError, match=r'broken\.yaml is not valid YAML'):
        read_motion(tmp_path / 'broken.yaml')
