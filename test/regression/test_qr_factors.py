"""Compressed rows say the same of any parameters as the rows themselves."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np

from dynid_ros.regression.qr_factors import compress, QRFactors
from dynid_ros.regression.rows import RowBlock

JOINTS, PARAMETERS = 3, 5


def blocks_of(W, tau, cuts, moving=None):
    moving = np.ones(tau.shape, dtype=bool) if moving is None else moving
    edges = [0, *sorted(cuts), len(W)]
    empty = np.zeros_like(tau)
    for a, b in pairwise(edges):
        s = slice(a, b)
        yield RowBlock(0, np.arange(a, b) * 0.1, empty[s], empty[s], W[s], tau[s], moving[s])


def rows(seed, samples):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(samples, JOINTS, PARAMETERS)), rng.normal(size=(samples, JOINTS))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 80), st.lists(st.integers(0, 80), max_size=6))
def test_sums_of_squares_are_those_of_the_rows_however_they_are_cut(seed, samples, cuts):
    W, tau = rows(seed, samples)
    theta = np.random.default_rng(seed + 1).normal(size=PARAMETERS)
    data = compress(JOINTS, PARAMETERS, blocks_of(W, tau, [min(c, samples) for c in cuts]))
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
    W, tau = rows(0, 60)
    moving = np.random.default_rng(1).random((60, JOINTS)) < 0.6
    W, tau = W * moving[:, :, None], tau * moving
    data = compress(JOINTS, PARAMETERS, blocks_of(W, tau, [10, 40], moving))
    np.testing.assert_array_equal(data.rows, moving.sum(axis=0))


def test_no_rows_give_no_information():
    data = compress(JOINTS, PARAMETERS, [])
    assert not data.factors.any() and not data.rows.any()
    np.testing.assert_array_equal(
        data.factors, QRFactors.empty(JOINTS, PARAMETERS).factors)


def test_digits_of_weak_directions_survive_where_normal_equations_lose_them():
    # Columns from 1 to 1e-9: squared they would vanish in rounding.
    W, _ = rows(2, 400)
    W = W * np.logspace(0, -9, PARAMETERS)
    theta = np.arange(1.0, PARAMETERS + 1)
    data = compress(JOINTS, PARAMETERS, blocks_of(W, W @ theta, [100, 200]))
    stacked = data.factors.reshape(-1, PARAMETERS + 1)
    estimate = np.linalg.lstsq(stacked[:, :-1], stacked[:, -1], rcond=None)[0]
    np.testing.assert_allclose(estimate, theta, rtol=1e-5)
