# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The picture of an arm with error ellipsoids."""

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.kinematics.forward import forward_kinematics
from dynid_ros.pages.report.arm_picture import arm_picture, ellipsoid, enlargement


def test_every_point_of_the_ellipsoid_is_one_standard_deviation_away():
    half = np.random.default_rng(0).normal(size=(3, 3))
    covariance = half @ half.T
    points = ellipsoid(covariance).reshape(-1, 3)
    distance = np.einsum('ka,ab,kb->k', points, np.linalg.inv(covariance), points)
    np.testing.assert_allclose(distance, 1.0, rtol=1e-9)


def test_the_arm_is_drawn_from_its_body_to_its_tool():
    arm = load_arm('hand_leg')
    q = np.array([[0.2, -0.5, 0.4, 0.4]])
    axes = arm_picture(arm, q, np.eye(3)[None] * 1e-8).axes[0]
    line = np.array(axes.lines[0].get_data_3d()).T
    np.testing.assert_allclose(line[0], arm.base.translation)
    np.testing.assert_allclose(line[-1], forward_kinematics(arm, q[0]).translation)


def test_many_positions_get_an_ellipsoid_each_and_a_scale():
    arm = load_arm('ur10')
    q = np.random.default_rng(0).uniform(-1, 1, (5, 6))
    figure = arm_picture(arm, q, np.arange(1, 6)[:, None, None] * 1e-6 * np.eye(3))
    assert len(figure.axes[0].collections) == 5
    assert 'mm' in figure.axes[1].get_ylabel()


@pytest.mark.parametrize(('wanted', 'radius', 'factor'), [
    (1.0, 0.3, 2.0), (1.0, 0.011, 50.0), (1.0, 0.001, 1000.0), (1.0, 2.0, 1.0), (1.0, 0.0, 1.0)])
def test_enlargements_are_round_and_never_too_large(wanted, radius, factor):
    assert enlargement(wanted, radius) == factor
