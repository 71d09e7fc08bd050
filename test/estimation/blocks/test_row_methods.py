# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Filtered and power rows recover known parameters from motions without noise."""

from dataclasses import replace

import numpy as np
import pytest
from results import compress

from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import CouplingColumn
from dynid_ros.data.signals.conditioning import condition, ConditioningSettings
from dynid_ros.data.signals.segments import Segment
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import InputError
from dynid_ros.estimation.blocks.row_methods import MethodRows
from dynid_ros.estimation.estimate.weights import solve

RATE = 1000.0
TREATMENT = ConditioningSettings(20.0, False, 'butterworth', RATE, 16)


def smooth_motion(arm, seconds=20.0, seed=3):
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * RATE)) / RATE
    w = 2 * np.pi * rng.uniform(0.1, 0.9, size=(arm.n, 4))
    amplitude = rng.uniform(0.1, 0.6, size=(arm.n, 4))
    angle = w * t[:, None, None] + rng.uniform(0, 6, size=(arm.n, 4))
    return (t, (amplitude * np.sin(angle)).sum(axis=2),
            (amplitude * w * np.cos(angle)).sum(axis=2),
            -(amplitude * w**2 * np.sin(angle)).sum(axis=2))


@pytest.fixture(scope='module')
def panda():
    # Smooth friction: a step in torque is no signal that any low-pass keeps as it is.
    arm = load_arm('panda').with_friction(('viscous', 'offset'))
    theta = nominal_parameters(arm)
    t, q, qd, qdd = smooth_motion(arm)
    # Only positions are given to the method.
    segment = Segment(t, q, regressor(arm, q, qd, qdd) @ theta)
    return arm, condition(segment, TREATMENT, arm.drive), base_parameters(arm).grouping @ theta


def relative_error(arm, blocks, truth):
    solution = solve(compress(len(truth), blocks), arm_prior(arm))
    return np.linalg.norm(solution.theta - truth) / np.linalg.norm(truth)


def test_filtered_rows_recover_base_parameters_from_positions_alone(panda):
    arm, motion, truth = panda
    blocks = MethodRows('filtered', [motion], TREATMENT).blocks(arm)
    assert relative_error(arm, blocks, truth) < 1e-3


def test_power_rows_recover_base_parameters_from_positions_alone(panda):
    arm, motion, truth = panda
    blocks = MethodRows('power', [motion], TREATMENT).blocks(arm)
    assert relative_error(arm, blocks, truth) < 1e-3


@pytest.mark.parametrize('method', ['filtered', 'power'])
def test_rows_predict_what_was_measured(panda, method):
    arm, motion, truth = panda
    blocks = list(MethodRows(method, [motion], TREATMENT).blocks(arm))
    tau = np.concatenate([block.tau for block in blocks])
    error = tau - np.concatenate([block.W @ truth for block in blocks])
    # Only the low-pass of the positions, at forty times the motion, and rounding are left.
    assert np.linalg.norm(error) < 1e-3 * np.linalg.norm(tau)


def test_stretches_are_filtered_on_their_own(panda):
    arm, motion, _ = panda
    once, twice = (list(MethodRows('filtered', count * [motion], TREATMENT).blocks(arm))
                   for count in (1, 2))
    assert [block.segment for block in twice] == [0] * len(once) + [1] * len(once)
    for a, b in zip(once, twice[len(once):], strict=True):
        np.testing.assert_array_equal(a.W, b.W)


def test_power_rejects_a_coupling_without_energy():
    matrix = np.zeros((2, 2))
    matrix[0, 1] = 1.0
    arm = replace(load_arm('two_axis'), coupling=(CouplingColumn('Iam', 'qdd', matrix),))
    t, q, *_ = smooth_motion(arm, 2.0)
    motion = condition(Segment(t, q, q), TREATMENT, arm.drive)
    with pytest.raises(InputError, match=r"coupling column 'Iam'.*not symmetric"):
        list(MethodRows('power', [motion], TREATMENT).blocks(arm))
