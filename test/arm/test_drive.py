# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Drive signals and motor positions become torques and positions at the joints."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid_ros.arm.description.schema import Section
from dynid_ros.arm.drive import Drive, joint_position, joint_torque, joint_velocity
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.settings import read_drive
from dynid_ros.data.files.plain_values import arm_from_plain, arm_to_plain
from dynid_ros.errors import ArmError


def coupled(n=4):
    rng = np.random.default_rng(3)
    transmission = np.diag(rng.uniform(20, 50, n)) + np.eye(n, k=-1) * 7.0
    return Drive('current', rng.uniform(0.1, 2, n), transmission, rng.normal(size=n))


def test_motor_positions_are_transmitted_joint_positions():
    drive = coupled()
    q = np.random.default_rng(1).normal(size=(5, 4))
    motors = (q - drive.offset) @ drive.transmission.T
    # Inverse of a matrix of condition number below 10, on values of about 1.
    np.testing.assert_allclose(joint_position(motors, drive), q, atol=1e-13)


def test_power_is_equal_at_motors_and_joints():
    drive = coupled()
    rng = np.random.default_rng(2)
    motor_speed, u = rng.normal(size=(2, 5, 4))
    at_motors = (drive.gain * u * motor_speed).sum(axis=1)
    at_joints = (joint_torque(u, drive) * joint_velocity(motor_speed, drive)).sum(axis=1)
    np.testing.assert_allclose(at_joints, at_motors, rtol=1e-12)


def test_a_direct_drive_leaves_the_recording_bit_for_bit():
    values = np.random.default_rng(0).normal(size=(6, 3))
    drive = Drive.joint_torque(3)
    for function in (joint_torque, joint_position, joint_velocity):
        np.testing.assert_array_equal(function(values, drive), values)


def drive_of(**content):
    section = Section({'drive': content}, Path('arm.yaml'), ('drive',))
    return read_drive(section, ('arm_joint', 'pendulum_joint'))


def test_joints_without_a_drive_are_stated_by_name():
    assert drive_of().passive is None and drive_of().driven.tolist() == [True, True]
    drive = drive_of(passive=['pendulum_joint'])
    assert drive.passive.tolist() == [False, True] and drive.driven.tolist() == [True, False]
    arm = load_arm('two_axis')
    back = arm_from_plain(arm_to_plain(replace(arm, drive=drive)))
    assert back.drive.passive.tolist() == [False, True]
    assert arm_from_plain(arm_to_plain(arm)).drive.passive is None


@pytest.mark.parametrize(('content', 'words'), [
    ({'passive': ['pendulum']}, 'names "pendulum", but the joints are arm_joint, pendulum_joint'),
    ({'passive': ['arm_joint', 'pendulum_joint']}, 'names all joints'),
    ({'passive': ['pendulum_joint'], 'transmission': [[1, 0], [1, 1]]},
     'names a joint that the transmission couples to others'),
    ({'passive': ['pendulum_joint'], 'signal': 'command'}, 'does not belong to signal: command'),
])
def test_wrong_statements_of_passive_joints_are_named(content, words):
    with pytest.raises(ArmError, match=words):
        drive_of(**content)
