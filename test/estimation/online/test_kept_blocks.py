"""Blocks of the rows that a long session keeps, each predicted by a fit to all other rows."""

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters, random_regressor
from dynid_ros.estimation.friction.block_errors import block_errors
from dynid_ros.estimation.model.possible_estimate import possible_estimate
from dynid_ros.estimation.regression.qr_factors import QRFactors
from dynid_ros.estimation.regression.weighted_least_squares import solve

KEPT, FOLDS = 40, 4


def test_blocks_of_the_last_rows_are_predicted_by_all_others():
    arm, rng = load_arm('two_axis'), np.random.default_rng(1)
    columns = base_parameters(arm).columns
    W = random_regressor(arm)[:, columns].reshape(-1, arm.n, len(columns))
    tau = W @ arm_prior(arm).theta
    rows = np.concatenate([W, (tau + 0.1 * rng.normal(size=tau.shape))[:, :, None]], axis=2)

    def factors(part):
        return QRFactors(part.transpose(1, 0, 2), np.full(arm.n, len(part)))

    solution = solve(factors(rows), arm_prior(arm))
    root, torque = solution.root_information, solution.root_torque
    found = possible_estimate(arm, arm_prior(arm), root, torque, solution.white_covariance,
                              np.sqrt(np.diag(solution.white_covariance)))
    data = np.column_stack([root, torque])
    errors = block_errors(
        [factors(part) for part in np.split(rows[-KEPT:], FOLDS)], solution.sigma,
        solution.prior, solution.white_covariance, found, data.T @ data)
    size = KEPT // FOLDS
    for k in range(FOLDS):
        out = np.arange(len(rows) - KEPT + k * size, len(rows) - KEPT + (k + 1) * size)
        others = np.delete(rows, out, axis=0) / solution.sigma[:, None]
        stacked = np.concatenate([others.reshape(-1, rows.shape[2]), solution.prior])
        theta = np.linalg.lstsq(stacked[:, :-1], stacked[:, -1], rcond=None)[0]
        left = rows[out, :, -1] - rows[out, :, :-1] @ theta
        assert errors.free[k] == pytest.approx((left**2).sum(axis=0), rel=1e-6)
    # The links of the truth are possible.
    assert found.colour == pytest.approx(1.0) and not errors.clearly_worse
