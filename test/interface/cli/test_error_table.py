# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The table of errors joint by joint."""

from dynid_ros.arm import load_arm
from dynid_ros.estimation.model.metrics import JointMetrics, Metrics
from dynid_ros.interface.answers.model import error_table


def test_a_torque_that_hardly_changes_keeps_the_table_narrow():
    arm = load_arm('two_axis')
    joints = tuple(JointMetrics(name, 0.5, 94.0, r2) for name, r2 in zip(
        arm.joint_names, (-1e300, 0.5), strict=True))
    _, first, second = error_table(Metrics('log.csv', True, 100, 94.0, joints), arm)
    assert (first[-1], second[-1]) == ('below -99', '0.500')
