# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A signal that is a copy of velocity or position is no torque, however well friction fits it."""

from dataclasses import replace

import numpy as np
import pytest
from results import samples_of
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.signals.trial_samples import TrialSamples
from dynid_ros.estimation.diagnosis.copied_signals import copied_signals, unexplained_share
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.online.replay import replay
from dynid_ros.estimation.suspects.signal_suspects import late_signals
from dynid_ros.estimation.suspects.suspect import as_recorded
from dynid_ros.motion.excitation.random_motion import random_motion


def banded(name):
    """Give an arm its band, whose choice would take most of the time of these tests."""
    arm = load_arm(name)
    return replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=5.0, delay=0.0))


ARM = banded('ur10')
REAL = {'ur10': 'ur10_exciting_trajectory.db3', 'panda': 'panda_exciting_trajectory.db3',
        'tx40': 'pos_read_data.csv'}
FRICTION = ('viscous', 'coulomb', 'offset')


def against(result):
    return [reason for reason in result.verdict.reasons if 'is no torque' in reason]


def copied_from(log, quantity):
    copies = {'velocity': np.gradient(log.q, log.t, axis=0), 'position': log.q}
    return replace(log, u=30 * copies[quantity] + 1.0)


@pytest.mark.slow
@pytest.mark.parametrize('quantity', ['velocity', 'position'])
@pytest.mark.parametrize('name', REAL)
def test_copies_of_real_recordings_are_found(name, quantity, shared_data):
    arm = banded(name)
    log = read_recording(shared_data / name / REAL[name], arm)
    assert codes(copied_from(log, quantity), arm) == [f'effort_copies_{quantity}']


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'quantity'), [('ur10', 'velocity'), ('panda', 'position')])
def test_copies_of_real_recordings_are_named_live_and_in_batch(name, quantity, shared_data):
    arm = load_arm(name)
    copied = copied_from(read_recording(shared_data / name / REAL[name], arm), quantity)
    for result in (identify(arm, [copied], friction=FRICTION), replay(arm, copied)[0]):
        (reason,) = against(result)
        assert f"multiple of each joint's {quantity}" in reason
        assert not result.verdict.trustworthy


@pytest.mark.slow
def test_a_copy_of_velocity_with_noise_is_not_called_trustworthy():
    arm = load_arm('two_axis')
    log = followed(arm, random_motion(arm, 3, tries=30), 250.0, seed=3)
    noise = np.random.default_rng(0).normal(size=log.q.shape)
    copied = replace(log, u=np.gradient(log.q, log.t, axis=0) + 0.01 * noise)
    assert against(identify(arm, [copied], friction=FRICTION))
    assert against(identify(arm, [log], friction=FRICTION)) == []


@pytest.fixture(scope='module')
def true():
    return followed(ARM, random_motion(ARM, 0, tries=5, periods=2), 125.0)


def codes(log, arm=ARM):
    return [each.code for each in copied_signals(arm, samples_of(arm, log))]


def test_commands_of_a_position_servo_are_no_copy_of_its_velocity(true):
    copy = copied_from(true, 'velocity')
    assert codes(copy) == ['effort_copies_velocity']
    samples = samples_of(ARM, copy)
    servo = replace(ARM, drive=replace(ARM.drive, signal='command'))
    assert copied_signals(servo, samples) == []
    base, joints = as_recorded(ARM, samples), [*range(ARM.n)]
    assert list(late_signals(base, joints))
    assert not list(late_signals(replace(base, rows=replace(base.rows, arm=servo)), joints))


def test_torque_of_strong_damping_is_torque_although_velocity_explains_most(true):
    speed = np.gradient(true.q, true.t, axis=0)
    strength = 50 * true.u.std(axis=0) / speed.std(axis=0)
    rng = np.random.default_rng(0)
    noise = 0.002 * strength * speed.std(axis=0) * rng.normal(size=speed.shape)
    damped = true.u + strength * speed
    left = unexplained_share(
        *columns(damped, np.stack([np.ones_like(speed), speed], axis=2)))
    assert np.median(left) < 0.05
    assert codes(replace(true, u=damped)) == []
    # Where noise is as large as all torque but the damping, it hides whose it is.
    assert codes(replace(true, u=damped + noise)) == []
    assert codes(replace(true, u=strength * speed + noise)) == ['effort_copies_velocity']


@pytest.mark.parametrize('quantity', ['velocity', 'position'])
def test_copies_are_named_however_noisy(true, quantity):
    x = true.q if quantity == 'position' else np.gradient(true.q, true.t, axis=0)
    for noise in (0.0, 0.1, 0.5):
        disturbed = x + noise * x.std(axis=0) * np.random.default_rng(0).normal(size=x.shape)
        assert codes(replace(true, u=7.0 * disturbed - 2.0)) == [f'effort_copies_{quantity}']


def test_noise_is_a_copy_of_nothing(true):
    noise = np.random.default_rng(0).normal(size=true.u.shape)
    assert codes(replace(true, u=noise)) == []


def columns(tau, own):
    """Return samples of joints that always move, and their columns."""
    k, n = tau.shape
    still = np.zeros((k, n))
    return own, TrialSamples(np.arange(float(k)), still, still, still, tau, np.isfinite(tau),
                             np.repeat(tau[:, :, None], 3, axis=2), np.zeros(k), still)


def test_share_left_over_is_that_of_a_straight_line():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    tau = 3 * x - 2 + rng.normal(scale=[0.0, 1.0, 30.0], size=(200, 3))
    tau[::7, 1] = np.nan
    expected = []
    for one, other in zip(x.T, tau.T, strict=True):
        seen = np.isfinite(other)
        left = other[seen] - np.polyval(np.polyfit(one[seen], other[seen], 1), one[seen])
        expected.append(left.std() / other[seen].std())
    own, samples = columns(tau, np.stack([np.ones_like(x), x], axis=2))
    np.testing.assert_allclose(unexplained_share(own, samples), expected, atol=1e-7)
    still = replace(samples, moving=samples.moving & [True, False, True])
    assert np.isnan(unexplained_share(own, still)).tolist() == [False, True, False]


def test_a_single_joint_tells_nothing(true):
    """It may have viscous friction alone."""
    samples = samples_of(ARM, replace(true, u=np.gradient(true.q, true.t, axis=0)))
    for joints, found in ((1, 0), (2, 1)):
        moving = samples.moving & (np.arange(ARM.n) < joints)
        assert len(copied_signals(ARM, replace(samples, moving=moving))) == found


@pytest.mark.slow
def test_a_torque_made_of_velocity_opens_the_verdict(true):
    speed = np.gradient(true.q, true.t, axis=0)
    noise = np.random.default_rng(0).normal(size=speed.shape)
    made = replace(true, u=3 * speed + 5 * np.sign(speed) + 0.1 * noise)
    first = identify(ARM, [made], friction=FRICTION).verdict.findings[0]
    assert first.code in ('effort_of_velocity', 'effort_copies_velocity')
    assert 'is no torque' in first.text


def test_a_second_of_motion_tells_nothing(true):
    samples = samples_of(ARM, replace(true, u=np.gradient(true.q, true.t, axis=0)))
    assert copied_signals(ARM, samples)
    first = np.arange(len(samples.t)) < 15
    assert copied_signals(ARM, replace(samples, moving=samples.moving & first[:, None])) == []
