# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joint errors from pose errors, and corrections that undo them."""

import warnings

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.kinematics.compensation import (
    joint_errors,
    SingularPoseWarning,
    world_jacobian,
)
from dynid_ros.dynamics.kinematics.error_sources import error_sources
from dynid_ros.dynamics.kinematics.forward import forward_kinematics
from dynid_ros.dynamics.kinematics.pose_error import (
    exact_pose_error,
    perturbed_kinematics,
    pose_difference,
)
from dynid_ros.errors import InputError

PANDA = np.array([0.3, -0.4, 0.2, -2.0, 0.1, 1.7, 0.5])
UR10 = np.array([0.3, -1.0, 1.3, 0.4, 0.9, 0.2])
HAND_LEG = np.array([0.2, -0.5, 0.4, 0.4])


@pytest.fixture(autouse=True)
def _quiet():
    """Turn a warning that no test expects into an error."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        yield


@pytest.mark.parametrize(('name', 'q'), [('panda', PANDA), ('ur10', UR10)])
def test_a_correction_undoes_99_percent_of_a_small_pose_error(name, q):
    arm = load_arm(name)
    sources = error_sources(arm)
    # About 0.05 degrees and 0.5 mm.
    errors = np.random.default_rng(0).normal(scale=5e-4, size=len(sources))
    before = exact_pose_error(arm, q, errors)
    found = joint_errors(arm, q, before)
    real = perturbed_kinematics(arm, q - found.q, sources, errors)
    after = pose_difference(real, forward_kinematics(arm, q))
    assert not found.damped
    for part in (slice(0, 3), slice(3, 6)):
        assert np.linalg.norm(after[part]) < 0.01 * np.linalg.norm(before[part])


def test_four_joints_undo_the_place_of_the_hand():
    arm = load_arm('hand_leg')
    sources = error_sources(arm)
    errors = np.random.default_rng(1).normal(scale=5e-4, size=len(sources))
    before = exact_pose_error(arm, HAND_LEG, errors)
    found = joint_errors(arm, HAND_LEG, before, part='position')
    real = perturbed_kinematics(arm, HAND_LEG - found.q, sources, errors)
    after = pose_difference(real, forward_kinematics(arm, HAND_LEG))
    assert np.linalg.norm(after[3:]) < 0.01 * np.linalg.norm(before[3:])
    # The wrist turns about its own length and moves nothing.
    assert found.q[3] == pytest.approx(0, abs=1e-12)


def test_four_joints_say_what_they_leave_of_a_pose():
    arm = load_arm('hand_leg')
    error = np.array([0.01, -0.02, 0.01, 0.001, 0.002, -0.001])
    found = joint_errors(arm, HAND_LEG, error)
    np.testing.assert_allclose(
        world_jacobian(arm, HAND_LEG) @ found.q + found.residual, error, atol=1e-15)
    assert np.linalg.norm(found.residual) > 1e-3


@pytest.mark.parametrize(('name', 'q'), [('ur10', UR10), ('hand_leg', HAND_LEG)])
def test_joint_errors_are_found_from_the_pose_error_that_they_cause(name, q):
    arm = load_arm(name)
    rng = np.random.default_rng(2)
    sources = error_sources(arm)
    wrong = 1e-4 * rng.normal(size=arm.n)
    errors = np.array([wrong[s.joint] if s.group == 'reading' else 0.0 for s in sources])
    found = joint_errors(arm, q, exact_pose_error(arm, q, errors))
    # The second order is 1e-8.
    np.testing.assert_allclose(found.q, wrong, rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.residual, 0, atol=1e-7)


def test_a_singular_pose_is_damped_and_named():
    arm = load_arm('ur10')
    stretched = np.array([0.3, -1.0, 0.0, 0.4, 0.9, 0.2])
    inward = forward_kinematics(arm, stretched).translation
    error = np.concatenate([np.zeros(3), -1e-3 * inward / np.linalg.norm(inward)])
    with pytest.warns(SingularPoseWarning, match="'ur10' is near a singular pose"):
        found = joint_errors(arm, stretched, error)
    assert found.damped
    assert found.smallest < 1e-6
    # Without damping, the answer would be of the order of 1e-3 / 1e-16.
    assert np.abs(found.q).max() < 0.1
    assert np.linalg.norm(found.residual[3:]) > 1e-4


def test_the_forward_example_of_the_thesis_is_a_singular_pose():
    # Thigh and shank in one line.
    with pytest.warns(SingularPoseWarning, match="'hand_leg' is near a singular pose"):
        joint_errors(load_arm('hand_leg'), np.radians([0, -30, 90, -90]),
                     [0, 0, 0, 1e-3, 0, 0], part='position')


def test_damping_sets_in_smoothly():
    arm = load_arm('ur10')
    error = np.array([0, 0, 0, 1e-3, 1e-3, 1e-3])
    answers = []
    for elbow in np.linspace(0.0, 0.5, 101):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', SingularPoseWarning)
            answers.append(joint_errors(arm, [0.3, -1.0, elbow, 0.4, 0.9, 0.2], error).q)
    # A step of 5e-3 rad of the elbow changes no answer by more than a fraction of it.
    steps = np.linalg.norm(np.diff(answers, axis=0), axis=1)
    assert steps.max() < 0.2 * np.linalg.norm(answers, axis=1).max()


def test_joints_that_do_not_carry_a_body_stay():
    arm = load_arm('ur10')
    found = joint_errors(arm, UR10, [0, 0, 0, 1e-3, 0, 0], body='wrist_1_joint', part='position')
    assert found.q[:3].any()
    assert not found.q[4:].any()


@pytest.mark.parametrize(('error', 'part', 'words'), [
    ([1, 2, 3], 'pose', 'six finite numbers'),
    ([0, 0, 0, 0, 0, np.inf], 'pose', 'six finite numbers'),
    (np.zeros(6), 'place', "not 'place'"),
])
def test_wrong_input_is_refused_in_words(error, part, words):
    with pytest.raises(InputError, match=words):
        joint_errors(load_arm('ur10'), UR10, error, part=part)
