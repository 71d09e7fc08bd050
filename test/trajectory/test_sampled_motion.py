"""Exported samples and drawings hold the motion."""

import numpy as np
import pytest
import yaml

from dynid_ros.arm.load import load_arm
from dynid_ros.errors import InputError
from dynid_ros.excitation.random_motion import random_motion
from dynid_ros.report.plots import draw_motion
from dynid_ros.trajectory.sampled_motion import export_motion


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
    with pytest.raises(InputError, match=r'm\.txt can be written as \.csv'):
        export_motion(tmp_path / 'm.txt', motion, arm.joint_names, 50.0)
    (tmp_path / 'm.csv').mkdir()
    with pytest.raises(InputError, match=r'm\.csv cannot be written: is a directory'):
        export_motion(tmp_path / 'm.csv', motion, arm.joint_names, 50.0)


def test_drawings_show_every_joint_and_the_path(tmp_path, arm, motion):
    draw_motion(tmp_path / 'plots', motion, arm, 'svg')
    joints = (tmp_path / 'plots' / 'joints.svg').read_text()
    # Matplotlib writes text as comments beside its outlines.
    for word in ('arm_joint', 'pendulum_joint', 'torque', 'qdd'):
        assert f'<!-- {word} -->' in joints
    assert (tmp_path / 'plots' / 'path.svg').stat().st_size > 1000
