# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""JointTrajectory files are read as they were written; each mistake is named by its point."""

import numpy as np
import pytest
import yaml

from dynid_ros.arm.load import load_arm
from dynid_ros.errors import DynidError, InputError
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.trajectory_file import (
    export_motion,
    read_trajectory,
    Trajectory,
    write_trajectory,
)
from dynid_ros.pages.report.plots import draw_motion


def made(points=5, joints=3):
    rng = np.random.default_rng(4)
    t = np.cumsum(rng.uniform(0.01, 2.0, points)) + 12.0
    return Trajectory(('a', 'b/c', 'd')[:joints], t, *rng.normal(size=(4, points, joints)))


def test_points_come_back_within_their_digits(tmp_path):
    wanted = made()
    write_trajectory(tmp_path / 'm.yaml', wanted)
    found = read_trajectory(tmp_path / 'm.yaml')
    assert found.joint_names == wanted.joint_names
    for name in ('t', 'q', 'qd', 'qdd'):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=1e-9)


def test_the_file_has_the_fields_of_the_message(tmp_path):
    wanted = made()
    write_trajectory(tmp_path / 'm.yaml', wanted)
    content = yaml.safe_load((tmp_path / 'm.yaml').read_text())
    assert set(content) == {'joint_names', 'points'}
    assert all(set(point) == {'positions', 'velocities', 'accelerations', 'effort',
                              'time_from_start'} for point in content['points'])
    np.testing.assert_allclose([point['effort'] for point in content['points']], wanted.effort,
                               atol=1e-9)


def changed(change):
    point = {'positions': [0.0, 1.0], 'velocities': [0, 0], 'accelerations': [0, 0]}
    content = {'joint_names': ['a', 'b'], 'points': [
        {**point, 'time_from_start': {'sec': k}} for k in range(3)]}
    change(content)
    return content


@pytest.mark.parametrize(('change', 'told'), [
    (lambda c: c['points'][1].pop('velocities'), r'"points\[1\].velocities".*are missing'),
    (lambda c: c['points'][2].update(accelerations=[]), r'"points\[2\].accelerations".*missing'),
    (lambda c: c['points'][0].update(positions=[1.0]), r'"points\[0\].positions".*a list of 1'),
    (lambda c: c['points'][2].update(time_from_start={'sec': 1}), r'points\[2\] \(1 s\) is not'),
    (lambda c: c.update(points=[]), r'"points".*two points or more'),
    (lambda c: c.pop('joint_names'), '"joint_names".*must list'),
    (lambda c: c.update(joint_names=['a', 'a']), 'joint_names'),
    (lambda c: c.update(joints=[]), 'unknown key "joints"'),
])
def test_each_mistake_is_named(tmp_path, change, told):
    path = tmp_path / 'm.yaml'
    path.write_text(yaml.safe_dump(changed(change)))
    with pytest.raises(DynidError, match=told) as error:
        read_trajectory(path)
    assert str(path) in str(error.value)


@pytest.fixture(scope='module')
def arm():
    return load_arm('two_axis')


@pytest.fixture(scope='module')
def motion(arm):
    return random_motion(arm, 0, period=8.0, periods=1, tries=20)


def test_csv_holds_the_motion_from_rest_to_rest(tmp_path, arm, motion):
    export_motion(tmp_path / 'm.csv', motion, arm.joint_names, 30.0)
    header, *_ = (tmp_path / 'm.csv').read_text().splitlines()
    rows = np.loadtxt(tmp_path / 'm.csv', delimiter=',', skiprows=1)
    assert header == ('t,q_arm_joint,q_pendulum_joint,qd_arm_joint,qd_pendulum_joint,'
                      'qdd_arm_joint,qdd_pendulum_joint')
    assert rows[-1, 0] == motion.duration
    np.testing.assert_allclose(np.diff(rows[:, 0]), 1 / 30, rtol=1e-6)
    # Nine digits are written.
    np.testing.assert_allclose(rows[:, 1:], np.hstack(motion.evaluate(rows[:, 0])), atol=1e-6)


def test_trajectory_has_the_fields_of_the_ros_message(tmp_path, arm, motion):
    export_motion(tmp_path / 'm.yaml', motion, arm.joint_names, 50.0)
    message = yaml.safe_load((tmp_path / 'm.yaml').read_text())
    assert message['joint_names'] == list(arm.joint_names)
    first, last = message['points'][0], message['points'][-1]
    assert first['velocities'] == [0.0, 0.0]
    assert last['time_from_start'] == {'sec': 8, 'nanosec': 0}
    point = message['points'][33]
    stamp = point['time_from_start']
    q, qd, qdd = motion.evaluate(stamp['sec'] + 1e-9 * stamp['nanosec'])
    np.testing.assert_allclose(point['positions'], q, atol=1e-9)
    np.testing.assert_allclose(point['velocities'], qd, atol=1e-9)
    np.testing.assert_allclose(point['accelerations'], qdd, atol=1e-9)


def test_files_that_cannot_be_written_are_named(tmp_path, arm, motion):
    with pytest.raises(InputError, match=r'm\.txt: a motion is exported as \.csv'):
        export_motion(tmp_path / 'm.txt', motion, arm.joint_names, 50.0)
    (tmp_path / 'm.csv').mkdir()
    with pytest.raises(InputError, match=r'm\.csv cannot be written: is a directory'):
        export_motion(tmp_path / 'm.csv', motion, arm.joint_names, 50.0)


def test_drawings_show_every_joint_and_the_path(tmp_path, arm, motion):
    draw_motion(tmp_path / 'plots', motion, arm, 'svg')
    joints = (tmp_path / 'plots' / 'joints.svg').read_text()
    # Matplotlib writes text as comments beside its outlines.
    for word in ('arm_joint, rad', 'pendulum_joint, rad', 'torque', 'qdd'):
        assert f'<!-- {word} -->' in joints
    assert (tmp_path / 'plots' / 'path.svg').stat().st_size > 1000


def test_drawings_name_the_units_of_each_joint(tmp_path, arm, motion):
    lift = arm.with_tree(prismatic=np.array([True, False]))
    draw_motion(tmp_path, motion, lift, 'svg')
    joints = (tmp_path / 'joints.svg').read_text()
    for words in ('arm_joint, m', 'pendulum_joint, rad', 'm/s', 'rad/s', 'm/s²', 'rad/s²', 'N',
                  'Nm'):
        assert joints.count(f'<!-- {words} -->') == 1
