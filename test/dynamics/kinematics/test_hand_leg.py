# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The two worked examples of the thesis: what it prints, what holds, what is right."""

from dataclasses import replace

import numpy as np
import pytest
from thesis import forward_errors, hand_pose, inverse_angles, inverse_errors

from dynid_ros.arm import load_arm
from dynid_ros.arm.description.tree import Placement
from dynid_ros.dynamics.kinematics.error_sources import error_sources, standard_deviations
from dynid_ros.dynamics.kinematics.forward import forward_kinematics
from dynid_ros.dynamics.kinematics.pose_error import error_jacobian, exact_pose_error

# Printed with four decimals.
PRINTED = {'rtol': 0, 'atol': 5e-5}

ANGLES = np.array([0.0, -30.0, 90.0, -90.0])
BODY, HIP = np.array([-40.0, 80.0, 266.0]), np.array([197.0, 140.0, 0.0])
ERRORS = {
    'd_theta': [0, 0, 0.40, 0], 'd_l2': 0.75, 'd_body': [0, 0, 0.20], 'd_hip': [2, 1, 0],
    'd_body_turn': np.diag([0.30, 0.50, 0.20])}

TARGET = np.array([[0, 1, 0, 0.3], [1, 0, 0, 0.45], [0, 0, -1, 0.07], [0, 0, 0, 1.0]])
POINT = np.array([0.35, 0.20, 0.07])
BODY_2, HIP_2 = np.array([0, 0.25, 0.25]), np.array([0.1, 0.2, 0])
LENGTHS_2, D4_2 = (0.03, 0.10), 0.10


def printed_angles():
    return inverse_angles(TARGET, POINT, LENGTHS_2, D4_2, BODY_2, HIP_2)


def arm_of_second_example():
    arm = load_arm('hand_leg')
    translation = arm.translation.copy()
    translation[1, 0], translation[2, 0], translation[3] = *LENGTHS_2, [0, -D4_2, 0]
    return replace(arm.with_tree(translation=translation), base=Placement(np.eye(3), BODY_2),
                   mounting=Placement(np.eye(3), HIP_2))


def test_claim_the_program_prints_the_pose_of_the_forward_example():
    pose = hand_pose(ANGLES, (65, 200), 266, np.eye(3), BODY, HIP)
    np.testing.assert_allclose(pose[:3], [
        [0.4268, -0.8515, -0.3048, 171.7707],
        [0, 0, 0, 220.0],
        [0.1366, -0.2725, 0.9524, 716.9482]], **PRINTED)


def test_claim_the_program_prints_the_errors_of_the_forward_example():
    found = forward_errors(
        ANGLES, l1=65, l2=200, d4=180, body_turn=np.eye(3), p_body=BODY, hip=HIP, **ERRORS)
    np.testing.assert_allclose(found, [
        [0.0734, -0.4017, -0.4724, 54.0373],
        [0, 0, 0, 0],
        [0, 0.2861, 0.0686, 52.6028]], **PRINTED)


def test_the_printed_pose_is_no_pose():
    rotation = hand_pose(ANGLES, (65, 200), 266, np.eye(3), BODY, HIP)[:3, :3]
    assert np.linalg.det(rotation) == pytest.approx(0, abs=1e-12)


def test_right_pose_of_the_forward_example():
    pose = forward_kinematics(load_arm('hand_leg'), np.radians(ANGLES))
    half, much = 0.5, np.sqrt(3) / 2
    np.testing.assert_allclose(
        pose.rotation, [[0, half, much], [1, 0, 0], [0, much, -half]], atol=1e-15)
    # -40 + 197 + 65 + 200 cos 30 + 266 cos 30; 80 + 140; 266 - 200 sin 30 - 266 sin 30.
    np.testing.assert_allclose(
        1e3 * pose.translation, [222 + 466 * much, 220, 33], rtol=0, atol=1e-10)
    meant = hand_pose(np.radians(ANGLES), (65, 200), 266, np.eye(3), BODY, HIP, hip_entry='cos')
    np.testing.assert_allclose(pose.rotation, meant[:3, :3], atol=1e-15)
    np.testing.assert_allclose(1e3 * pose.translation, meant[:3, 3], atol=1e-10)


def test_which_printed_error_formulas_hold_once_angles_are_in_radians():
    theta = np.radians(ANGLES)
    found = forward_errors(
        theta, l1=65, l2=200, d4=180, body_turn=np.eye(3), p_body=BODY, hip=HIP, **ERRORS)

    def meant(h):
        step = {key: h * np.asarray(value) for key, value in ERRORS.items()}
        return hand_pose(
            theta + step['d_theta'], (65, 200 + step['d_l2']), 180,
            np.eye(3) + step['d_body_turn'], BODY + step['d_body'], HIP + step['d_hip'],
            hip_entry='cos')[:3]

    truth = (meant(1e-5) - meant(-1e-5)) / 2e-5
    # Central differences of lengths around 600 are good to some 1e-7.
    holds = np.isclose(found, truth, rtol=0, atol=1e-6)
    # The first column and the zeros of row 2 hold only because c4 = s1 = 0 here.
    assert holds.tolist() == [
        [True, False, True, False], [False, True, True, False], [True, False, True, False]]
    # Row 3 adds the error of the body along x instead of the one along z.
    assert truth[2, 3] - found[2, 3] == pytest.approx(0.20, abs=1e-6)


def test_its_error_of_the_orientation_is_none_of_a_rotation():
    # R' R = 1 asks for a skew dR at R = 1; this one is diagonal.
    assert not np.allclose(ERRORS['d_body_turn'], -ERRORS['d_body_turn'].T)


@pytest.mark.parametrize(('wrist', 'shift'), [
    (0.266, [1.0560, 4.5433, -3.6419]), (0.180, [1.1311, 4.0581, -3.5119])])
def test_right_error_of_the_forward_example(wrist, shift):
    arm = load_arm('hand_leg')
    translation = arm.translation.copy()
    translation[3] = [0, -wrist, 0]
    arm, q = arm.with_tree(translation=translation), np.radians(ANGLES)
    # The tolerances of the arm are the errors of the example.
    errors = standard_deviations(error_sources(arm), arm.tolerances)
    first = error_jacobian(arm, q) @ errors
    np.testing.assert_allclose(np.degrees(first[:3]), [0.3, 0.1, 0.2], atol=1e-12)
    np.testing.assert_allclose(1e3 * first[3:], shift, **PRINTED)
    exact = exact_pose_error(arm, q, errors)
    # Half the square of 0.6 degrees, at 0.6 m: 0.04 mm.
    np.testing.assert_allclose(1e3 * exact[3:], shift, rtol=0, atol=0.04)


def test_claim_the_program_prints_the_angles_of_the_inverse_example():
    np.testing.assert_allclose(
        np.degrees(printed_angles()), [-45, -53.1301, 53.1301, 45], **PRINTED)


def test_claim_the_program_prints_the_errors_of_the_inverse_example():
    d_target = np.zeros((4, 4))
    d_target[0, 0] = 0.01
    found = inverse_errors(printed_angles(), LENGTHS_2, D4_2, BODY_2, HIP_2, d_target,
                           [0.05, 0.05, 0.05], 0.05, 0.05)
    np.testing.assert_allclose(found, [-0.2255, 1.1809, -1.1809, -0.0100], **PRINTED)


def test_the_printed_angles_reach_the_height_and_direction_but_not_the_place():
    pose = forward_kinematics(arm_of_second_example(), printed_angles())
    np.testing.assert_allclose(pose.rotation[:, 2], TARGET[:3, 2], atol=1e-12)
    assert pose.translation[2] == pytest.approx(0.07, abs=1e-12)
    # 30 mm of hip and 60 mm of thigh reach 90 mm; the point is 354 mm away, the target 200 mm.
    assert np.linalg.norm(pose.translation[:2] - (BODY_2 + HIP_2)[:2]) == pytest.approx(0.09)
    assert np.linalg.norm((POINT - BODY_2 - HIP_2)[:2]) == pytest.approx(0.25 * np.sqrt(2))
    assert np.linalg.norm((TARGET[:3, 3] - BODY_2 - HIP_2)[:2]) == pytest.approx(0.20)


def test_the_printed_first_angle_belongs_to_another_point_than_the_target():
    x, y, _ = TARGET[:3, 3] - BODY_2 - HIP_2
    assert np.degrees(np.arctan2(y, x)) == pytest.approx(0.0, abs=1e-12)


def test_the_printed_fourth_angle_is_half_a_turn_off_for_want_of_atan2():
    arm, angles = arm_of_second_example(), printed_angles()
    turned = forward_kinematics(arm, angles).rotation
    np.testing.assert_allclose(turned[:, :2], -TARGET[:3, :2], atol=1e-12)
    angles[3] -= np.pi
    right = forward_kinematics(arm, angles).rotation
    np.testing.assert_allclose(right, TARGET[:3, :3], atol=1e-12)


def test_of_the_inverse_errors_none_is_the_derivative_of_its_own_angle():
    d_target = np.zeros((4, 4))
    d_target[0, 0] = 0.01
    d_body = np.full(3, 0.05)

    def angles(h):
        return inverse_angles(TARGET + h * d_target, POINT, (0.03, 0.10 + 0.05 * h),
                              D4_2 + 0.05 * h, BODY_2 + h * d_body, HIP_2)

    truth = (angles(1e-6) - angles(-1e-6)) / 2e-6
    # Central differences over 1e-6 are good to 1e-9.
    np.testing.assert_allclose(truth, [-0.2, 2 / 3, -2 / 3, -0.195], atol=1e-8)
    printed = np.array([-0.2255, 1.1809, -1.1809, -0.0100])
    assert (np.abs(printed - truth) > 0.02).all()
    # What does hold: the direction of the hand stays, so that the two errors cancel.
    assert printed[1] == -printed[2]


def test_the_arm_file_holds_the_lengths_and_the_body_of_the_thesis():
    arm = load_arm('hand_leg')
    np.testing.assert_allclose(
        np.linalg.norm(arm.translation, axis=1), [0, 0.065, 0.200, 0.266], atol=1e-15)
    np.testing.assert_allclose(arm.mounting.translation, [0.197, 0.140, 0])
    np.testing.assert_allclose(arm.base.translation, [-0.040, 0.080, 0.266])
