"""Reduced folds predict as fits to all other rows do."""

import numpy as np
import pytest

from dynid_ros.cross_validation.folds import Folds
from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.regression.qr_factors import QRFactors

B, N, K = 9, 2, 5
SHRUNK = np.array([2, 5, 8])
UNIT = np.array([0.5, 2.0, 0.1])
SIGMA = np.array([0.3, 2.0])


def blocks_and_prior():
    rng = np.random.default_rng(4)
    blocks = [QRFactors(rng.normal(size=(N, 20, B + 1)), np.full(N, 20)) for _ in range(K)]
    mixing = np.eye(B)
    prior = ArmPrior(rng.normal(size=B), rng.uniform(0.5, 2.0, B), mixing, np.zeros(N, bool), B,
                     np.ones(N), np.zeros(B, bool))
    return blocks, prior


@pytest.mark.parametrize('strength', [(0.0, 0.0, 0.0), (1.0, 0.0, 0.3), (3.0, 0.03, 1.0)])
def test_each_block_is_predicted_by_a_fit_to_the_others(strength):
    strength = np.array(strength)
    blocks, prior = blocks_and_prior()
    left = Folds(blocks, SIGMA, prior, SHRUNK, UNIT).left(strength)
    std = prior.std.copy()
    std[SHRUNK] = np.maximum(strength * UNIT, 1e-9)
    mean = prior.values.copy()
    mean[SHRUNK] = 0.0
    for k, block in enumerate(blocks):
        rows = np.concatenate([other.factors / SIGMA[:, None, None]
                               for i, other in enumerate(blocks) if i != k], axis=1)
        stacked = np.vstack([rows.reshape(-1, B + 1), np.column_stack([np.eye(B), mean]) / std[
            :, None]])
        theta = np.linalg.lstsq(stacked[:, :B], stacked[:, B], rcond=None)[0]
        np.testing.assert_allclose(
            left[k], block.residual_squares(theta) / SIGMA**2, rtol=1e-6)
