# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joint zero offsets on simulated recordings, and arms with an error of the geometry."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.kinematics.error_sources import error_sources, perturbed_arm
from dynid_ros.dynamics.kinematics.forward import forward_kinematics
from dynid_ros.dynamics.kinematics.pose_error import perturbed_kinematics
from dynid_ros.dynamics.kinematics.pose_uncertainty import workspace_states
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import (
    checked_recording,
    condition_recording,
)
from dynid_ros.estimation.calibration.joint_offsets import (
    estimate_joint_offsets,
    hidden_offsets,
    JointOffsets,
    PRIOR,
    recording_offsets,
)
from dynid_ros.estimation.estimate.weights import fit
from dynid_ros.estimation.model.metrics import metrics
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.sensors import SensorModel

pytestmark = pytest.mark.slow


@cache
def recording(name):
    """Exact encoders and torque noise of 0.05 % of the rating."""
    arm = load_arm(name)
    sensors = SensorModel(encoder_counts=2.0**20, effort_noise=5e-4 * arm.limits.effort)
    motion = random_motion(arm, 0, tries=100, periods=3)
    return arm, followed(arm, motion, 250.0, sensors=sensors)


def prepared(arm, log):
    log, _ = checked_recording(log, arm)
    treatment = choose_conditioning(arm, [log])
    return condition_recording(arm, log, treatment), treatment


def relative_error(arm, parts, treatment):
    rows = KeptRows(arm, parts, treatment)
    theta = fit(arm, rows).theta
    predictions = rows.predict(arm, theta, 'all', False)
    return metrics(arm.joint_names, predictions).relative_error_percent


def test_offsets_up_to_two_degrees_are_found_where_determined_and_the_error_goes_back():
    arm, log = recording('panda')
    # Other ones are found beside a delay.
    wrong = np.radians(np.random.default_rng(3).uniform(-2, 2, 7))
    log, _ = checked_recording(log, arm)
    spoiled = replace(log, q=log.q - wrong)
    offsets = recording_offsets(arm, [spoiled])
    assert offsets.determined[1:3].any()
    off = np.degrees(np.abs(offsets.offset - wrong))
    assert (off[1:3] < 0.05).all()
    assert (off[offsets.determined] < 0.05).all()
    corrected = replace(spoiled, q=spoiled.q + offsets.offset)
    right, worse, mended = (
        relative_error(arm, *prepared(arm, x)) for x in (log, spoiled, corrected))
    assert worse > 3 * right
    assert mended < 1.05 * right


def test_a_delay_and_wrong_zeros_are_told_apart():
    arm, log = recording('panda')
    wrong = np.radians(np.random.default_rng(1).uniform(-2, 2, 7))
    log, _ = checked_recording(log, arm)
    # Five samples at 250 Hz.
    late = replace(log, q=log.q[5:] - wrong, u=log.u[:-5], t=log.t[5:])
    found = recording_offsets(arm, [late])
    corrected = replace(late, q=late.q + found.offset)
    assert abs(choose_conditioning(arm.memoryless, [corrected]).delay - 0.02) < 0.001
    off = np.degrees(np.abs(found.offset - wrong))
    assert (off[found.determined] < 0.05).all()


def test_right_zeros_are_left_alone():
    arm, log = recording('panda')
    found = estimate_joint_offsets(arm, KeptRows(arm, *prepared(arm, log)))
    assert (np.abs(found.offset[found.determined]) < np.radians(0.05)).all()


def test_offsets_that_no_motion_can_tell_are_named_and_left_at_zero():
    arm, log = recording('two_axis')
    found = estimate_joint_offsets(arm, KeptRows(arm, *prepared(arm, log)))
    assert found.hidden.all()
    assert not found.offset.any()
    assert not found.determined.any()
    np.testing.assert_array_equal(found.std, PRIOR)
    assert found.sentences[0] == (
        'arm_joint: zero offset is unidentifiable (absorbed by link parameters; '
        '0.000 ± 2.000 deg, source: prior)')


@pytest.mark.parametrize('name', ['panda', 'ur10', 'gluon_6l3'])
def test_hidden_are_the_joint_that_turns_about_gravity_and_the_last(name):
    arm = load_arm(name)
    expected = np.zeros(arm.n, dtype=bool)
    expected[[0, -1]] = True
    np.testing.assert_array_equal(hidden_offsets(arm), expected)
    tilted = replace(arm, gravity=np.array([3.0, 2.0, -9.0]))
    expected[0] = False
    np.testing.assert_array_equal(hidden_offsets(tilted), expected)


def test_poor_data_give_a_verdict_instead_of_numbers():
    arm = load_arm('ur10')
    log = followed(arm, random_motion(arm, 0, tries=10, periods=1), 125.0)
    wrong = np.radians([0, 1.0, -1.0, 1.0, 0.5, 0])
    found = estimate_joint_offsets(
        arm, KeptRows(arm, *prepared(arm, replace(log, q=log.q - wrong))))
    assert not found.determined[2:5].any()
    assert 'not determined by these data' in found.sentences[3]
    assert ((found.std > 0) & (found.std < 1.2 * PRIOR)).all()
    # The prior of 2 degrees keeps them from wandering off.
    assert (np.abs(found.offset) < np.radians(6)).all()


@pytest.mark.parametrize('name', ['panda', 'ur10', 'hand_leg'])
def test_an_arm_with_one_error_stands_where_exact_kinematics_say(name):
    arm = load_arm(name)
    q = workspace_states(arm, 1)[0]
    body = arm.joint_names[-1]
    sources = error_sources(arm, body)
    for k, source in enumerate(sources):
        if source.joint < 0 or source.group == 'reading':
            continue
        expected = perturbed_kinematics(arm, q, sources, 0.1 * np.eye(len(sources))[k], body)
        found = forward_kinematics(perturbed_arm(arm, source, 0.1), q, body)
        np.testing.assert_allclose(found.translation, expected.translation, atol=1e-14)
        np.testing.assert_allclose(found.rotation, expected.rotation, atol=1e-14)


def test_an_offset_is_stated_in_degrees_where_a_joint_turns_and_in_mm_where_it_slides():
    value, std, hidden = np.array([0.01, 0.002]), np.full(2, 1e-4), np.zeros(2, dtype=bool)
    found = JointOffsets(value, std, hidden, ('hinge', 'slider'), np.array([False, True]))
    assert found.sentences == ('hinge: 0.573 ± 0.006 deg', 'slider: 2.000 ± 0.100 mm')
