"""The torque at rest against Pinocchio, and against the regressor of arms it cannot be read as."""

from dataclasses import replace

import numpy as np
import pinocchio
import pytest

from dynid_ros.arm.load import load_arm
from dynid_ros.dynamics.base import gravity_torque
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters, pinocchio_arm


@pytest.mark.parametrize('name', ['panda', 'ur10'])
def test_torque_at_rest_is_that_of_pinocchio(name):
    arm = load_arm(name)
    known = pinocchio_arm(arm)
    q = np.random.default_rng(0).uniform(-3, 3, (20, arm.n))
    rigid = nominal_parameters(arm)[arm.layout.all_inertial()]
    expected = [pinocchio.computeGeneralizedGravity(known.model, known.data, each) for each in q]
    np.testing.assert_allclose(gravity_torque(arm, q, rigid), expected, atol=1e-11)


def test_torque_at_rest_of_a_sliding_joint_on_a_branch_of_a_tilted_arm():
    arm = load_arm('panda')
    rng = np.random.default_rng(1)
    prismatic = np.arange(arm.n) % 3 == 1
    parent = np.array([-1, 0, 1, 1, 3, 2, 4])
    arm = replace(arm.with_tree(prismatic=prismatic, parent=parent), gravity=rng.normal(size=3))
    rigid = rng.normal(size=10 * arm.n)
    q = rng.uniform(-2, 2, (30, arm.n))
    still = np.zeros_like(q)
    expected = regressor(arm.rigid(), q, still, still) @ rigid
    np.testing.assert_allclose(gravity_torque(arm, q, rigid), expected, atol=1e-11)
