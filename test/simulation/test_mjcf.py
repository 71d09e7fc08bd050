# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The MuJoCo model is the same arm: its dynamics match Pinocchio's."""

from dataclasses import replace

import mujoco
import numpy as np
from oracles import pinocchio_model, random_arm
import pinocchio as pin
import pytest

from dynid_ros.errors import ArmError
from dynid_ros.simulation.mjcf import joint_order, mujoco_model


def _mujoco_torque(arm, q, qd, qdd):
    model = mujoco_model(arm)
    data, order = mujoco.MjData(model), joint_order(model, arm)
    data.qpos[order], data.qvel[order], data.qacc[order] = q, qd, qdd
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse[order]


@pytest.mark.parametrize('seed', range(10))
def test_inverse_dynamics_matches_pinocchio_on_random_trees_with_rotors(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 10))
    arm = replace(random_arm(rng, n), rotor_nominal=rng.uniform(0.0, 2.0, n))
    truth = pinocchio_model(arm)
    for _ in range(5):
        q, qd, qdd = rng.normal(scale=2.0, size=(3, n))
        expected = pin.rnea(truth, truth.createData(), q, qd, qdd)
        expected = expected + arm.rotor_nominal * qdd
        # Both work in doubles; MuJoCo diagonalises each inertia first.
        np.testing.assert_allclose(
            _mujoco_torque(arm, q, qd, qdd), expected, rtol=0,
            atol=1e-9 * np.abs(expected).max())


def test_gravity_torque_matches_the_pendulum():
    arm = replace(
        random_arm(np.random.default_rng(0), 1, prismatic=False).with_tree(
            rotation=np.eye(3)[None], translation=np.zeros((1, 3)),
            axis=np.array([[0.0, 1.0, 0.0]])),
        gravity=np.array([0.0, 0.0, -9.81]),
        inertial=np.array([[2.0, 1.0, 0, 0, 0.1, 0, 0, 0.8, 0, 0.8]]))
    # Mass 2 kg at 0.5 m along x: turning about +y lowers it, so that holding it needs -m g c.
    assert _mujoco_torque(arm, [0.0], [0.0], [0.0])[0] == pytest.approx(-9.81, abs=1e-12)


def test_an_arm_without_inertias_is_refused_by_name():
    arm = replace(random_arm(np.random.default_rng(0), 2), inertial=None)
    with pytest.raises(ArmError, match="'random' has no nominal inertias"):
        mujoco_model(arm)


def test_an_unphysical_link_is_refused_by_joint():
    arm = random_arm(np.random.default_rng(0), 3)
    arm.inertial[1, 4] = -1.0
    with pytest.raises(ArmError, match="'j2'"):
        mujoco_model(arm)
