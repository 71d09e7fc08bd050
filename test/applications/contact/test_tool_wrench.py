# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The wrench on the tool from external torque."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio
import pytest

from dynid_ros.applications.contact.tool_wrench import on_carrier, tool_wrench, USUAL_FORCE
from dynid_ros.arm import load_arm
from dynid_ros.arm.description.tree import Placement, Tool
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


def test_the_same_wrench_on_the_link_that_carries_the_tool_is_the_same_torque():
    q = [0.3, -0.4, 0.2, -2.0, 0.1, 1.7, 0.5]
    turn = np.array([[0.0, -1.0, 0.0], [0.6, 0.0, -0.8], [0.8, 0.0, 0.6]])
    arm = replace(load_arm('panda'), tool=Tool(Placement(turn, np.array([0.1, -0.2, 0.3])), 4))
    wrench = np.array([1.0, -2.0, 3.0, 20.0, -10.0, 5.0])
    on_tool, on_link = (
        inverse_dynamics(arm, q, fext=external_force(arm, body, value, q))
        for body, value in (('tool', wrench), (arm.joint_names[4], on_carrier(arm, wrench))))
    np.testing.assert_allclose(on_link, on_tool, atol=1e-9)


@pytest.mark.parametrize('name', ['ur10', 'tx40'])
def test_frames_of_links_are_those_of_urdf(name):
    # As TF has them, in which a wrench and centres of mass are shown.
    arm, q = load_arm(name), np.linspace(-0.8, 0.9, 6)
    model = pinocchio.buildModelFromUrdf(str(
        Path(__file__).parents[3] / f'config/arms/{name}/{name}.urdf'))
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    base = arm.base
    for joint in arm.joint_names:
        number = model.getJointId(joint)
        body = next(k for k, frame in enumerate(model.frames)
                    if frame.parentJoint == number and frame.type == pinocchio.FrameType.BODY)
        found = base.then(forward_kinematics(replace(arm, base=Placement()), q, joint))
        np.testing.assert_allclose(found.rotation, data.oMf[body].rotation, atol=1e-9)
        np.testing.assert_allclose(found.translation, data.oMf[body].translation, atol=1e-9)


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
