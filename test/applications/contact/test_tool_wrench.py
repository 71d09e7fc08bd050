"""The wrench on the tool from external torque."""

import numpy as np
import pytest

from dynid_ros.applications.contact.tool_wrench import tool_wrench, USUAL_FORCE
from dynid_ros.arm import load_arm
from dynid_ros.dynamics.external_force import external_force
from dynid_ros.dynamics.kinematics.forward import forward_kinematics
from dynid_ros.dynamics.rigid_body import geometric_jacobian, inverse_dynamics


@pytest.mark.parametrize(('name', 'q'), [
    ('ur10', [0.3, -1.0, 1.3, 0.4, 0.9, 0.2]), ('panda', [0.3, -0.4, 0.2, -2.0, 0.1, 1.7, 0.5])])
def test_it_is_found_from_external_torque(name, q):
    arm = load_arm(name)
    wrench = np.array([1.0, -2.0, 3.0, 20.0, -10.0, 5.0])
    torque = inverse_dynamics(arm, q, fext=external_force(arm, 'tool', wrench, q))
    torque -= inverse_dynamics(arm, q)
    found = tool_wrench(arm, q, torque, np.full(arm.n, 1e-3))
    assert found.determined.all()
    # The axes of the answer are those of the base.
    turn = forward_kinematics(arm, q).rotation
    expected = np.concatenate([turn @ wrench[:3], turn @ wrench[3:]])
    np.testing.assert_allclose(found.wrench, expected, atol=1e-3)


def test_its_covariance_is_that_of_its_draws():
    arm, q = load_arm('ur10'), [0.3, -1.0, 1.3, 0.4, 0.9, 0.2]
    rng = np.random.default_rng(0)
    std = np.array([0.2, 0.2, 0.1, 0.05, 0.05, 0.05])
    draws = [tool_wrench(arm, q, std * rng.normal(size=6), std).wrench for _ in range(3000)]
    expected = tool_wrench(arm, q, np.zeros(6), std).covariance
    # 3000 draws know a variance to 2.6 %.
    np.testing.assert_allclose(np.var(draws, axis=0), np.diag(expected), rtol=0.1)


def test_components_that_two_joints_cannot_feel_are_not_determined():
    arm, q = load_arm('two_axis'), [0.1, 0.4]
    found = tool_wrench(arm, q, [0.2, 0.1], [0.01, 0.01])
    assert not found.determined.all()
    assert np.sqrt(found.covariance[5, 5]) > 0.9 * USUAL_FORCE
    # The estimate explains the torque all the same.
    np.testing.assert_allclose(
        -geometric_jacobian(arm, q).T @ found.wrench, [0.2, 0.1], atol=1e-3)


def test_a_joint_that_tells_nothing_is_left_out():
    arm, q = load_arm('panda'), [0.3, -0.4, 0.2, -2.0, 0.1, 1.7, 0.5]
    force = np.array([0, 0, 0, 20.0, -10.0, 5.0])
    torque = -geometric_jacobian(arm, q).T @ force
    torque[2] = 1e3
    std = np.full(7, 0.01)
    std[2] = np.inf
    found = tool_wrench(arm, q, torque, std)
    np.testing.assert_allclose(found.wrench, force, atol=0.5)
