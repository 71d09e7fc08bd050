# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The friction solver against closed forms and a general root finder."""

from dataclasses import replace

import numpy as np
from oracles import random_arm
import pytest
from scipy.optimize import brentq, root

from dynid_ros.arm.friction import CURVE, TERMS
from dynid_ros.simulation.implicit_friction import end_velocity
from dynid_ros.simulation.joint_friction import JointFriction, RunningFriction

SPEEDS = np.append(0.0, np.geomspace(1e-5, 100.0, 1000))


def _curves(viscous, coulomb, width):
    viscous, coulomb = np.reshape(viscous, (-1, 1)), np.reshape(coulomb, (-1, 1))
    return viscous * SPEEDS + coulomb * np.tanh(SPEEDS / width)


def _friction(x, curves):
    """Evaluate the curves, and straight on behind their end."""
    speed, last = np.abs(x), curves[:, -1]
    slope = (last - curves[:, -2]) / (SPEEDS[-1] - SPEEDS[-2])
    inside = np.array([np.interp(v, SPEEDS, curve)
                       for v, curve in zip(speed, curves, strict=True)])
    return np.sign(x) * np.where(speed < SPEEDS[-1], inside, last + slope * (speed - SPEEDS[-1]))


def _residual(x, mass, qd, force, curves, h):
    return mass @ (x - qd) - h * (force - _friction(x, curves))


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
        curves = _curves(viscous, coulomb, width)
        x = end_velocity(mass, qd, force, qd + rng.normal(size=n), SPEEDS, curves, h)
        residual = _residual(x, mass, qd, force, curves, h)
        steep = viscous + coulomb / width * (1 - np.tanh(x / width) ** 2)
        distance = np.linalg.solve(mass + np.diag(h * steep), residual)
        # Newton's last step was below 1e-9 and its error is the square of that.
        assert np.abs(distance).max() <= 1e-12 * (width + np.abs(x).max())


def test_one_joint_matches_a_bracketing_root_finder():
    args = (np.array([[0.3]]), np.array([0.02]), np.array([-1.0]))
    x = end_velocity(*args, np.zeros(1), SPEEDS, _curves([0.5], [2.0], 1e-3), 1e-2)
    expected = brentq(
        lambda v: 0.3 * (v - 0.02) - 0.01 * (-1.0 - 0.5 * v - 2.0 * np.tanh(v / 1e-3)), -1, 1,
        xtol=1e-15)
    assert x[0] == pytest.approx(expected, rel=1e-3)


def test_coupled_joints_match_a_general_root_finder():
    mass = np.array([[2.0, 0.6], [0.6, 0.3]])
    qd, force = np.array([0.4, -0.1]), np.array([3.0, 1.0])
    curves = _curves([1.0, 0.5], [0.7, 0.9], 0.05)
    x = end_velocity(mass, qd, force, np.zeros(2), SPEEDS, curves, 0.01)
    found = root(_residual, qd, args=(mass, qd, force, curves, 0.01), tol=1e-14)
    np.testing.assert_allclose(x, found.x, atol=1e-10)


def test_friction_stops_a_joint_without_reversing_it():
    # A single explicit step would leave 0.01 - 2 * 0.1 / 0.01 = -20 rad/s.
    x = end_velocity(
        np.array([[0.01]]), np.array([0.01]), np.zeros(1), np.array([0.01]), SPEEDS,
        _curves([0.0], [2.0], 1e-3), 0.1)
    assert 0 <= x[0] < 1e-5


def test_nominal_friction_is_zero_where_unknown():
    arm = replace(
        random_arm(np.random.default_rng(0), 2), friction_nominal={'coulomb': np.array([1.0, 2])})
    friction = JointFriction(arm)
    np.testing.assert_allclose(friction.torque(np.array([-0.5, 0.5])), [-1.0, 2.0])
    np.testing.assert_allclose(friction.torque(np.zeros((3, 2))), 0.0)


def test_parts_that_rise_and_fall_sum_to_the_terms():
    rng = np.random.default_rng(0)
    names = ('viscous', *CURVE, 'stribeck', 'viscous_cuberoot', 'offset')
    arm = replace(random_arm(rng, 3), friction_nominal={
        name: rng.normal(size=3) for name in names})
    constant, rising, falling = RunningFriction(arm, 1e-3).step(np.zeros(3), np.zeros(3))
    assert (np.diff(rising) >= 0).all()
    assert (np.diff(falling) <= 1e-12).all()
    speeds = JointFriction(arm).speeds
    qd = np.repeat(speeds[:, None], 3, axis=1)
    wanted = sum(arm.friction_nominal[name] * TERMS[name].value(qd, qd, arm.friction_shape)
                 for name in names)
    np.testing.assert_allclose((rising + falling).T + constant, wanted, atol=1e-12)
