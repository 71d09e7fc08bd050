# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The delay of the drive signal is found where there is one, and only there."""

from dataclasses import replace
import re

from estimates import estimated
import numpy as np
import pytest
from synthetic_recordings import coloured, recording, true_torque, Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.load import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.preparation import checked_recording
from dynid_ros.estimation.identification.gain_check import drive_defects

RATE = 250.0


def arm_named(name):
    arm = load_arm(name)
    return replace(arm, drive=Drive.joint_torque(arm.n))


def log_of(arm, delay, noise_share=0.02, seconds=40.0, seed=0):
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    waves, samples = Waves.random(arm, seed=2), int(seconds * RATE)
    clean = true_torque(arm, waves, np.arange(samples) / RATE, theta)
    noise = coloured(
        np.random.default_rng(seed), samples, noise_share * clean.std(axis=0), 0.95)
    return recording(arm, waves, theta, noise, rate=RATE, delay=delay)


@pytest.mark.parametrize(('name', 'delay'), [
    ('two_axis', 0.05), ('two_axis', 0.023), ('two_axis', 0.0415), ('ur10', 0.0415),
    ('two_axis', -0.023), ('ur10', -0.03)])
def test_a_delay_is_found_within_a_millisecond(name, delay):
    arm = arm_named(name)
    treatment = choose_conditioning(arm, [log_of(arm, delay)])
    assert treatment.delay == pytest.approx(delay, abs=1e-3)


def test_the_torque_of_a_long_rest_hides_no_delay():
    arm = arm_named('ur10')
    log = log_of(arm, 0.023)
    rest = np.arange(1, int(20 * RATE) + 1)[:, None]
    still = replace(
        log, t=np.append(log.t, log.t[-1] + rest[:, 0] / RATE),
        q=np.concatenate([log.q, np.repeat(log.q[-1:], len(rest), axis=0)]),
        u=np.concatenate([log.u, np.repeat(log.u[-1:], len(rest), axis=0)]))
    assert choose_conditioning(arm, [still]).delay == pytest.approx(0.023, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'seed'), [
    *(('two_axis', seed) for seed in range(3)), ('ur10', 0), ('panda', 0)])
def test_no_delay_is_found_where_there_is_none(name, seed):
    arm = arm_named(name)
    assert choose_conditioning(arm, [log_of(arm, 0.0, seed=seed)]).delay == 0.0


def test_a_delay_that_is_given_is_not_estimated():
    arm = arm_named('two_axis')
    arm = replace(arm, conditioning=replace(arm.conditioning, delay=0.01))
    assert choose_conditioning(arm, [log_of(arm, 0.05)]).delay == 0.01


@pytest.mark.parametrize('delay', [0.04, -0.04])
def test_removing_the_delay_brings_back_the_true_parameters(delay):
    arm = arm_named('two_axis')
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    log = log_of(arm, delay, noise_share=0.002)
    found = estimated(arm, [log], friction=arm.friction, holdout=0.0)
    ignored = replace(arm, conditioning=replace(arm.conditioning, delay=0.0))
    kept = estimated(ignored, [log], friction=arm.friction, holdout=0.0)
    # A delay of 40 ms turns 3 rad/s of motion into 2 % of position and much of the friction.
    assert np.linalg.norm(found.theta - theta) < 0.02 * np.linalg.norm(theta)
    assert np.linalg.norm(kept.theta - theta) > 3 * np.linalg.norm(found.theta - theta)
    assert found.fit.relative_error_percent < 0.5 < kept.fit.relative_error_percent


@pytest.mark.parametrize('cutoff', [0.05, 0.2])
def test_a_stretch_too_short_for_the_filter_tells_no_delay(cutoff):
    arm = arm_named('ur10')
    log = log_of(arm, 0.05, seconds=12.0)
    treatment = choose_conditioning(replace(arm, conditioning=replace(
        arm.conditioning, cutoff_hz=cutoff)), [log])
    assert treatment.delay == 0.0


def test_a_stretch_of_one_sample_within_the_reach_of_the_filter_hides_no_delay():
    arm = arm_named('two_axis')
    arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=1.0))
    log = log_of(arm, 0.05)
    # At 125 samples/s, the low-pass reaches 46 to either side.
    for last in range(804, 824, 4):
        kept = log.take(np.r_[:5000, len(log.t) - last:len(log.t)])
        assert choose_conditioning(arm, [kept]).delay == pytest.approx(0.05, abs=5e-3)


def test_a_check_reports_the_delay_that_an_identification_removes():
    arm = arm_named('two_axis')
    (defect,) = drive_defects(arm, log_of(arm, 0.05))
    assert (defect.code, defect.severity) == ('effort_late', 'warning')
    assert re.match('The effort is (49|50|51) ms late relative to the motion; ', defect.message)
    assert defect.value == estimated(arm, [log_of(arm, 0.05)]).treatment.delay


def test_a_check_reports_signals_that_are_early():
    """As of positions that are filtered, or stamped late."""
    arm = arm_named('two_axis')
    (defect,) = drive_defects(arm, log_of(arm, -0.05))
    assert (defect.code, defect.severity) == ('effort_early', 'warning')
    assert re.match('The effort is (49|50|51) ms early relative to the motion; ', defect.message)


@pytest.mark.parametrize('name', ['ur10/ur10_exciting_trajectory.db3',
                                  'panda/panda_exciting_trajectory.db3'])
def test_no_recording_of_a_real_arm_is_early_unless_it_is_made_so(shared_data, name):
    arm = load_arm(name.partition('/')[0])
    log, _ = checked_recording(read_recording(shared_data / name, arm), arm)
    assert choose_conditioning(arm, [log]).delay == 0.0
    early = replace(log, u=np.column_stack([
        np.interp(log.t + 0.06, log.t, column) for column in log.u.T]))
    # Half a sample period of the slower recording, at 30 Hz.
    assert choose_conditioning(arm, [early]).delay == pytest.approx(-0.06, abs=0.017)


def test_a_check_reports_no_delay_where_there_is_none_or_where_it_is_stated():
    arm = arm_named('two_axis')
    assert drive_defects(arm, log_of(arm, 0.0)) == ()
    stated = replace(arm, conditioning=replace(arm.conditioning, delay=0.05))
    assert drive_defects(stated, log_of(arm, 0.05)) == ()


def test_a_check_of_a_recording_that_is_too_short_for_a_delay_is_silent():
    arm = arm_named('two_axis')
    assert drive_defects(arm, log_of(arm, 0.05).part(0, 300)) == ()
