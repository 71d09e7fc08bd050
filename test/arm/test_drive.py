"""Drive signals and motor positions become torques and positions at the joints."""

import numpy as np

from dynid_ros.arm.drive import Drive, joint_position, joint_torque, joint_velocity


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
