# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Groups are predicted as fits to all other rows do, and compared by their logarithms."""

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters, random_regressor
from dynid_ros.estimation.blocks.qr_factors import QRFactors, stack
from dynid_ros.estimation.estimate.folds import Folds, log_error_ratio
from dynid_ros.estimation.estimate.weights import solve

B, N, K = 9, 2, 5
SIGMA = np.array([0.3, 2.0])


@pytest.mark.parametrize('least', [1.0, 1e-9])
def test_each_group_is_predicted_by_a_fit_to_the_others(least):
    rng = np.random.default_rng(4)
    groups = [QRFactors(rng.normal(size=(N, 20, B + 1)), np.full(N, 20)) for _ in range(K)]
    std = np.append(rng.uniform(0.5, 2.0, B - 1), least)
    prior = np.column_stack([np.eye(B), rng.normal(size=B)]) / std[:, None]
    folds = Folds(groups)
    left = folds.residual_squares(folds.fits(prior[:, :-1].T @ prior, SIGMA))
    for k, group in enumerate(groups):
        rows = np.concatenate([other.factors / SIGMA[:, None, None]
                               for i, other in enumerate(groups) if i != k], axis=1)
        stacked = np.vstack([rows.reshape(-1, B + 1), prior])
        theta = np.linalg.lstsq(stacked[:, :B], stacked[:, B], rcond=None)[0]
        np.testing.assert_allclose(left[k], group.residual_squares(theta), rtol=1e-6)


def test_each_fold_has_the_weights_and_the_prior_that_its_own_rows_give():
    """So that nothing of the group is known before."""
    arm, rng = load_arm('two_axis'), np.random.default_rng(1)
    columns = base_parameters(arm).columns
    W = random_regressor(arm)[:, columns].reshape(-1, arm.n, len(columns))
    tau = W @ arm_prior(arm).theta
    # The torque, and its noise, of the last group are ten times those of the others.
    size = np.where(np.arange(len(W)) < 0.75 * len(W), 1.0, 10.0)[:, None]
    tau = size * (tau + np.array([0.1, 0.5]) * rng.normal(size=tau.shape))
    rows = np.concatenate([W, tau[:, :, None]], axis=2)
    groups = [QRFactors(part.transpose(1, 0, 2), np.full(arm.n, len(part)))
              for part in np.array_split(rows, 4)]
    folds, prior = Folds(groups), arm_prior(arm)
    known = folds.prior_products(prior)
    sigma = folds.sigma(known)
    theta = folds.fits(known, sigma)
    for k in range(4):
        alone = solve(stack([part for i, part in enumerate(groups) if i != k]), prior)
        np.testing.assert_allclose(sigma[k], alone.sigma, rtol=1e-4)
        np.testing.assert_allclose(
            theta[k], alone.theta, rtol=1e-3, atol=1e-3 * np.abs(alone.theta).max())
    assert (sigma[3] < 0.5 * sigma[0]).all()


def test_rows_of_an_effort_that_is_zero_leave_nothing_beside_any_prior():
    groups = [QRFactors(np.array([[[1.0, 1.0, 0.0]]]), np.array([1]))] * 3
    prior = np.column_stack([np.eye(2), [1.0, 2.0]])
    folds = Folds(groups)
    left = folds.residual_squares(folds.fits(prior[:, :-1].T @ prior, np.array([1e-12])))
    np.testing.assert_allclose(left, 0.0, atol=1e-12)


def test_growth_is_that_of_the_root_mean_square_in_each_group():
    before = np.array([1.0, 100.0, 1e-4])
    assert log_error_ratio(1.21 * before, before) == pytest.approx((np.log(1.1), 0.0))
    mean, standard_error = log_error_ratio(np.array([4.0, 400.0, 1e-4]), before)
    assert mean == pytest.approx(np.log(2) * 2 / 3)
    assert standard_error == pytest.approx(np.log(2) / 3)
    assert log_error_ratio(np.zeros(3), np.zeros(3)) == (0.0, 0.0)
