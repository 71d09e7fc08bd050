"""External torque and its error bars on motions with known contacts."""

from contact_rig import exact, free_torque, moving, Result
import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.contact.external_torque import external_torque, quantile
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.external_force import external_force
from dynid_ros.dynamics.rigid_body import inverse_dynamics
from dynid_ros.errors import InputError


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


@pytest.mark.parametrize('chance', [0.0, 1.0, -1.0, np.nan])
def test_an_impossible_probability_is_refused(chance):
    with pytest.raises(InputError, match='between 0 and 1'):
        quantile(chance)
