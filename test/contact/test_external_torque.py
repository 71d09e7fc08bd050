"""External torque, momentum observer and tool wrench on motions with known contacts."""

from dataclasses import dataclass

import numpy as np
import pytest

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.contact.external_torque import external_torque, quantile
from dynid_ros.contact.momentum_observer import MomentumObserver
from dynid_ros.contact.tool_wrench import tool_wrench
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.external_force import external_force
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_body import inverse_dynamics
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import InputError
from dynid_ros.excitation.random_motion import random_motion
from dynid_ros.kinematics.forward import forward_kinematics

RATE = 500.0


@dataclass(frozen=True, eq=False)
class Result:
    arm: ArmModel
    theta: np.ndarray
    covariance: np.ndarray
    sigma: np.ndarray


def moving(arm, seed=0, seconds=8.0):
    t = np.arange(0, seconds, 1 / RATE)
    return t, *random_motion(arm, seed, tries=5).evaluate(t)


def exact(arm, sigma=0.0, scale=0.0):
    """Return an identification that hit the truth, with a stated uncertainty."""
    base = base_parameters(arm)
    theta = base.grouping @ nominal_parameters(arm)
    return Result(arm, theta, scale**2 * np.eye(base.count), np.full(arm.n, sigma))


def free_torque(arm, q, qd, qdd):
    return regressor(arm, q, qd, qdd) @ nominal_parameters(arm)


def observe(observer, t, q, qd, tau):
    found = [(observer.update(*sample).copy(), observer.threshold)
             for sample in zip(t, q, qd, tau, strict=True)]
    return tuple(map(np.array, zip(*found, strict=True)))


def test_external_torque_is_measured_minus_modelled_and_shows_a_wrench():
    arm = load_arm('panda')
    t, q, qd, qdd = moving(arm, seconds=0.5)
    wrench = np.array([0.5, 0.0, -0.3, 10.0, -5.0, 20.0])
    contact = external_force(arm, 'tool', wrench, q)
    rigid = inverse_dynamics(arm, q, qd, qdd, contact) - inverse_dynamics(arm, q, qd, qdd)
    found = external_torque(exact(arm), q, qd, qdd, free_torque(arm, q, qd, qdd) + rigid)
    np.testing.assert_allclose(found.torque, rigid, atol=1e-9)
    assert len(t) == len(found.torque)


def test_standard_deviation_covers_parameters_and_residual():
    arm = load_arm('panda')
    _, q, qd, qdd = moving(arm, seconds=0.1)
    base = base_parameters(arm)
    rng = np.random.default_rng(0)
    half = 0.05 * rng.normal(size=(base.count, base.count)) / np.sqrt(base.count)
    truth = exact(arm).theta
    tau = free_torque(arm, q, qd, qdd)
    draws = []
    for _ in range(3000):
        known = Result(arm, truth + half @ rng.normal(size=base.count), half @ half.T,
                       np.full(7, 0.2))
        noise = 0.2 * rng.normal(size=(1, 7))
        draws.append(external_torque(known, q[:1], qd[:1], qdd[:1], tau[:1] + noise).torque[0])
    std = external_torque(known, q[:1], qd[:1], qdd[:1], tau[:1]).std[0]
    # 3000 draws know a standard deviation to 1.3 %.
    np.testing.assert_allclose(np.std(draws, axis=0), std, rtol=0.05)


def test_false_alarms_are_as_rare_as_stated():
    arm = load_arm('panda')
    _, q, qd, qdd = moving(arm)
    rng = np.random.default_rng(1)
    tau = free_torque(arm, q, qd, qdd) + 0.3 * rng.normal(size=q.shape)
    found = external_torque(exact(arm, sigma=0.3), q, qd, qdd, tau, false_alarm=0.01)
    # 28 000 samples: a share of 1 % is known to 0.06 %.
    assert found.contact.mean() == pytest.approx(0.01, abs=0.0025)


@pytest.mark.parametrize('name', ['panda', 'two_axis'])
def test_the_observer_finds_nothing_on_a_free_motion(name):
    arm = load_arm(name)
    t, q, qd, qdd = moving(arm)
    tau = free_torque(arm, q, qd, qdd)
    torque, _ = observe(MomentumObserver(exact(arm)), t, q, qd, tau)
    # Sharp friction jumps within a sample of 2 ms, of which the filter lets through 6 %.
    friction = arm.friction_nominal['coulomb'].max()
    assert np.abs(torque).max() < 0.05 * np.abs(tau).max() + 0.13 * friction
    assert np.abs(torque).mean() < 0.01 * np.abs(tau).mean()


def test_the_observer_low_passes_the_external_torque():
    arm = load_arm('panda').with_friction(('viscous',))
    t, q, qd, qdd = moving(arm)
    push = np.where(t[:, None] > 4.0, np.array([0, 5.0, 0, -3.0, 0, 1.0, 0]), 0.0)
    tau = free_torque(arm, q, qd, qdd) + push
    torque, _ = observe(MomentumObserver(exact(arm), bandwidth_hz=5.0), t, q, qd, tau)
    lag = 1 / (2 * np.pi * 5.0)
    expected = push * (1 - np.exp(-np.maximum(t - 4.0, 0) / lag))[:, None]
    # Sampling at 2 ms against a lag of 32 ms.
    assert np.abs(torque - expected).max() < 0.06 * 5.0


def test_a_contact_is_seen_within_its_lag_and_free_motion_is_not_taken_for_one():
    arm = load_arm('panda')
    t, q, qd, qdd = moving(arm)
    rng = np.random.default_rng(2)
    hit = t > 5.0
    contact = external_force(arm, 'tool', [0, 0, 0, 0, 0, -60.0], q)
    touched = inverse_dynamics(arm, q, fext=contact) - inverse_dynamics(arm, q)
    tau = free_torque(arm, q, qd, qdd) + np.where(hit[:, None], touched, 0)
    tau += 0.5 * rng.normal(size=tau.shape)
    observer = MomentumObserver(exact(arm, sigma=0.5), bandwidth_hz=5.0)
    torque, threshold = observe(observer, t, q, qd, tau)
    seen = (np.abs(torque) > threshold).any(axis=1)
    assert not seen[~hit].any()
    assert t[np.argmax(seen)] - 5.0 < 0.05


def test_doubt_about_the_parameters_raises_the_threshold_where_they_matter():
    arm = load_arm('panda')
    t, q, qd, qdd = moving(arm, seconds=1.0)
    tau = free_torque(arm, q, qd, qdd)
    sure = observe(MomentumObserver(exact(arm, 0.5)), t, q, qd, tau)[1]
    unsure = observe(MomentumObserver(exact(arm, 0.5, scale=0.05)), t, q, qd, tau)[1]
    np.testing.assert_allclose(sure, quantile(1e-4) * 0.5)
    assert (unsure[1:] > sure[1:]).all()


def test_repeated_stamps_and_a_reset_do_no_harm():
    arm = load_arm('two_axis')
    t, q, qd, qdd = moving(arm, seconds=0.2)
    tau = free_torque(arm, q, qd, qdd)
    observer = MomentumObserver(exact(arm, 0.1))
    once, _ = observe(observer, t, q, qd, tau)
    observer.reset()
    assert not observer.contact.any()
    twice, _ = observe(observer, np.repeat(t, 2), *(np.repeat(x, 2, axis=0) for x in (q, qd, tau)))
    np.testing.assert_array_equal(twice[1::2], once)


@pytest.mark.parametrize(('name', 'q'), [
    ('ur10', [0.3, -1.0, 1.3, 0.4, 0.9, 0.2]), ('panda', [0.3, -0.4, 0.2, -2.0, 0.1, 1.7, 0.5])])
def test_the_wrench_on_the_tool_is_found_from_external_torque(name, q):
    arm = load_arm(name)
    wrench = np.array([1.0, -2.0, 3.0, 20.0, -10.0, 5.0])
    torque = inverse_dynamics(arm, q, fext=external_force(arm, 'tool', wrench, q))
    torque -= inverse_dynamics(arm, q)
    found = tool_wrench(arm, q, torque, np.full(arm.n, 0.1))
    assert found.determined.all()
    # The axes of the answer are those of the base.
    turn = forward_kinematics(arm, q).rotation
    expected = np.concatenate([turn @ wrench[:3], turn @ wrench[3:]])
    np.testing.assert_allclose(found.wrench, expected, atol=1e-9)


def test_covariance_of_the_tool_wrench_is_that_of_its_draws():
    arm, q = load_arm('ur10'), [0.3, -1.0, 1.3, 0.4, 0.9, 0.2]
    rng = np.random.default_rng(0)
    std = np.array([2.0, 2.0, 1.0, 0.5, 0.5, 0.5])
    draws = [tool_wrench(arm, q, std * rng.normal(size=6), std).wrench for _ in range(3000)]
    expected = tool_wrench(arm, q, np.zeros(6), std).covariance
    # 3000 draws know a variance to 2.6 %.
    np.testing.assert_allclose(np.var(draws, axis=0), np.diag(expected), rtol=0.1)


def test_components_that_two_joints_cannot_feel_are_named():
    found = tool_wrench(load_arm('two_axis'), [0.1, 0.4], [0.2, 0.1], [0.01, 0.01])
    assert not found.determined.all()


@pytest.mark.parametrize('chance', [0.0, 1.0, -1.0, np.nan])
def test_an_impossible_probability_is_refused(chance):
    with pytest.raises(InputError, match='between 0 and 1'):
        MomentumObserver(exact(load_arm('two_axis')), false_alarm=chance)


def test_an_impossible_bandwidth_is_refused():
    with pytest.raises(InputError, match='above zero, not 0 Hz'):
        MomentumObserver(exact(load_arm('two_axis')), bandwidth_hz=0.0)
