# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Drives that follow commands: what arm.yaml states of them, and their torque."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.arm.description.schema import Section
from dynid_ros.arm.drive import (
    damping_torque,
    deviation,
    Drive,
    DriveTopic,
    joint_position,
    joint_torque,
    OPEN,
)
from dynid_ros.arm.drive_file import write_copy
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.settings import read_drive
from dynid_ros.data.files.plain_values import arm_from_plain, arm_to_plain
from dynid_ros.errors import ArmError

TWO_AXIS = Path(__file__).resolve().parents[2] / 'config' / 'arms' / 'two_axis' / 'arm.yaml'


def drive_of(**content):
    content = {'signal': 'command', **content}
    return read_drive(
        Section({'drive': content}, Path('arm.yaml'), ('drive',)), ('j1', 'j2'))


def test_gains_are_one_for_all_or_one_a_joint():
    assert drive_of(kp=50, kd=[1, 2]).gain.tolist() == [50, 50]
    drive = drive_of(kp=[50, 40], kd=0, sign=[1, -1])
    assert drive.gain.tolist() == [50, -40] and drive.damping.tolist() == [0, 0]
    assert not drive.scale and drive.in_newton_metres
    assert drive_of(kp=1).in_newton_metres


def test_unknown_gains_have_no_scale():
    drive = drive_of()
    assert drive.scale == OPEN and drive.damping is None and not drive.in_newton_metres


@pytest.mark.parametrize(('content', 'words'), [
    ({'kd': 1}, r'"drive\.kp" in arm\.yaml is missing; without it, kd has no unit'),
    ({'kp': 0}, r'"drive\.kp" in arm\.yaml must be above zero'),
    ({'kp': [1, -1]}, 'must be above zero for every joint'),
    ({'kp': 1, 'kd': -1}, r'"drive\.kd" in arm\.yaml must be zero or more'),
    ({'kp': [1, 2, 3]}, 'must be a list of 2 numbers'),
    ({'gain': [1, 1]}, r'"drive\.gain" in arm\.yaml does not belong to signal: command'),
    ({'includes_gravity': False}, 'does not belong to signal: command'),
    ({'signal': 'effort', 'kp': 1}, r'"drive\.kp" in arm\.yaml does not belong to signal: effort'),
])
def test_wrong_settings_are_named(content, words):
    with pytest.raises(ArmError, match=words):
        drive_of(**content)


def test_topics_of_commands():
    assert drive_of(topic='/joint_command').topic == DriveTopic('/joint_command', field='position')
    kinds = {'/joint_command': 'sensor_msgs/msg/JointState',
             '/arm/controller_state': 'control_msgs/msg/JointTrajectoryControllerState'}
    assert {name: drive_of(topic=name).topic.kind for name in kinds} == kinds
    array = drive_of(topic='/position/commands', joints=['b', 'a']).topic
    assert array.kind == 'std_msgs/msg/Float64MultiArray'
    # The state of a controller holds no effort that was measured.
    effort = DriveTopic('/arm/controller_state')
    assert effort.kind == 'sensor_msgs/msg/JointState'
    with pytest.raises(ArmError, match=r'/joint_states holds no commands; .*: /joint_command'):
        drive_of().check_topic('/joint_states')
    drive_of(topic='/joint_command').check_topic('/joint_states')


def test_torque_follows_from_power_at_the_motors():
    """The drives of a coupled wrist: what springs and dampers of the motors do at the joints."""
    rng = np.random.default_rng(0)
    transmission = np.array([[2.0, 0.0], [1.0, 3.0]])
    kp, kd, offset = np.array([5.0, 7.0]), np.array([0.5, 0.3]), np.array([0.1, -0.2])
    drive = Drive('command', kp, transmission, offset, damping=kd)
    motors, command, rates = rng.normal(size=(3, 4, 2))
    q, qd = joint_position(motors, drive), rates @ np.linalg.inv(transmission).T
    tau = joint_torque(deviation(command, q, drive), drive) - damping_torque(qd, drive)
    at_motors = kp * (command - motors) - kd * rates
    # Virtual work: any joint velocity moves the motors by the transmission.
    for moved in rng.normal(size=(5, 2)):
        np.testing.assert_allclose(tau @ moved, at_motors @ (transmission @ moved))


def test_a_result_keeps_the_damping_and_the_scale():
    arm = random_arm(np.random.default_rng(0), 2, prismatic=False)
    arm = replace(arm, drive=drive_of(kp=[3, 4], kd=[0.1, 0.2], topic='/joint_command'))
    again = arm_from_plain(arm_to_plain(arm)).drive
    assert again.damping.tolist() == [0.1, 0.2] and again.topic == arm.drive.topic
    plain = arm_to_plain(replace(arm, drive=replace(arm.drive, damping=np.zeros(3))))
    with pytest.raises(ValueError, match=r'arm\.drive\.damping has the shape'):
        arm_from_plain(plain)


@pytest.mark.parametrize('stated', ['', ', kp: 2', ', kp: [2, 4]'])
def test_a_copy_states_the_stiffness_that_was_weighed(tmp_path, stated):
    text = TWO_AXIS.read_text()
    begin, end = text.index('drive:'), text.index('friction:')
    source = tmp_path / 'arm.yaml'
    source.write_text(f'{text[:begin]}drive: {{signal: command{stated}}}\n{text[end:]}')
    write_copy(str(source), np.array([6.0, 5.0]), tmp_path / 'copy.yaml')
    found = load_arm(tmp_path / 'copy.yaml').drive
    np.testing.assert_allclose(found.gain, [6.0, 5.0])
    assert not found.scale
