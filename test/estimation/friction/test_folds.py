"""Blocks are predicted as fits to all other rows do, and compared by their logarithms."""

import numpy as np
import pytest

from dynid_ros.estimation.friction.folds import Folds, growth
from dynid_ros.estimation.regression.qr_factors import QRFactors

B, N, K = 9, 2, 5
SIGMA = np.array([0.3, 2.0])


@pytest.mark.parametrize('least', [1.0, 1e-9])
def test_each_block_is_predicted_by_a_fit_to_the_others(least):
    rng = np.random.default_rng(4)
    blocks = [QRFactors(rng.normal(size=(N, 20, B + 1)), np.full(N, 20)) for _ in range(K)]
    std = np.append(rng.uniform(0.5, 2.0, B - 1), least)
    prior = np.column_stack([np.eye(B), rng.normal(size=B)]) / std[:, None]
    left = Folds(blocks, SIGMA).predicted(prior)
    for k, block in enumerate(blocks):
        rows = np.concatenate([other.factors / SIGMA[:, None, None]
                               for i, other in enumerate(blocks) if i != k], axis=1)
        stacked = np.vstack([rows.reshape(-1, B + 1), prior])
        theta = np.linalg.lstsq(stacked[:, :B], stacked[:, B], rcond=None)[0]
        np.testing.assert_allclose(left[k], block.residual_squares(theta), rtol=1e-6)


def test_rows_beside_the_blocks_take_part_in_each_fit():
    rng = np.random.default_rng(5)
    first, second, third = (
        QRFactors(rng.normal(size=(N, 20, B + 1)), np.full(N, 20)) for _ in range(3))
    rows = [(block.factors / SIGMA[:, None, None]).reshape(-1, B + 1)
            for block in (first, second, third)]
    prior = np.eye(B, B + 1)
    some = Folds([first, second], SIGMA, sum(each.T @ each for each in rows)).predicted(prior)
    every = Folds([first, second, third], SIGMA).predicted(prior)
    np.testing.assert_allclose(some, every[:2], rtol=1e-9)


def test_growth_is_that_of_the_root_mean_square_in_each_block():
    before = np.array([1.0, 100.0, 1e-4])
    assert growth(1.21 * before, before) == pytest.approx((np.log(1.1), 0.0))
    mean, standard_error = growth(np.array([4.0, 400.0, 1e-4]), before)
    assert mean == pytest.approx(np.log(2) * 2 / 3)
    assert standard_error == pytest.approx(np.log(2) / 3)
    assert growth(np.zeros(3), np.zeros(3)) == (0.0, 0.0)
