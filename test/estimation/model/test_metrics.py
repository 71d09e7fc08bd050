# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Figures of how well torque is predicted, by their definitions."""

import numpy as np
import pytest

from dynid_ros.estimation.blocks.prediction import Prediction
from dynid_ros.estimation.model.metrics import metrics

JOINTS = ('a', 'b', 'c')


def prediction(tau, tau_hat):
    t = np.arange(len(tau)) * 0.1
    return Prediction('x', True, t, np.zeros_like(tau), np.zeros_like(tau), tau, tau_hat)


def random_pair(samples, seed=0):
    rng = np.random.default_rng(seed)
    tau = rng.normal(size=(samples, 3)) * [1, 10, 0.1] + [0, 5, 0.2]
    return tau, tau + 0.1 * rng.normal(size=(samples, 3))


def test_rmse_relative_error_and_r2_are_those_of_the_definitions_over_all_stretches():
    tau, tau_hat = random_pair(200)
    parts = [prediction(tau[:70], tau_hat[:70]), prediction(tau[70:], tau_hat[70:])]
    seen = metrics(JOINTS, parts)
    error = tau - tau_hat
    total = 100 * np.linalg.norm(error) / np.linalg.norm(tau)
    assert seen.relative_error_percent == pytest.approx(total)
    assert (seen.samples, seen.source, seen.held_out) == (200, 'x', True)
    for j, joint in enumerate(seen.joints):
        assert joint.name == JOINTS[j]
        assert joint.rmse == pytest.approx(np.sqrt(np.mean(error[:, j] ** 2)))
        assert joint.relative_error_percent == pytest.approx(
            100 * np.linalg.norm(error[:, j]) / np.linalg.norm(tau[:, j]))
        assert joint.r2 == pytest.approx(1 - np.mean(error[:, j] ** 2) / np.var(tau[:, j]))


def test_samples_at_rest_do_not_count():
    tau, tau_hat = random_pair(200)
    whole = metrics(JOINTS, [prediction(tau[:150], tau_hat[:150])])
    tau[150:], tau_hat[150:] = np.nan, np.nan
    partly = metrics(JOINTS, [prediction(tau, tau_hat)])
    assert partly.relative_error_percent == pytest.approx(whole.relative_error_percent)
    for ours, theirs in zip(partly.joints, whole.joints, strict=True):
        assert vars(ours) == pytest.approx(vars(theirs))


def test_nothing_is_claimed_of_a_joint_that_never_moved():
    tau, tau_hat = random_pair(100)
    tau[:, 1], tau_hat[:, 1] = np.nan, np.nan
    seen = metrics(JOINTS, [prediction(tau, tau_hat)])
    still = seen.joints[1]
    assert np.isnan([still.rmse, still.relative_error_percent, still.r2]).all()
    assert np.isfinite(seen.relative_error_percent)


def test_a_perfect_model_has_no_error_and_one_that_says_zero_has_all():
    tau, _ = random_pair(100)
    perfect = metrics(JOINTS, [prediction(tau, tau)])
    assert perfect.relative_error_percent == 0
    assert [joint.r2 for joint in perfect.joints] == [1, 1, 1]
    silent = metrics(JOINTS, [prediction(tau, 0 * tau)])
    assert silent.relative_error_percent == pytest.approx(100)
