# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Sensors do to the signals what their settings say."""

from dataclasses import replace

import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.arm.description.tree import JointLimits
from dynid_ros.arm.drive import Drive, motor_position
from dynid_ros.simulation.sensors import (
    drive_signal,
    plausible_sensors,
    quantise,
)


def test_an_encoder_reads_whole_counts_no_further_than_half_a_count_away():
    q = np.random.default_rng(0).uniform(-3, 3, (1000, 2))
    read = quantise(q, 2.0**12, np.array([False, True]))
    count = np.array([2 * np.pi / 4096, 1 / 4096])
    np.testing.assert_allclose(read / count, np.round(read / count), atol=1e-9)
    assert (np.abs(read - q) <= count / 2 * (1 + 1e-9)).all()


def test_without_counts_positions_are_exact():
    q = np.array([[0.1, 0.2]])
    np.testing.assert_array_equal(quantise(q, None, np.array([False, False])), q)


@pytest.mark.parametrize('includes_gravity', [True, False])
def test_drive_signal_and_motor_position_invert_the_declared_drive(includes_gravity):
    rng = np.random.default_rng(3)
    drive = Drive(
        'current', np.array([2.0, -0.5]), np.array([[50.0, 0.0], [30.0, 30.0]]),
        np.array([0.1, -1.5]), includes_gravity)
    q, tau, gravity = rng.normal(size=(3, 20, 2))
    u, p = drive_signal(tau, gravity, drive), motor_position(q, drive)
    # As the documentation of Drive puts it.
    measured = (drive.transmission.T @ (drive.gain * u).T).T
    missing = 0 if includes_gravity else gravity
    np.testing.assert_allclose(measured + missing, tau, atol=1e-12)
    joints = (np.linalg.inv(drive.transmission) @ p.T).T + drive.offset
    np.testing.assert_allclose(joints, q, atol=1e-12)


def test_default_sensors_suit_torque_speed_and_range_whatever_the_rating():
    rng = np.random.default_rng(0)
    limits = replace(
        JointLimits.unknown(2), effort=np.array([5e4, 0.0]), lower=np.array([-3.0, 0.0]),
        upper=np.array([3.0, 0.04]))
    arm = replace(
        random_arm(rng, 2).with_tree(prismatic=np.array([False, True])), limits=limits)
    sensors = plausible_sensors(arm, np.array([50.0, 2.0]), np.array([1.0, 0.01]))
    np.testing.assert_allclose(sensors.effort_noise, [5.0, 0.2])
    np.testing.assert_allclose(sensors.velocity_noise, [1e-3, 1e-5])
    # 65536 counts a turn, and over the 40 mm of the slide.
    read = quantise(np.array([[1.0, 0.0301]]), sensors.encoder_counts, arm.prismatic)
    assert read[0, 1] == pytest.approx(np.round(0.0301 / 0.04 * 2**16) / 2**16 * 0.04, rel=1e-12)
    assert read[0, 0] == pytest.approx(np.round(2**16 / (2 * np.pi)) * 2 * np.pi / 2**16)
