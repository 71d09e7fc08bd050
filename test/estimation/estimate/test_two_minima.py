# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Possible parameters of links that turn together, whose sizes make several minima."""

import conic_program
import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.estimation.estimate.physical_cone import physical_cone
from dynid_ros.estimation.estimate.possible_parameters import (
    possible_parameters,
    SHAPE_STD,
    SIZE_COST,
)

#: Weight of a prior that only keeps parameters from the boundary.
WEIGHTLESS = 1e-3
#: Joint, parent, child, origin and rotation, and the factor of the elbow that it follows.
JOINTS = (('yaw', 'base', 'l1', '0 0 -0.2154', '0 0 0', 0),
          ('pitch', 'l1', 'l2', '0 0 0', '-0.785398163 1.570796327 0.785398163', 0),
          ('elbow', 'l2', 'l3', '0.2794 0 0', '0 0 1.570796327', 0),
          ('drive', 'l2', 'l4', '0 0 0', '0 0 1.570796327', 1),
          ('coupler', 'l4', 'l5', '0.1 0 0', '0 0 -1.570796327', -1))


@pytest.fixture(scope='module')
def parallelogram(tmp_path_factory):
    """Describe an arm with a parallelogram, of which nobody states a mass."""
    path = tmp_path_factory.mktemp('arm') / 'parallelogram.urdf'
    path.write_text('<robot name="parallelogram"><link name="base"/>' + ''.join(
        f'<link name="{child}"/><joint name="{name}" type="revolute"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{origin}" rpy="{turn}"/><axis xyz="0 0 1"/>'
        '<limit lower="-8" upper="8" effort="100" velocity="20"/>'
        + f'<mimic joint="elbow" multiplier="{follows}"/>' * bool(follows) + '</joint>'
        for name, parent, child, origin, turn, follows in JOINTS) + '</robot>')
    return load_arm(path).with_friction(('viscous', 'coulomb', 'offset'))


def links(rng):
    """Inertial parameters of a balanced arm: heavy links about their joints."""
    for mass in (0.03, 4.0, 7.0, 1.0, 0.03):
        m = mass * 10**rng.uniform(-1, 0.5)
        com, size = rng.uniform(-0.2, 0.2, 3), rng.uniform(0.02, 0.2, 3)
        square = size**2
        yield inertial_from_com(m, com, m / 12 * np.diag(square.sum() - square))


@pytest.mark.parametrize('seed', [5721, 14320])
def test_the_search_loses_no_more_than_the_prior_may_cost(parallelogram, seed):
    """A conic program knows the least loss of possible parameters without sizes to choose."""
    arm, rng = parallelogram, np.random.default_rng(seed)
    base, middle = base_parameters(arm), rng.uniform(-0.8, 0.8, 3)
    q = middle + rng.uniform(-0.7, 0.7, (150, 3))
    qd, qdd = rng.normal(size=q.shape), 3 * rng.normal(size=q.shape)
    W = regressor(arm, q, qd, qdd)[:, :, base.columns]
    values = np.zeros(arm.layout.size)
    values[arm.layout.all_inertial()] = np.concatenate(list(links(rng)))
    values[arm.layout.rotors] = 0.001
    # Springs balance the arm.
    tau = W @ base.grouping @ values + [0, 1, 1] * rng.uniform(-8, 8, 3) * np.sin(q - middle)
    rms = np.sqrt((tau**2).mean(axis=0))
    rows = np.concatenate([W, tau[:, :, None]], axis=2) / (0.02 * rms[:, None])
    R = np.linalg.qr(rows.reshape(-1, rows.shape[2]), mode='r')
    root, torque, prior = R[:-1, :-1], R[:-1, -1], arm_prior(arm).scaled_to(rms)
    covariance = np.linalg.pinv(root.T @ root + np.linalg.inv(prior.covariance))
    found = possible_parameters(arm, prior, root, torque, covariance).values
    A = root @ prior.grouping
    best = conic_program.by_clarabel(A, torque, physical_cone(arm, prior), WEIGHTLESS)
    losses = [((A @ each - torque)**2).sum() / 2 for each in (found, best)]
    assert losses[0] < losses[1] + len(JOINTS) * SIZE_COST / SHAPE_STD**2
