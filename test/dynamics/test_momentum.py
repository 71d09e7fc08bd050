# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The terms of the acceleration-free regressors against Pinocchio and against each other."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import pinocchio_model, random_arm
import pinocchio as pin
import pytest

from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import CouplingColumn
from dynid_ros.dynamics.momentum import momentum_regressors
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters

SEEDS = st.integers(0, 10**6)
# Central differences of smooth functions of order one: truncation h² and rounding 1e-16 / h.
STEP = 1e-5
NEAR = 1e-7


def arm_and_motion(seed, samples=4):
    rng = np.random.default_rng(seed)
    arm = replace(random_arm(rng, int(rng.integers(1, 8))), friction=(), rotor_inertia=False)
    q, qd, qdd = rng.uniform(-2, 2, size=(3, samples, arm.n))
    return arm, q, qd, qdd


@given(SEEDS)
@settings(max_examples=25)
def test_momentum_matches_inverse_dynamics_of_pinocchio(seed):
    arm, q, qd, _ = arm_and_motion(seed)
    model = pinocchio_model(arm)
    model.gravity.linear = np.zeros(3)
    data = model.createData()
    # M qd is the torque that gives the acceleration qd at rest without gravity.
    still = np.zeros(arm.n)
    truth = [
        pin.rnea(model, data, x, still, v).copy() for x, v in zip(q, qd, strict=True)]
    momentum, _ = momentum_regressors(arm, q, qd)
    np.testing.assert_allclose(momentum @ nominal_parameters(arm), truth, rtol=1e-9, atol=1e-9)


@given(SEEDS)
@settings(max_examples=25)
def test_force_matches_differences_of_energies_of_pinocchio(seed):
    arm, q, qd, _ = arm_and_motion(seed)
    model = pinocchio_model(arm)
    data = model.createData()

    def lagrangian(x, v):
        kinetic = pin.computeKineticEnergy(model, data, x, v)
        return kinetic - pin.computePotentialEnergy(model, data, x)

    truth = np.array([
        [-(lagrangian(x + h, v) - lagrangian(x - h, v)) / (2 * STEP)
         for h in STEP * np.eye(arm.n)]
        for x, v in zip(q, qd, strict=True)
    ])
    _, force = momentum_regressors(arm, q, qd)
    scale = np.abs(truth).max() + 1
    np.testing.assert_allclose(force @ nominal_parameters(arm), truth, atol=NEAR * scale)


@given(SEEDS)
@settings(max_examples=25)
def test_change_of_momentum_plus_force_is_the_regressor_with_acceleration(seed):
    arm, q, qd, qdd = arm_and_motion(seed)
    arm = replace(
        arm, rotor_inertia=True, friction=('viscous', 'coulomb', 'offset', 'stribeck'),
        coupling=tuple(CouplingColumn(name, name, np.ones((arm.n, arm.n)))
                       for name in ('qdd', 'qd', 'sign_qd')))

    def momentum_at(time):
        return momentum_regressors(
            arm, q + time * qd + time**2 / 2 * qdd, qd + time * qdd)[0]

    change = (momentum_at(STEP) - momentum_at(-STEP)) / (2 * STEP)
    whole = change + momentum_regressors(arm, q, qd)[1]
    truth = regressor(arm, q, qd, qdd)
    np.testing.assert_allclose(whole, truth, atol=NEAR * (np.abs(truth).max() + 1))


def test_momentum_times_velocity_is_twice_the_kinetic_energy():
    arm = load_arm('panda')
    q, qd = np.random.default_rng(1).uniform(-1, 1, size=(2, 5, arm.n))
    model = pinocchio_model(arm)
    data = model.createData()
    truth = [pin.computeKineticEnergy(model, data, x, v) for x, v in zip(q, qd, strict=True)]
    momentum, _ = momentum_regressors(arm.rigid, q, qd)
    energy = (qd * (momentum @ nominal_parameters(arm.rigid))).sum(axis=1) / 2
    np.testing.assert_allclose(energy, truth, rtol=1e-12)


def test_a_wrong_shape_is_named():
    arm = load_arm('two_axis')
    with pytest.raises(ValueError, match='q and qd must both be'):
        momentum_regressors(arm, np.zeros((3, 2)), np.zeros((3, 3)))
