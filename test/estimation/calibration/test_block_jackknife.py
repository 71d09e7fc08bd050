"""The jackknife over blocks of time against fits without each of them."""

import numpy as np
import pytest

from dynid_ros.estimation.blocks.least_squares import LeastSquares
from dynid_ros.estimation.blocks.rows import RowBlock
from dynid_ros.estimation.calibration.block_jackknife import block_jackknife, BLOCKS

SIGMA = np.array([0.5, 2.0])


def rows(W, tau):
    moving = np.ones(tau.shape, dtype=bool)
    return RowBlock(0, np.arange(len(tau)) / 10, 0 * tau, 0 * tau, W, tau, moving)


def whitened(W, tau):
    return (W / SIGMA[:, None]).reshape(-1, W.shape[2]), (tau / SIGMA).ravel()


def jackknife(blocks, W, tau, prior):
    fitted = LeastSquares(whitened(W, tau)[0], prior)
    theta = fitted.solve(whitened(W, tau)[1])
    return theta, np.add(*block_jackknife(
        blocks, tau.size, theta, SIGMA, fitted.half, np.pad(prior, ((0, 0), (0, 1)))))


def solved(W, tau, prior):
    A, b = whitened(W, tau)
    return np.linalg.lstsq(
        np.concatenate([A, prior]), np.append(b, np.zeros(len(prior))), rcond=None)[0]


@pytest.mark.parametrize('pieces', [1, 4])
def test_changes_are_those_of_fits_without_a_block(pieces):
    rng = np.random.default_rng(1)
    W, prior = rng.normal(size=(5 * BLOCKS, 2, 4)) * [1.0, 100.0, 1e-3, 1.0], 3 * np.eye(4)
    tau = W @ [1.0, 2.0, 3.0, 4.0] + rng.normal(size=(len(W), 2))
    theta, ours = jackknife(
        map(rows, np.array_split(W, pieces), np.array_split(tau, pieces)), W, tau, prior)
    changes = []
    for k in range(BLOCKS):
        kept = np.arange(len(W)) // 5 != k
        changes.append(solved(W[kept], tau[kept], prior) - theta)
    # The expectation of the prior is as uncertain as the prior says.
    pulled = np.linalg.inv(whitened(W, tau)[0].T @ whitened(W, tau)[0] + 9 * np.eye(4)) * 3
    expected = (BLOCKS - 1) / BLOCKS * np.transpose(changes) @ changes + pulled @ pulled.T
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize(('seen', 'expected'), [(0, 2.0**2), (5, 5.0**2 * (BLOCKS - 1) / BLOCKS)])
def test_without_blocks_that_show_it_a_parameter_is_that_of_the_prior(seen, expected):
    rng = np.random.default_rng(2)
    W, prior = rng.normal(size=(5 * BLOCKS, 2, 3)), np.diag([1.0, 1.0, 0.5])
    W[seen:, :, 2] = 0.0
    tau = W @ [1.0, 2.0, 5.0] + 1e-3 * rng.normal(size=(len(W), 2))
    assert jackknife([rows(W, tau)], W, tau, prior)[1][2, 2] == pytest.approx(expected, rel=0.1)
