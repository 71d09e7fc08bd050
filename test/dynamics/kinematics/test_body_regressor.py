# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The wrench that a body takes, against Pinocchio's regressor of a body."""

import numpy as np
from oracles import pinocchio_model, random_arm, random_rotation
import pinocchio as pin
import pytest

from dynid_ros.arm.description.tree import Placement
from dynid_ros.dynamics.kinematics.body_regressor import body_motion, body_regressor

#: Pinocchio's order of the inertia is xx, xy, yy, xz, yz, zz.
ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


@pytest.mark.parametrize('seed', range(6))
def test_body_regressor_matches_pinocchio_on_random_trees(seed):
    rng = np.random.default_rng(seed)
    arm = random_arm(rng, 5)
    place = Placement(random_rotation(rng), rng.normal(scale=0.2, size=3))
    q, qd, qdd = rng.normal(size=(3, 4, arm.n))
    model = pinocchio_model(arm)
    data, frame = model.createData(), pin.SE3(place.rotation, place.translation)
    for joint in range(arm.n):
        found = body_regressor(body_motion(arm, joint, place, q, qd, qdd))
        for k in range(len(q)):
            pin.forwardKinematics(model, data, q[k], qd[k], qdd[k])
            number = model.getJointId(arm.joint_names[joint])
            gravity = (data.oMi[number] * frame).rotation.T @ model.gravity.linear
            rise = frame.actInv(data.a[number])
            wanted = pin.bodyRegressor(
                frame.actInv(data.v[number]),
                pin.Motion(rise.linear - gravity, rise.angular))[:, ORDER]
            # Pinocchio's wrench begins with the force.
            np.testing.assert_allclose(
                found[k], np.vstack([wanted[3:], wanted[:3]]), rtol=1e-10, atol=1e-10)
