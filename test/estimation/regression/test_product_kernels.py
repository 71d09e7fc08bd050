"""Kernels that fit to products of rows agree with NumPy's solution from the rows themselves."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.linalg import cho_solve, cholesky

from dynid_ros.estimation.regression.least_squares import factorise, solve_factorised
from dynid_ros.estimation.regression.product_kernels import (
    first_weights,
    fit_products,
    mix_torques,
    predict_folds,
    residual_squares,
)


def positive(c, seed):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(c + 3, c))
    return B.T @ B, rng.normal(size=c)


@given(c=st.integers(1, 30), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_cholesky_factor_and_solution_are_those_of_scipy(c, seed):
    A, right = positive(c, seed)
    upper, x = A.copy(), right.copy()
    # Only the upper half counts.
    upper[np.tril_indices(c, -1)] = np.nan
    factorise(upper)
    np.testing.assert_allclose(upper, cholesky(A), rtol=1e-8, atol=1e-8)
    solve_factorised(upper, x)
    np.testing.assert_allclose(x, cho_solve((cholesky(A), False), right), rtol=1e-6, atol=1e-8)


@pytest.fixture
def rows():
    """Rows of three joints with noise of different sizes, and their products."""
    rng = np.random.default_rng(5)
    W, theta = rng.normal(size=(3, 200, 8)), rng.normal(size=8)
    # Two joints have a column each that no other joint has.
    W[1:, :, 5], W[:2, :, 7] = 0, 0
    noise = np.array([0.01, 0.1, 1.0])
    tau = W @ theta + noise[:, None] * rng.normal(size=(3, 200))
    both = np.concatenate([W, tau[..., None]], axis=2)
    return W, tau, both.transpose(0, 2, 1) @ both


def test_squares_of_residuals_are_those_of_the_rows(rows):
    W, tau, products = rows
    theta, out = np.linspace(-1, 1, 8), np.empty(3)
    residual_squares(products, theta, out)
    np.testing.assert_allclose(out, ((tau - W @ theta)**2).sum(axis=1), rtol=1e-10)


@pytest.mark.parametrize('joints', [[0, 1, 2], [0, 2]])
@pytest.mark.parametrize('passes', [1, 4])
def test_weighted_fit_is_that_of_the_weighted_rows(rows, joints, passes):
    W, tau, products = rows
    count, variance = np.full(3, 200.0), np.ones(3)
    theta, upper = np.empty(8), np.empty((8, 8))
    scale, order = np.ones(8), np.array([5, 0, 7, 2, 1, 6, 3, 4])
    fit_products(
        products, np.array(joints), count, variance, np.zeros(3), scale, order, 0.0, passes,
        theta, upper)
    weights = np.ones(3)
    for _ in range(passes):
        root = np.sqrt(weights[joints])[:, None]
        left, right = root[..., None] * W[joints], root * tau[joints]
        expected = np.linalg.lstsq(left.reshape(-1, 8), right.ravel(), rcond=None)[0]
        weights = 1 / ((tau - W @ expected)**2).mean(axis=1)
    np.testing.assert_allclose(theta, expected, rtol=1e-9)
    np.testing.assert_allclose(variance[joints], 1 / weights[joints], rtol=1e-9)
    normal = np.einsum('ika,ikb->ab', left, left)
    np.testing.assert_allclose(scale, np.diag(normal)**-0.5, rtol=1e-9)
    normal = (normal * np.outer(scale, scale))[order[:, None], order]
    np.testing.assert_allclose(upper.T @ upper, normal, rtol=1e-9, atol=1e-9)


def test_a_column_that_is_left_out_is_zero(rows):
    _, _, products = rows
    theta, upper = np.empty(8), np.empty((8, 8))
    scale = np.ones(8)
    scale[3] = 0
    fit_products(
        products, np.arange(3), np.full(3, 200.0), np.ones(3), np.zeros(3), scale, np.arange(8),
        1e-9, 1, theta, upper)
    kept = np.delete(np.arange(9), 3)
    whole = products[:, kept[:, None], kept].sum(axis=0)
    assert theta[3] == 0
    np.testing.assert_allclose(
        np.delete(theta, 3), np.linalg.solve(whole[:-1, :-1], whole[:-1, -1]), rtol=1e-6)


def test_mixed_torques_are_those_of_the_mixed_rows(rows):
    W, tau, _ = rows
    mixing, out = np.random.default_rng(1).normal(size=(3, 3)), np.zeros((3, 9, 9))
    every = np.concatenate([W, np.broadcast_to(tau.T, (3, 200, 3))], axis=2)
    mix_torques(every.transpose(0, 2, 1) @ every, mixing, out)
    mixed = np.concatenate([W, (tau.T @ mixing).T[..., None]], axis=2)
    np.testing.assert_allclose(out, np.triu(mixed.transpose(0, 2, 1) @ mixed), atol=1e-9)


def test_each_fold_is_predicted_from_the_others(rows):
    W, tau, _ = rows
    folds, joints, passes = np.arange(200) * 9 // 200 % 3, [0, 2], 3
    mixing = np.random.default_rng(2).normal(size=(3, 3))
    every = np.concatenate([W, np.broadcast_to(tau.T, (3, 200, 3))], axis=2)
    parts = np.array([every[:, folds == f].transpose(0, 2, 1) @ every[:, folds == f]
                      for f in range(3)])
    counts = np.array([[(folds == f).sum()] * 3 for f in range(3)], dtype=float)
    left, power = np.empty((2, 3))
    predict_folds(
        parts, mixing, np.array(joints), counts, np.arange(8)[::-1].copy(), 0.0, 0.0, 0.0, 0.0,
        passes, left, power)
    mixed, expected = (tau.T @ mixing).T, np.zeros(3)
    for f in range(3):
        own = folds != f
        variance = (mixed[:, own]**2).mean(axis=1)
        for _ in range(passes):
            root = 1 / np.sqrt(variance[joints])[:, None]
            A, b = root[..., None] * W[joints][:, own], root * mixed[joints][:, own]
            theta = np.linalg.lstsq(A.reshape(-1, 8), b.ravel(), rcond=None)[0]
            variance = ((mixed - W @ theta)[:, own]**2).mean(axis=1)
        expected += ((mixed - W @ theta)[:, ~own]**2).sum(axis=1)
    np.testing.assert_allclose(left, expected, rtol=1e-8)
    np.testing.assert_allclose(power, (mixed**2).sum(axis=1), rtol=1e-10)


def test_a_joint_without_torque_does_not_take_all_weight(rows):
    _, _, products = rows
    silent = products.copy()
    silent[1, -1], silent[1, :, -1] = 0, 0
    silent[:, 2] *= 1e-12
    silent[:, :, 2] *= 1e-12
    scale, variance = np.empty(8), np.empty(3)
    first_weights(silent, np.arange(3), np.full(3, 200.0), 1e-9, 1e-4, 0.0, scale, variance)
    torque = silent[:, -1, -1] / 200
    np.testing.assert_allclose(variance, np.maximum(torque, 1e-4 * torque.max()))
    np.testing.assert_array_equal(scale, np.arange(8) != 2)


def test_a_joint_of_next_to_no_torque_leaves_the_parameters_of_the_others(rows):
    W, tau, _ = rows
    tau[0] *= 1e-5
    W[0], W[0, :, 5] = 0, 1
    both = np.concatenate([W, tau[..., None]], axis=2)
    products = both.transpose(0, 2, 1) @ both
    count, joints = np.full(3, 200.0), np.arange(3)
    scale, variance, theta, upper = np.empty(8), np.empty(3), np.empty(8), np.empty((8, 8))
    first_weights(products, joints, count, 1e-9, 0.0, 1e-300, scale, variance)
    fit_products(products, joints, count, variance, 0 * count, scale, np.arange(8), 1e-9, 4,
                 theta, upper)
    weights = 1 / np.sqrt(((tau - W @ theta)**2).mean(axis=1))[:, None]
    expected = np.linalg.lstsq((weights[..., None] * W).reshape(-1, 8), (weights * tau).ravel(),
                               rcond=None)[0]
    np.testing.assert_allclose(theta, expected, rtol=1e-3, atol=1e-6)
