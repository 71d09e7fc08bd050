# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Compressed rows and weighted least squares on them, against the dense rows and known noise."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from results import compress

from dynid_ros.errors import RecordingError
from dynid_ros.estimation.blocks.qr_factors import QRFactors
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.estimate.weights import (
    FIRST_FREEDOM,
    FIRST_NOISE,
    solve,
)

JOINTS, PARAMETERS = 3, 5
THETA = np.array([1.0, -2.0, 3.0, 0.5, -0.1])
NOISE = np.array([0.01, 0.3, 2.0])
#: Prior of zeros, so wide that the rows of these tests decide.
WIDE = np.column_stack([1e-6 * np.eye(PARAMETERS), np.zeros(PARAMETERS)])


def rows(seed=0, samples=2000):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(samples, JOINTS, PARAMETERS))
    return W, W @ THETA + rng.normal(size=(samples, JOINTS)) * NOISE


def compressed(W, tau):
    moving = np.ones(tau.shape, dtype=bool)
    empty = np.zeros_like(tau)
    t = np.arange(len(W)) * 0.1
    return compress(W.shape[2], [RowBlock(0, t, empty, empty, W, tau, moving)])


def test_weights_settle_to_the_noise_of_each_joint():
    # 2000 rows tell a standard deviation to 1.6 % (one sigma).
    np.testing.assert_allclose(solve(compressed(*rows()), WIDE).sigma, NOISE, rtol=0.06)


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_estimate_and_covariance_are_those_of_dense_weighted_least_squares(seed):
    W, tau = rows(seed, 200)
    solution = solve(compressed(W, tau), WIDE)
    scaled = (W / solution.sigma[:, None]).reshape(-1, PARAMETERS)
    theta, *_ = np.linalg.lstsq(scaled, (tau / solution.sigma).ravel(), rcond=None)
    # The weights of the last step are settled to 1e-6 only.
    np.testing.assert_allclose(solution.theta, theta, rtol=0, atol=1e-6)
    covariance = np.linalg.inv(scaled.T @ scaled)
    std = np.sqrt(np.diag(covariance))
    # Covariances near zero have no digits of their own.
    np.testing.assert_allclose(
        solution.white_covariance / np.outer(std, std), covariance / np.outer(std, std),
        rtol=0, atol=5e-6)
    condition = np.linalg.cond(W.reshape(-1, PARAMETERS))
    assert solution.condition_number == pytest.approx(condition, rel=1e-10)
    # The weights are a fixed point: they are the residuals that they lead to.
    freedom = len(tau) * (1 - PARAMETERS / tau.size) + FIRST_FREEDOM
    power = (tau**2).mean(axis=0)
    first = FIRST_FREEDOM * FIRST_NOISE**2 * np.maximum(power, power.mean())
    left = np.sqrt((((tau - W @ theta) ** 2).sum(axis=0) + first) / freedom)
    np.testing.assert_allclose(solution.sigma, left, rtol=1e-5)


def test_weighting_makes_a_quiet_joint_count():
    W, tau = rows(5, 400)
    plain = np.linalg.lstsq(W.reshape(-1, PARAMETERS), tau.ravel(), rcond=None)[0]
    weighted = solve(compressed(W, tau), WIDE).theta
    assert np.linalg.norm(weighted - THETA) < 0.1 * np.linalg.norm(plain - THETA)


def test_the_prior_decides_where_the_rows_show_nothing():
    W, _ = rows(1)
    W[:, :, 1] = 0
    W[:, :, 3] = -2 * W[:, :, 2]
    value, std = np.full(PARAMETERS, 0.3), np.full(PARAMETERS, 50.0)
    prior = np.column_stack([np.eye(PARAMETERS), value]) / std[:, None]
    solution = solve(compressed(W, W @ THETA + 0.01 * rows(2)[1]), prior)
    deviation = np.sqrt(np.diag(solution.white_covariance))
    assert solution.condition_number == np.inf
    assert solution.theta[1] == pytest.approx(value[1], rel=1e-9)
    assert deviation[1] == pytest.approx(std[1], rel=1e-9)
    # Only their difference acts: the rows leave a direction of (2, 1) to the prior.
    combined = solution.theta[2] - 2 * solution.theta[3]
    assert combined == pytest.approx(THETA[2] - 2 * THETA[3], abs=0.01)
    assert 2 * solution.theta[2] + solution.theta[3] == pytest.approx(3 * value[2], abs=0.01)


def test_units_of_the_columns_do_not_matter():
    W, tau = rows(3)
    for units in (np.ones(PARAMETERS), np.logspace(-4, 3, PARAMETERS)):
        solution = solve(compressed(W * units, tau), WIDE * np.append(units, 1.0))
        np.testing.assert_allclose(
            solution.theta * units, solve(compressed(W, tau), WIDE).theta, rtol=1e-8)


def test_a_joint_that_fits_without_error_does_not_take_all_weight():
    W, tau = rows(4)
    tau[:, 0] = W[:, 0] @ THETA
    solution = solve(compressed(W, tau), WIDE)
    np.testing.assert_allclose(solution.theta, THETA, rtol=1e-5)
    np.testing.assert_allclose(solution.sigma[1:], NOISE[1:], rtol=0.06)


def test_fewer_rows_than_parameters_leave_the_rest_to_the_prior():
    W, tau = rows(0, 1)
    prior = np.column_stack([np.eye(PARAMETERS), np.zeros(PARAMETERS)]) / 7.0
    solution = solve(compressed(W, tau), prior)
    deviation = np.sqrt(np.diag(solution.white_covariance))
    assert np.isfinite(solution.theta).all()
    assert (deviation > 0).all() and (deviation <= 7.0).all()
    assert deviation.max() > 3.0


def test_no_rows_are_refused():
    with pytest.raises(RecordingError, match='no row is left'):
        solve(QRFactors.empty(JOINTS, PARAMETERS), WIDE)


def blocks_of(W, tau, cuts, moving=None):
    moving = np.ones(tau.shape, dtype=bool) if moving is None else moving
    edges = [0, *sorted(cuts), len(W)]
    empty = np.zeros_like(tau)
    for a, b in pairwise(edges):
        s = slice(a, b)
        yield RowBlock(0, np.arange(a, b) * 0.1, empty[s], empty[s], W[s], tau[s], moving[s])


def random_rows(seed, samples):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(samples, JOINTS, PARAMETERS)), rng.normal(size=(samples, JOINTS))


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 80), st.lists(st.integers(0, 80), max_size=6))
def test_sums_of_squares_are_those_of_the_rows_however_they_are_cut(seed, samples, cuts):
    W, tau = random_rows(seed, samples)
    theta = np.random.default_rng(seed + 1).normal(size=PARAMETERS)
    data = compress(PARAMETERS, blocks_of(W, tau, [min(c, samples) for c in cuts]))
    np.testing.assert_allclose(
        data.residual_squares(theta), ((tau - W @ theta) ** 2).sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(data.torque_squares(), (tau**2).sum(axis=0), rtol=1e-10)
    for j in range(JOINTS):
        whole = np.column_stack([W[:, j], tau[:, j]])
        factor = data.factors[j]
        np.testing.assert_allclose(factor.T @ factor, whole.T @ whole, rtol=0, atol=1e-10)
        np.testing.assert_array_equal(data.factors[j], np.triu(data.factors[j]))
    np.testing.assert_array_equal(data.rows, samples)


def test_rows_of_joints_at_rest_are_not_counted():
    W, tau = random_rows(0, 60)
    moving = np.random.default_rng(1).random((60, JOINTS)) < 0.6
    W, tau = W * moving[:, :, None], tau * moving
    data = compress(PARAMETERS, blocks_of(W, tau, [10, 40], moving))
    np.testing.assert_array_equal(data.rows, moving.sum(axis=0))


def test_digits_of_weak_directions_survive_where_normal_equations_lose_them():
    # Columns from 1 to 1e-9: squared they would vanish in rounding.
    W, _ = random_rows(2, 400)
    W = W * np.logspace(0, -9, PARAMETERS)
    theta = np.arange(1.0, PARAMETERS + 1)
    data = compress(PARAMETERS, blocks_of(W, W @ theta, [100, 200]))
    stacked = data.factors.reshape(-1, PARAMETERS + 1)
    estimate = np.linalg.lstsq(stacked[:, :-1], stacked[:, -1], rcond=None)[0]
    np.testing.assert_allclose(estimate, theta, rtol=1e-5)
