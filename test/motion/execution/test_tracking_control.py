# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Gains and feed-forward follow from the arm."""

from dataclasses import replace

import numpy as np
from oracles import pinocchio_model, random_arm
import pinocchio as pin
import pytest

from dynid_ros.arm.load import load_arm
from dynid_ros.motion.execution.tracking_control import (
    ComputedTorque,
    NATURAL_FREQUENCY,
    RigidArm,
    STABLE_RATE,
    tracking_gains,
)
from dynid_ros.simulation.mjcf import joint_order, mujoco_model


@pytest.mark.parametrize('seed', range(3))
def test_rigid_functions_match_mujoco(seed):
    mujoco = pytest.importorskip('mujoco')
    rng = np.random.default_rng(seed)
    arm = replace(random_arm(rng, 6), rotor_nominal=rng.uniform(0, 1, 6))
    model, rigid = mujoco_model(arm), RigidArm(arm)
    data, order = mujoco.MjData(model), joint_order(model, arm)

    def torque(q, qd, qdd):
        data.qpos[order], data.qvel[order], data.qacc[order] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        return data.qfrc_inverse[order].copy()

    q, qd, qdd = rng.normal(size=(3, 6))
    rest = np.zeros(6)
    gravity = torque(q, rest, rest)
    columns = [torque(q, rest, unit) - gravity for unit in np.eye(6)]
    # Both in doubles, over torques of some 10 Nm.
    np.testing.assert_allclose(rigid.mass_matrix(q), np.array(columns).T, atol=1e-9)
    np.testing.assert_allclose(rigid.gravity(q), gravity, atol=1e-9)
    np.testing.assert_allclose(rigid.torque(q, qd, qdd), torque(q, qd, qdd), atol=1e-9)


def test_one_joint_gets_its_natural_frequency_with_critical_damping():
    arm = random_arm(np.random.default_rng(0), 1, prismatic=False)
    inertia = RigidArm(arm).mass_matrix(np.zeros(1))[0, 0]
    gains = tracking_gains(arm, reaction=1e-3)
    assert gains.stiffness[0] == pytest.approx(inertia * NATURAL_FREQUENCY**2, rel=1e-9)
    assert gains.damping[0] == pytest.approx(2 * inertia * NATURAL_FREQUENCY, rel=1e-9)


@pytest.mark.parametrize('name', ['ur10', 'panda', 'gluon_6l3', 'two_axis'])
@pytest.mark.parametrize('reaction', [1e-3, 8e-3])
@pytest.mark.parametrize('rotors', [True, False])
def test_the_sampled_loop_is_stable_at_every_position(name, reaction, rotors):
    stated = load_arm(name)
    arm = stated if rotors else replace(stated, rotor_nominal=None)
    gains, rigid, n = tracking_gains(arm, reaction), RigidArm(arm), arm.n
    for q in np.random.default_rng(5).uniform(-1, 1, (20, n)):
        inverse = np.linalg.inv(rigid.mass_matrix(q))
        h, one = reaction, np.eye(n)
        # Exact discretisation of a double integrator under torque held over the reaction time.
        A = np.block([[one, h * one], [np.zeros((n, n)), one]])
        B = np.vstack([h**2 / 2 * inverse, h * inverse])
        K = np.hstack([np.diag(gains.stiffness), np.diag(gains.damping)])
        assert np.abs(np.linalg.eigvals(A - B @ K)).max() < 1


def test_only_the_joints_that_a_light_link_couples_get_softer():
    heavy, light = 1.0, 1e-3
    links = [[1.0, 0, 0, 0, own, 0, 0, own, 0, own] for own in (light, heavy, heavy)]
    # The axes of the first two joints are one, that of the third is at right angles.
    arm = replace(
        random_arm(np.random.default_rng(0), 3, prismatic=False).with_tree(
            parent=np.array([-1, 0, 1]), rotation=np.stack([np.eye(3)] * 3),
            translation=np.zeros((3, 3)), axis=np.array([[0.0, 0, 1], [0, 0, 1], [1, 0, 0]])),
        inertial=np.array(links))
    gains = tracking_gains(arm, reaction=1e-3)
    frequency = 2 * gains.stiffness / gains.damping
    assert (frequency[:2] < 0.1 * NATURAL_FREQUENCY).all()
    assert frequency[2] == pytest.approx(NATURAL_FREQUENCY, rel=1e-2)


@pytest.mark.parametrize('seed', range(3))
def test_computed_torque_decouples_arms_of_any_inertia(seed):
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, 5)
    # Every link a hundred times lighter than the one before.
    arm = replace(arm, inertial=arm.inertial * 100.0 ** -np.arange(5)[:, None])
    rigid = RigidArm(arm)
    control = ComputedTorque(rigid, reaction=1e-3)
    q, qd, error, rate, qdd = rng.normal(size=(5, 5))
    model = pinocchio_model(arm)
    tau = control.torque(q, qd, q + error, qd + rate, qdd)
    moved = pin.aba(model, model.createData(), q, qd, tau)
    # Critically damped, and as fast as the reaction time allows.
    frequency = STABLE_RATE / 2e-3
    expected = qdd + frequency**2 * error + 2 * frequency * rate
    # The mass matrix has a condition number of some 1e10.
    np.testing.assert_allclose(moved, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def test_torques_of_gravity_and_of_the_whole_model_are_pinocchios():
    rng = np.random.default_rng(3)
    arm = random_arm(rng, 4)
    model = pinocchio_model(arm)
    data = model.createData()
    q, qd, qdd = rng.normal(size=(3, 5, 4))
    rest = np.zeros(4)
    np.testing.assert_allclose(
        [RigidArm(arm).gravity(row) for row in q],
        [pin.rnea(model, data, row, rest, rest) for row in q], atol=1e-9)
    np.testing.assert_allclose(
        [RigidArm(arm).torque(*rows) for rows in zip(q, qd, qdd, strict=True)],
        [pin.rnea(model, data, *rows) for rows in zip(q, qd, qdd, strict=True)], atol=1e-9)
