# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction that drives, and rotors of negative inertia."""

from dataclasses import replace

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.quality import clean
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.estimation.diagnosis.dissipation import negative_drives
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.online.replay import replay

ARM = replace(load_arm('ur10'), friction=('viscous', 'coulomb', 'offset', 'viscous_cuberoot'))
STD = 0.1


def motion(samples=50):
    """Every joint at one speed, back and forth, with accelerations of 2 rad/s²."""
    qd = np.where(np.arange(samples) % 2, 1.0, -1.0)[:, None] * np.ones(ARM.n)
    return TrialSamples(np.arange(float(samples)), qd * 0, qd, 2 * qd, qd, qd != 0,
                        np.repeat(qd[:, :, None], 3, axis=2), np.zeros(samples), np.sign(qd))


def found(left=0.1, largest=0.1, **values):
    """Return findings for parameters by name; all others are one."""
    names = base_parameters(ARM).names
    theta = np.ones(len(names))
    for name, value in values.items():
        theta[names.index(name)] = value
    return negative_drives(
        ARM, theta, STD**2 * np.eye(len(names)), motion(), np.full(ARM.n, left),
        np.full(ARM.n, largest))


def reasons(**values):
    return [each.sentence for each in found(**values)]


def test_what_drives_and_rotors_can_have_is_no_reason():
    assert reasons() == []
    # The offset may have any sign, and 0.39 is less than four standard deviations.
    assert reasons(Fo3=-5.0, Ia4=-0.39) == []
    # The sum of the terms of a joint counts: 1 + 1 - 1.5.
    assert reasons(Fv3=-1.5) == []


def test_friction_that_drives_is_named_with_the_sign_to_check():
    told, = reasons(Fv3=-2.0, Fc3=-1.0)
    assert "joint 'elbow_joint' has friction that drives it (-2 Nm at 1 rad/s)" in told
    assert 'check the sign of its drive signal first' in told


def test_negative_rotor_inertia_is_named():
    told, = reasons(Ia4=-0.41)
    assert "joint 'wrist_1_joint' has a rotor inertia of -0.41 ± 0.1" in told
    assert 'whether another joint is coupled to it' in told


@pytest.mark.parametrize(('name', 'torque'), [('Fv3', 2.0), ('Ia4', 4.0)])
def test_it_is_an_error_where_the_model_owes_it_more_than_it_leaves(name, torque):
    """Beside the other friction terms, -4 leave -2 Nm; a rotor of -2 makes 4 Nm at 2 rad/s²."""
    value = -4.0 if name == 'Fv3' else -2.0
    (finding,) = found(0.9 * torque, **{name: value})
    assert finding.is_error
    (finding,) = found(1.1 * torque, **{name: value})
    assert not finding.is_error


@pytest.mark.parametrize(('name', 'torque'), [('Fv3', 2.0), ('Ia4', 4.0)])
def test_it_is_a_warning_where_a_trusted_model_may_leave_as_much(name, torque):
    """Beside a residual of half of it, both together leave 1.12 times its torque."""
    value = -4.0 if name == 'Fv3' else -2.0
    (finding,) = found(0.5 * torque, 1.1 * torque, **{name: value})
    assert finding.is_error
    assert 'errors of the model' not in finding.remedy
    (finding,) = found(0.5 * torque, 1.13 * torque, **{name: value})
    assert not finding.is_error and 'errors of the model' in finding.remedy


@pytest.mark.slow
def test_flipped_effort_of_a_wrist_joint_is_a_reason_against_the_result(shared_data):
    arm = load_arm('ur10')
    log = read_recording(shared_data / 'ur10' / 'ur10_exciting_trajectory.db3', arm)
    u = log.u.copy()
    u[:, 4] *= -1
    flipped = identify(arm, [replace(log, u=u)], friction=('viscous', 'coulomb', 'offset'))
    assert not flipped.verdict.trustworthy
    (finding,) = flipped.verdict.findings
    assert finding.joints == ('wrist_2_joint',)
    assert "the drive signal of 'wrist_2_joint' seems to have the wrong sign" in finding.text


@pytest.mark.slow
def test_a_rotor_that_a_good_recording_leaves_open_is_no_reason_online(shared_data):
    arm = load_arm('panda')
    log = read_recording(shared_data / 'panda' / 'panda_exciting_trajectory.db3', arm)
    # Without the samples that its driver repeats, a rotor's estimate is 5.7 deviations below zero.
    online, _ = replay(arm, clean(log, arm))
    assert online.verdict.trustworthy, online.verdict.reasons
