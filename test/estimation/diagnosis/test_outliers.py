# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Torque that is none of the motion's: it is named, and it spoils no estimate."""

from dataclasses import replace
from functools import cache
import re

from estimates import without_suspects
import numpy as np
import pytest
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.diagnosis.outliers import far_samples, outlier_share, too_many
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.online.replay import replay
from dynid_ros.motion.excitation.random_motion import random_motion

pytestmark = pytest.mark.slow

TENTH = 0.1


@cache
def recording(name, periods=2):
    arm = load_arm(name)
    motion = random_motion(arm, 3, tries=20, periods=periods)
    return followed(arm, motion, 250.0, seed=3)


def hit(log, joint, torque, begin, seconds=TENTH):
    """Add torque to a joint for some time."""
    u = log.u.copy()
    u[(log.t >= begin) & (log.t < begin + seconds), joint] += torque
    return replace(log, u=u)


@cache
@without_suspects()
def fitted(name, *hits):
    arm, log = load_arm(name), recording(name)
    for one in hits:
        log = hit(log, *one)
    return identify(arm, [log], friction=arm.friction)


def off_percent(arm, theta):
    """Distance from the simulation, of the norm."""
    true = base_parameters(arm).grouping @ nominal_parameters(arm)
    return 100 * np.linalg.norm(theta - true) / np.linalg.norm(true)


def said(result, name):
    return [note for note in result.treatment.notes if 'outlier' in note and name in note]


@pytest.mark.parametrize(('name', 'joint', 'torque'), [
    ('panda', 1, 10000.0), ('two_axis', 1, 50.0)])
def test_a_collision_is_named_and_left_out_of_the_fit(name, joint, torque):
    arm = load_arm(name)
    log = hit(recording(name), joint, torque, 10.3)
    result = identify(arm, [log], friction=arm.friction)
    (note,) = said(result, arm.joint_names[joint])
    assert 'a collision, contact or a sensor fault; left out' in note
    times = [float(each) for each in re.search(r' at (.*?) s', note)[1].split(' to ')]
    assert 9.5 < times[0] <= times[-1] < 11.2
    assert result.verdict.trustworthy, result.verdict.reasons
    assert off_percent(arm, result.theta) < off_percent(arm, fitted(name).theta) + 1.0


def test_collisions_of_several_joints_are_named_each_in_its_time():
    arm = load_arm('panda')
    result = fitted('panda', (1, 80.0, 5.0), (3, 60.0, 5.0), (1, -80.0, 12.0))
    for joint, times in ((1, 2), (3, 1)):
        assert len(said(result, arm.joint_names[joint])) == times
    assert off_percent(arm, result.theta) < off_percent(arm, fitted('panda').theta) + 1.0


def test_a_collision_in_what_is_held_out_is_named_and_counts():
    arm = load_arm('panda')
    result, good = fitted('panda', (1, 100.0, 17.0)), fitted('panda')
    (note,) = said(result, arm.joint_names[1])
    assert 'it is in the held-out set' in note
    assert (result.validation.relative_error_percent
            > 1.5 * good.validation.relative_error_percent)
    np.testing.assert_array_equal(result.theta, good.theta)


def turning(off, reverses=True):
    """Return a torque that turns by 2 Nm, as by friction, and one sample that is off before it."""
    t, at = 0.05 * np.arange(100), 50
    qd = -np.tanh(t - t[at]) + 2.0 * (not reverses)
    tau_hat = -np.tanh(20 * (t - t[at]))
    tau = tau_hat + 1e-3 * (-1) ** np.arange(100)
    tau[at - 3] = tau_hat[at - 3] + off
    part = Prediction('x', False, t, *(x[:, None] for x in (t, qd, tau, tau_hat)))
    (far,) = far_samples([part], 5.0)
    return far.any()


def test_friction_that_turns_early_is_none_and_torque_beyond_it_is():
    assert not turning(-1.9)
    assert turning(-2.2) and turning(0.2)


def test_what_a_reversal_excuses_is_an_outlier_without_one():
    assert turning(-1.9, reverses=False)


def test_torque_that_is_wrong_most_of_the_time_is_the_models_fault():
    """A joint whose signal fails again and again must not be fitted on what is left."""
    hits = tuple((1, 300.0 * (-1) ** k, 1.0 + k) for k in range(14))
    result = fitted('panda', *hits)
    assert not result.verdict.trustworthy


def test_a_joint_of_which_much_is_left_out_is_a_reason_against_the_result():
    tau = np.zeros((100, 2))
    part = Prediction('x', False, np.arange(100.0), tau, tau, tau, tau)
    far = np.zeros((100, 2), dtype=bool)
    far[:20, 1] = far[:10, 0] = True
    (reason,) = too_many(('first', 'second'), outlier_share([far], [part]))
    assert reason.sentence.startswith("20 % of the torque samples of joint 'second' are outliers")


@pytest.mark.parametrize('name', ['panda', 'two_axis'])
def test_good_simulated_recordings_lose_nothing(name):
    assert not [note for note in fitted(name).treatment.notes if 'sensor' in note]


def test_a_good_recording_of_a_real_arm_loses_nothing_and_is_trusted_online(shared_data):
    """test_replay.py shows it of the UR10 and of the Panda."""
    arm = load_arm('tx40')
    log = read_recording(shared_data / 'tx40/pos_read_data.csv', arm)
    # Its 5 kHz are far above any band.
    result, _ = replay(arm, log.take(np.arange(0, len(log.t), 4)))
    assert not [note for note in result.treatment.notes if 'sensor' in note]
    assert result.verdict.trustworthy, result.verdict.reasons


@without_suspects()
def test_a_collision_spoils_no_online_estimate_and_is_counted():
    arm = load_arm('panda')
    result, _ = replay(arm, hit(recording('panda'), 1, 10000.0, 10.3))
    (note,) = said(result, arm.joint_names[1])
    assert 'torque samples' in note
    assert 'left out' in note
    # 5.3 % here, and 130 % where it is learned from.
    assert off_percent(arm, result.theta) < 5.5


@without_suspects()
def test_what_lasts_is_learned_online_after_some_time():
    """A payload is no collision: the estimate follows it where it may forget."""
    arm, log = load_arm('two_axis'), recording('two_axis', periods=3)
    changed = replace(log, u=np.where(log.t[:, None] > 8.0, 4.0 * log.u, log.u))
    result, _ = replay(arm, changed, memory=3.0)
    # By the samples alone: the prior holds possible parameters back, as few seconds count.
    learned = np.linalg.solve(result.root_information, result.root_torque)
    assert np.linalg.norm(learned) > 3.0 * np.linalg.norm(fitted('two_axis').theta)
