# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Columns of a load against the dynamics of an arm that has it, by Pinocchio."""

from dataclasses import replace

import numpy as np
from oracles import random_arm
import pinocchio
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.arm.description.tree import Placement, rotation_rpy
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.load_columns import frame_change, load_columns
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters

LOAD = inertial_from_com(1.7, [0.03, -0.02, 0.08], np.diag([0.01, 0.012, 0.005]))
FRAME = Placement(rotation_rpy([0.3, -0.7, 1.1]), np.array([0.02, -0.04, 0.11]))


def test_frame_change_moves_a_body_as_pinocchio_does():
    body = pinocchio.Inertia(1.7, np.array([0.03, -0.02, 0.08]), np.diag([0.01, 0.012, 0.005]))
    moved = pinocchio.SE3(FRAME.rotation, FRAME.translation).act(body)
    c, inertia = moved.lever, moved.inertia
    np.testing.assert_allclose(
        frame_change(FRAME) @ LOAD, inertial_from_com(moved.mass, c, inertia), atol=1e-12)


@pytest.mark.parametrize('name', ['panda', 'ur10', 'two_axis'])
def test_columns_of_the_load_give_the_torque_of_the_arm_that_carries_it(name):
    arm = load_arm(name)
    links = arm.inertial.copy()
    links[-1] += frame_change(FRAME) @ LOAD
    heavier = replace(arm, inertial=links)
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-2, 2, (3, 40, arm.n))
    difference = regressor(arm, q, qd, qdd) @ (
        nominal_parameters(heavier) - nominal_parameters(arm))
    W = regressor(arm, q, qd, qdd)[:, :, base_parameters(arm).columns]
    np.testing.assert_allclose(W @ load_columns(arm, FRAME) @ LOAD, difference, atol=1e-9)


def test_a_load_in_the_middle_of_a_chain_moves_only_joints_below_it():
    arm = random_arm(np.random.default_rng(1), 4, prismatic=False)
    arm = replace(arm, tool=replace(arm.tool, joint=1))
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, 20, 4))
    W = regressor(arm, q, qd, qdd)[:, :, base_parameters(arm).columns]
    torque = W @ load_columns(arm) @ LOAD
    carrying = {1}
    while arm.parent[min(carrying)] >= 0:
        carrying.add(int(arm.parent[min(carrying)]))
    still = [joint for joint in range(4) if joint not in carrying]
    assert np.abs(torque[:, still]).max() < 1e-10
