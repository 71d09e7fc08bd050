"""A signal that is a copy of velocity or position is no torque, however well friction fits it."""

from dataclasses import replace

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.diagnosis.copied_signals import copied_signals, left_over
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.online.replay import replay
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate

ARM = load_arm('ur10')
REAL = {'ur10': 'ur10_exciting_trajectory.db3', 'panda': 'panda_exciting_trajectory.db3',
        'tx40': 'pos_read_data.csv'}
FRICTION = ('viscous', 'coulomb', 'offset')


def against(result):
    return [reason for reason in result.verdict.reasons if 'is no torque' in reason]


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'quantity'), [
    ('ur10', 'velocity'), ('panda', 'position'), ('tx40', 'velocity'), ('tx40', 'position')])
def test_copies_of_real_recordings_are_named_live_and_in_batch(name, quantity, shared_data):
    arm = load_arm(name)
    log = read_recording(shared_data / name / REAL[name], arm)
    copies = {'velocity': np.gradient(log.q, log.t, axis=0), 'position': log.q}
    copied = replace(log, u=30 * copies[quantity] + 1.0)
    for result in (identify(arm, [copied], friction=FRICTION), replay(arm, copied)[0]):
        (reason,) = against(result)
        assert f"multiple of each joint's {quantity}" in reason
        assert not result.verdict.trustworthy


@pytest.mark.slow
def test_a_copy_of_velocity_with_noise_is_not_called_trustworthy():
    arm = load_arm('two_axis')
    log = simulate(arm, random_motion(arm, 3), seed=3).log
    noise = np.random.default_rng(0).normal(size=log.q.shape)
    copied = replace(log, u=np.gradient(log.q, log.t, axis=0) + 0.01 * noise)
    assert against(identify(arm, [copied], friction=FRICTION))
    assert against(identify(arm, [log], friction=FRICTION)) == []


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
    np.testing.assert_allclose(left_over(x, tau), expected, atol=1e-7)


def test_joints_that_stand_still_tell_nothing():
    x = np.random.default_rng(0).normal(size=(50, ARM.n))
    tau = np.full_like(x, np.nan)
    tau[:, 0] = 2 * x[:, 0]
    part = Prediction('here', False, np.arange(50.0), x, x, tau, tau)
    # A single joint may have viscous friction alone.
    assert copied_signals(ARM, part) == []
    assert np.isnan(left_over(x, tau)[1:]).all()
    tau[:, 1] = -x[:, 1]
    assert copied_signals(ARM, part)[0].code == 'effort_copies_velocity'


@pytest.mark.slow
def test_a_torque_made_of_velocity_opens_the_verdict():
    log = simulate(ARM, random_motion(ARM, 0, tries=5, periods=2), rate_hz=125).log
    speed = np.gradient(log.q, log.t, axis=0)
    noise = np.random.default_rng(0).normal(size=speed.shape)
    made = replace(log, u=3 * speed + 5 * np.sign(speed) + 0.1 * noise)
    first = identify(ARM, [made], friction=FRICTION).verdict.findings[0]
    assert first.code in ('effort_of_velocity', 'effort_copies_velocity')
    assert 'is no torque' in first.text
