# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Simulated recordings: true to the model they claim, repeatable, followed closely."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from synthetic_recordings import PERFECT

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.load import load_arm
from dynid_ros.data.recordings.history import history_of
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import InputError
from dynid_ros.estimation.blocks.prediction import torque_rows
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.friction_curve import friction_curves
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.execution.tracking_control import RigidArm
from dynid_ros.simulation.record import HOLD, simulate
from dynid_ros.utilities.progress import listening

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('figures_alone')]


def _motion(arm, periods=1, period=10.0):
    return random_motion(arm, seed=1, period=period, periods=periods, tries=3)


def _brief(arm):
    return _motion(arm, period=5.0)


@cache
def _truth(name):
    """Simulate an arm, of which no sensor changes the motion."""
    arm = load_arm(name)
    return simulate(arm, _motion(arm, period=7.0), rate_hz=1000, sensors=PERFECT).truth


@pytest.mark.parametrize('name', ['ur10', 'panda', 'gluon_6l3', 'two_axis'])
def test_perfect_sensors_lead_back_to_the_true_base_parameters(name):
    arm, truth = load_arm(name), _truth(name)
    base = base_parameters(arm)
    qdd = np.gradient(truth.qd, truth.t, axis=0)
    # Away from standstill, where sign(qd) of the model and the simulated tanh agree.
    moving = (np.abs(truth.qd) > 0.02).all(axis=1)
    W = regressor(arm, truth.q, truth.qd, qdd)[moving][:, :, base.columns]
    estimate = np.linalg.lstsq(W.reshape(-1, base.count), truth.tau[moving].ravel())[0]
    expected = base.grouping @ nominal_parameters(arm)
    # What is left are the first-order steps of the physics, 0.5 ms, and of the held command.
    assert np.linalg.norm(estimate - expected) < 0.005 * np.linalg.norm(expected)


@pytest.fixture(scope='module')
def brief():
    """Return an arm, a recording of a short motion, and the shares of its progress."""
    arm, shares = load_arm('two_axis'), []
    with listening(lambda _, share: shares.append(share)):
        simulation = simulate(arm, _brief(arm), rate_hz=125)
    return arm, simulation, shares


#: Shares of Coulomb friction; a curve that falls at first, with load, warmth and reversals.
RICH = {'viscous': 1.0, 'coulomb': 0.5, 'offset': 0.2, 'stribeck': 0.6, 'viscous_cuberoot': 0.3,
        'sign_10': 0.4, 'sign_100': -0.3, 'sign_1000': 0.3, 'viscous_warm': -0.1,
        'presliding': 0.7}


@pytest.fixture(scope='module')
def rich_arm():
    arm = load_arm('two_axis')
    friction = {name: share * arm.friction_nominal['coulomb'] for name, share in RICH.items()}
    # The first axis is upright.
    friction['load'] = np.array([0.0, 0.2])
    return replace(arm, friction=tuple(friction), friction_nominal=friction)


@pytest.fixture(scope='module')
def rich(rich_arm):
    """Record it, which takes ten times as long as an arm of plain friction."""
    return simulate(rich_arm, _motion(rich_arm, periods=2), rate_hz=1000, seed=1)


def test_friction_of_every_kind_is_that_of_the_model(rich_arm, rich):
    truth = rich.truth
    qdd, moving = np.gradient(truth.qd, truth.t, axis=0), np.abs(truth.qd) > 0.02
    # The simulated contacts begin unbent, those of the model bent.
    moving &= truth.t[:, None] > 2

    def error(arm):
        theta = base_parameters(arm).grouping @ nominal_parameters(arm)
        history = history_of(truth.t, truth.q)
        tau = np.concatenate([Y @ theta for _, Y in torque_rows(
            arm, theta, truth.q, truth.qd, qdd, history)])
        return np.sqrt(np.mean(np.where(moving, truth.tau - tau, 0.0) ** 2, axis=0))

    size = rich_arm.friction_nominal['coulomb']
    assert (error(rich_arm) < 0.04 * size).all()
    for name in rich_arm.friction:
        rest = tuple(other for other in rich_arm.friction if other != name)
        # The pendulum has load, too.
        assert error(rich_arm.with_friction(rest))[1] > 0.1 * size[1], name


def test_identification_finds_the_planted_curve_of_friction(rich_arm, rich):
    log = rich.log
    # As a recording at 250 Hz.
    log = replace(log, t=log.t[::4], q=log.q[::4], qd=log.qd[::4], u=log.u[::4])
    found = identify(rich_arm, [log])
    assert found.validation.relative_error_percent < 3
    theta = base_parameters(found.arm).grouping @ nominal_parameters(found.arm)
    for own, planted in zip(
            friction_curves(found), friction_curves(replace(found, theta=theta)), strict=True):
        fast = own.speed > 0.02 * own.speed[-1]
        np.testing.assert_allclose(
            own.torque[fast], planted.torque[fast], atol=0.06 * planted.torque.max())


@pytest.mark.parametrize('name', ['ur10', 'panda', 'two_axis'])
def test_the_arm_follows_closely_and_without_chatter(name):
    truth = _truth(name)
    # Friction over the stiffness of the control, which has no integral part.
    assert np.abs(truth.q - truth.wanted).max() < 0.02
    power = np.abs(np.fft.rfft(truth.tau - truth.tau.mean(axis=0), axis=0)) ** 2
    fast = np.fft.rfftfreq(len(truth.t), 1e-3) > 100
    # Chatter sits near the rate of the control; reversals of friction are slower.
    assert (power[fast].sum(axis=0) < 1e-4 * power.sum(axis=0)).all()


def test_the_arm_holds_still_before_and_after_the_motion():
    motion, truth = _motion(load_arm('panda'), period=7.0), _truth('panda')
    assert truth.t[-1] == pytest.approx(motion.duration + 2 * HOLD, abs=1e-9)
    before = truth.t < HOLD
    np.testing.assert_allclose(truth.qd[before], 0, atol=1e-4)
    # Afterwards it settles where friction leaves it.
    np.testing.assert_allclose(truth.q[-1], motion.start, atol=0.005)


def test_the_same_seed_gives_the_same_recording_and_another_one_other_noise_only(brief):
    arm, first, _ = brief
    again, other = (simulate(arm, _brief(arm), rate_hz=125, seed=s) for s in (0, 1))
    np.testing.assert_array_equal(first.log.u, again.log.u)
    np.testing.assert_array_equal(first.log.qd, again.log.qd)
    np.testing.assert_array_equal(first.truth.tau, other.truth.tau)
    assert not np.array_equal(first.log.u, other.log.u)


def test_the_recording_has_rate_length_signal_and_names_of_the_arm(brief):
    log = brief[1].log
    np.testing.assert_allclose(np.diff(log.t), 0.008, atol=1e-12)
    assert log.t[0] == 0
    assert log.q.shape == log.qd.shape == log.u.shape == (len(log.t), 2)
    assert (log.signal, log.joint_names) == ('voltage', ('arm_joint', 'pendulum_joint'))


def test_volts_times_gain_are_the_true_torque():
    arm = load_arm('two_axis')
    simulation = simulate(arm, _brief(arm), sensors=PERFECT)
    np.testing.assert_allclose(
        simulation.log.u * arm.drive.gain, simulation.truth.tau, atol=1e-12)


def test_a_signal_without_gravity_lacks_the_torque_that_holds_the_arm():
    plain = load_arm('panda')
    arm = replace(plain, drive=replace(Drive.joint_torque(7), includes_gravity=False))
    simulation = simulate(arm, _brief(arm), rate_hz=50, sensors=PERFECT)
    rigid = RigidArm(arm)
    gravity = np.array([rigid.gravity(q) for q in simulation.truth.q])
    np.testing.assert_allclose(simulation.log.u + gravity, simulation.truth.tau, atol=1e-9)


def test_default_torque_noise_is_a_tenth_of_the_swing_of_the_torque():
    arm = load_arm('two_axis')
    simulation = simulate(arm, _motion(arm), rate_hz=1000)
    noise = (simulation.log.u * arm.drive.gain - simulation.truth.tau).std(axis=0)
    # 11 000 samples: three deviations are 2 %.
    np.testing.assert_allclose(noise, 0.1 * simulation.truth.tau.std(axis=0), rtol=0.03)


def test_an_arm_too_weak_for_the_motion_is_refused_by_joint():
    arm = load_arm('two_axis')
    weak = replace(arm, limits=replace(arm.limits, effort=np.full(2, 0.01)))
    with pytest.raises(InputError, match=r"'(arm|pendulum)_joint' of the simulated 'two_axis'"):
        simulate(weak, _brief(arm))


def test_wrong_rates_are_refused():
    arm = load_arm('two_axis')
    with pytest.raises(InputError, match='rate of the recording must be above zero, but is 0 Hz'):
        simulate(arm, _brief(arm), rate_hz=0.0)


def test_progress_is_told_up_to_the_end(brief):
    shares = brief[2]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) > 5
