"""The jackknife over blocks of time against fits without each of them."""

import numpy as np
import pytest

from dynid_ros.calibration.block_jackknife import block_jackknife, BLOCKS
from dynid_ros.regression.least_squares import LeastSquares
from dynid_ros.regression.rows import RowBlock

SIGMA = np.array([0.5, 2.0])


def rows(W, tau):
    moving = np.ones(tau.shape, dtype=bool)
    return RowBlock(0, np.arange(len(tau)) / 10, 0 * tau, 0 * tau, W, tau, moving)


def whitened(W, tau):
    return (W / SIGMA[:, None]).reshape(-1, W.shape[2]), (tau / SIGMA).ravel()


def jackknife(blocks, W, tau):
    fitted = LeastSquares(whitened(W, tau)[0])
    theta = fitted.solve(whitened(W, tau)[1])
    return theta, block_jackknife(blocks, tau.size, theta, SIGMA, fitted)


@pytest.mark.parametrize('pieces', [1, 4])
def test_changes_are_those_of_fits_without_a_block(pieces):
    rng = np.random.default_rng(1)
    W = rng.normal(size=(5 * BLOCKS, 2, 4)) * [1.0, 100.0, 1e-3, 1.0]
    tau = W @ [1.0, 2.0, 3.0, 4.0] + rng.normal(size=(len(W), 2))
    theta, ours = jackknife(
        map(rows, np.array_split(W, pieces), np.array_split(tau, pieces)), W, tau)
    changes = []
    for k in range(BLOCKS):
        kept = np.arange(len(W)) // 5 != k
        changes.append(np.linalg.lstsq(*whitened(W[kept], tau[kept]), rcond=None)[0] - theta)
    expected = (BLOCKS - 1) / BLOCKS * np.transpose(changes) @ changes
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_a_direction_that_one_block_alone_determines_stays_finite():
    rng = np.random.default_rng(2)
    W = rng.normal(size=(5 * BLOCKS, 2, 3))
    W[5:, :, 2] = 0.0
    tau = rng.normal(size=(len(W), 2))
    assert np.isfinite(jackknife([rows(W, tau)], W, tau)[1]).all()
