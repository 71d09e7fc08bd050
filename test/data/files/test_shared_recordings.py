# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The recordings of real arms read as their owners describe them."""

from dataclasses import replace

import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.model import ArmModel, Table
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.errors import RecordingError

UR10 = tuple(
    f'{name}_joint'
    for name in ('shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3')
)


def plain_arm(names: tuple[str, ...]) -> ArmModel:
    arm = random_arm(np.random.default_rng(0), len(names), prismatic=False)
    return arm.with_tree(joint_names=names)


def test_ur10_has_3441_samples_at_125_hz(shared_data):
    log = read_recording(shared_data / 'ur10' / 'ur10_exciting_trajectory.db3', plain_arm(UR10))
    assert log.q.shape == log.qd.shape == log.u.shape == (3441, 6)
    np.testing.assert_allclose(np.diff(log.t), 0.008, atol=2e-9)
    assert log.defects == ()


def test_panda_has_727_samples_at_30_hz_under_an_alias(shared_data):
    names = tuple(f'joint{i}' for i in range(1, 8))
    arm = replace(plain_arm(names), aliases=(tuple(f'fer_{name}' for name in names),))
    log = read_recording(shared_data / 'panda' / 'panda_exciting_trajectory.db3', arm)
    assert log.q.shape == (727, 7)
    assert log.joint_names == names
    # As the description says, to its number of digits.
    assert log.seconds == pytest.approx(24.2, abs=0.05)


def test_tx40_positions_are_those_at_the_joints(shared_data):
    ratios = np.array([32, 32, 45, -48, 45, 32.0])
    transmission = np.diag(ratios)
    transmission[5, 4] = ratios[5]
    offset = np.array([0, -np.pi / 2, np.pi / 2, 0, 0, 0])
    axes = tuple(f'Joint_{i}' for i in range(1, 7))
    arm = replace(
        plain_arm(axes),
        drive=Drive('current', np.ones(6), transmission, offset),
        table=Table(rate_hz=5000, position=axes, signal=axes, signal_file='curr_data.csv'),
    )
    log = read_recording(shared_data / 'tx40' / 'pos_read_data.csv', arm)
    assert log.q.shape == (45_000, 6)
    assert log.seconds == pytest.approx(44_999 / 5000)
    assert log.q[0, 1] == pytest.approx(50.265 / 32 - np.pi / 2)
    # Joint limits of the arm: the wrist coupling would break them if it were not undone.
    assert (np.abs(log.q) < np.array([3.15, 2.19, 2.41, 4.72, 2.34, 4.72])).all()


def test_med7_needs_its_rate_and_has_1647_rows(shared_data):
    path = shared_data / 'med7' / 'measurements.csv'
    arm = plain_arm(tuple(f'A{i}' for i in range(1, 8)))
    with pytest.raises(RecordingError, match='no time column'):
        read_recording(path, arm)
    log = read_recording(path, arm, rate_hz=100.0)
    assert log.q.shape == log.u.shape == (1647, 7)
    assert log.qd is None
    # The first row of the file, whose columns tau_ext_0 ... must not be taken.
    assert log.u[0, 0] == pytest.approx(-0.108884227752686, abs=1e-15)


def test_the_published_oracle_is_of_another_type_and_says_so(shared_data):
    path = shared_data / 'ur10' / 'validation_trajectory.db3'
    with pytest.raises(RecordingError, match='trajectory_msgs/msg/JointTrajectory, not'):
        read_recording(path, plain_arm(UR10), topic='joint_space_trajectory')
    with pytest.raises(RecordingError, match=r'/joint_space_trajectory \(trajectory_msgs'):
        read_recording(path, plain_arm(UR10))
