# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The momentum observer on motions with known contacts."""

from contact_rig import exact, free_torque, moving, PANDA, RATE
import numpy as np
import pytest

from dynid_ros.applications.contact.friction_band import FrictionBand
from dynid_ros.applications.contact.momentum_observer import (
    FIRST_WITHOUT_OUTPUT,
    MomentumObserver,
    OUTPUT_LAG,
)
from dynid_ros.arm import load_arm
from dynid_ros.arm.friction import JointHistory
from dynid_ros.dynamics.external_force import external_force
from dynid_ros.dynamics.rigid_body import inverse_dynamics
from dynid_ros.errors import InputError

sliding = JointHistory.unknown


@pytest.mark.parametrize('name', ['panda', 'two_axis'])
def test_it_finds_nothing_on_a_free_motion_beside_the_band_of_the_friction(name):
    arm = load_arm(name)
    _, q, qd, qdd = moving(arm)
    tau = free_torque(arm, q, qd, qdd)
    torque, _, band = MomentumObserver(exact(arm), RATE).apply(q, qd, tau, sliding(qd))
    beside = np.maximum(np.abs(torque) - band, 0)
    # Sharp friction jumps within a sample of 2 ms, of which the filter lets through 10 %.
    friction = arm.friction_nominal['coulomb'].max()
    assert beside.max() < 0.2 * friction
    assert beside.mean() < 1e-3 * np.abs(tau).mean()


def test_samples_one_by_one_give_the_same_as_all_at_once():
    _, q, qd, qdd = moving(PANDA, seconds=0.1)
    tau = free_torque(PANDA, q, qd, qdd)
    observer = MomentumObserver(exact(PANDA), RATE)
    # The first two samples give no row.
    parts = [observer.apply(*(x[k:k + 1] for x in (q, qd, tau)), sliding(qd[k:k + 1]))[0]
             for k in range(len(q))]
    assert [len(part) for part in parts[:3]] == [0, 0, 1]
    whole = MomentumObserver(exact(PANDA), RATE).apply(q, qd, tau, sliding(qd))[0]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-9)


@pytest.mark.slow
def test_it_low_passes_the_torque_of_a_wrench():
    t, q, qd, qdd = moving(PANDA)
    wrench = external_force(PANDA, 'tool', [0, 0, 0, 10.0, -5.0, 20.0], q)
    push = inverse_dynamics(PANDA, q, fext=wrench) - inverse_dynamics(PANDA, q)
    push[t < 4.0] = 0.0
    tau = free_torque(PANDA, q, qd, qdd)
    observer = MomentumObserver(exact(PANDA), RATE, 5.0)
    torque = observer.apply(q, qd, tau + push, sliding(qd))[0] - MomentumObserver(
        exact(PANDA), RATE, 5.0).apply(q, qd, tau, sliding(qd))[0]
    lag, expected = 1 / (2 * np.pi * 5.0), np.zeros_like(push)
    for k in range(1, len(t)):
        expected[k] = expected[k - 1] + (push[k] - expected[k - 1]) / (lag * RATE)
    late = slice(FIRST_WITHOUT_OUTPUT - OUTPUT_LAG, len(t) - OUTPUT_LAG)
    # Sampling at 2 ms against a lag of 32 ms.
    assert np.abs(torque - expected[late]).max() < 0.07 * np.abs(push).max()


def test_a_joint_at_rest_may_hold_any_torque_up_to_its_friction():
    q = np.tile([0.3, -0.4, 0.2, -2.0, 0.1, 1.7, 0.5], (2000, 1))
    coulomb = PANDA.friction_nominal['coulomb']
    for held in (coulomb, -coulomb):
        tau = free_torque(PANDA, q, 0 * q, 0 * q) + held
        torque, _, band = MomentumObserver(exact(PANDA), RATE).apply(q, 0 * q, tau, sliding(0 * q))
        assert (np.abs(torque) <= band * (1 + 1e-9)).all()
        np.testing.assert_allclose(torque[-1], held)


def test_the_friction_of_a_fast_joint_is_that_of_the_model():
    band = FrictionBand(exact(PANDA))
    qd = np.linspace(-0.2, 0.2, 401)[:, None] * np.ones(7)
    change, width = band.at(0 * qd, qd, sliding(qd))
    fast = np.abs(qd) >= band.slow
    assert not change[fast].any() and not width[fast].any()
    # The rest is continuous, and any sliding friction lies in the band.
    coulomb = PANDA.friction_nominal['coulomb']
    counted = np.sign(qd) * coulomb + change
    assert np.abs(np.diff(counted, axis=0)).max() < 0.04 * coulomb.max()
    assert (np.abs(counted) + width >= np.abs(qd / 0.2) * coulomb * 0.99)[~fast].all()


def test_doubt_about_the_parameters_shows_as_variance():
    _, q, qd, qdd = moving(PANDA, seconds=1.0)
    tau = free_torque(PANDA, q, qd, qdd)
    rng, model = np.random.default_rng(0), exact(PANDA, scale=0.05)
    variance = MomentumObserver(model, RATE).apply(q, qd, tau, sliding(qd))[1][-1]
    last, draws = [x[-150:] for x in (q, qd, tau)], []
    for _ in range(300):
        theta = model.theta + 0.05 * rng.normal(size=len(model.theta))
        other = type(model)(PANDA, theta, model.covariance, model.sigma)
        # The variance is that of a model whose friction is not doubted at rest.
        draws.append(MomentumObserver(other, RATE).apply(*last, sliding(last[1]))[0])
    # 300 draws know a variance to 8 %.
    np.testing.assert_allclose(np.var(draws, axis=0)[-1], variance, rtol=0.35)


def test_a_reset_forgets_and_portions_do_not_matter():
    _, q, qd, qdd = moving(PANDA, seconds=0.4)
    tau = free_torque(PANDA, q, qd, qdd) + 1.0
    observer = MomentumObserver(exact(PANDA), RATE)
    whole = observer.apply(q, qd, tau, sliding(qd))[0]
    observer.reset()
    parts = [observer.apply(*(x[k:k + 7] for x in (q, qd, tau)), sliding(qd[k:k + 7]))[0]
             for k in range(0, len(q), 7)]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-10)


@pytest.mark.parametrize('bandwidth', [0.0, -1.0, np.nan, 51.0])
def test_an_impossible_bandwidth_is_refused(bandwidth):
    with pytest.raises(InputError, match='of the sample rate, 50 Hz, not at'):
        MomentumObserver(exact(PANDA), RATE, bandwidth)
