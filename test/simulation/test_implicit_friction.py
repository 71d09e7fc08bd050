"""The friction solver against closed forms and a general root finder."""

from dataclasses import replace

import numpy as np
from oracles import random_arm
import pytest
from scipy.optimize import brentq, root

from dynid_ros.errors import ArmError
from dynid_ros.simulation.implicit_friction import end_velocity, JointFriction


def _residual(x, mass, qd, force, viscous, coulomb, width, h):
    return mass @ (x - qd) - h * (force - viscous * x - coulomb * np.tanh(x / width))


@pytest.mark.parametrize('width', [1e-1, 1e-4])
@pytest.mark.parametrize('h', [1e-4, 1e-2])
def test_the_step_solves_its_equation_from_any_start_and_for_any_arm(width, h):
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(1, 8))
        A = rng.normal(size=(n, n)) * 10 ** rng.uniform(-2, 0, (n, 1))
        mass = A @ A.T + 1e-4 * np.eye(n)
        qd = rng.normal(size=n) * 10 ** rng.uniform(-4, 0.5)
        force = rng.normal(size=n) * 10 ** rng.uniform(-2, 2)
        viscous, coulomb = rng.uniform(0, 5, (2, n))
        x = end_velocity(
            mass, qd, force, qd + rng.normal(size=n), viscous, coulomb, width, h)
        residual = _residual(x, mass, qd, force, viscous, coulomb, width, h)
        steep = viscous + coulomb / width * (1 - np.tanh(x / width) ** 2)
        distance = np.linalg.solve(mass + np.diag(h * steep), residual)
        # Newton's last step was below 1e-9 and its error is the square of that.
        assert np.abs(distance).max() <= 1e-12 * (width + np.abs(x).max())


def test_one_joint_matches_a_bracketing_root_finder():
    args = (np.array([[0.3]]), np.array([0.02]), np.array([-1.0]))
    x = end_velocity(*args, np.zeros(1), np.array([0.5]), np.array([2.0]), 1e-3, 1e-2)
    expected = brentq(
        lambda v: 0.3 * (v - 0.02) - 0.01 * (-1.0 - 0.5 * v - 2.0 * np.tanh(v / 1e-3)), -1, 1,
        xtol=1e-15)
    assert x[0] == pytest.approx(expected, abs=1e-13)


def test_coupled_joints_match_a_general_root_finder():
    mass = np.array([[2.0, 0.6], [0.6, 0.3]])
    qd, force = np.array([0.4, -0.1]), np.array([3.0, 1.0])
    args = (mass, qd, force, np.array([1.0, 0.5]), np.array([0.7, 0.9]), 0.05, 0.01)
    x = end_velocity(mass, qd, force, np.zeros(2), *args[3:])
    found = root(_residual, qd, args=args, tol=1e-14)
    np.testing.assert_allclose(x, found.x, atol=1e-10)


def test_friction_stops_a_joint_without_reversing_it():
    # A single explicit step would leave 0.01 - 2 * 0.1 / 0.01 = -20 rad/s.
    x = end_velocity(
        np.array([[0.01]]), np.array([0.01]), np.zeros(1), np.array([0.01]), np.zeros(1),
        np.array([2.0]), 1e-3, 0.1)
    assert 0 <= x[0] < 1e-5


def test_nominal_friction_is_zero_where_unknown_and_refuses_what_is_not_simulated():
    arm = replace(
        random_arm(np.random.default_rng(0), 2), friction_nominal={'coulomb': np.array([1.0, 2])})
    friction = JointFriction.nominal(arm)
    np.testing.assert_allclose(friction.torque(np.array([-0.5, 0.5])), [-1.0, 2.0])
    stribeck = replace(arm, friction_nominal={'stribeck': np.ones(2)})
    with pytest.raises(ArmError, match="'stribeck' of 'random' cannot be simulated"):
        JointFriction.nominal(stribeck)
