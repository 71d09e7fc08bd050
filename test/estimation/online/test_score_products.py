"""Standard deviations of the recursion against Newey and West's of all rows at once."""

from estimation.online.recursion_rig import update
import numpy as np
import pytest

from dynid_ros.dynamics.arm_prior import ArmPrior
from dynid_ros.estimation.online.recursive_least_squares import RecursiveLeastSquares
from dynid_ros.estimation.online.score_products import CHUNK, KEPT
from dynid_ros.estimation.regression.covariance import (
    score_covariance,
    small_sample_factor,
    weighted_scores,
    window_factor,
)
from dynid_ros.estimation.regression.rows import RowBlock

JOINTS, PARAMETERS, LAGS = 2, 6, 10
SIGMA = np.array([0.1, 0.3])
PRIOR = ArmPrior(np.arange(PARAMETERS), np.full(PARAMETERS, 3.0), np.eye(PARAMETERS),
                 np.zeros(JOINTS, dtype=bool), PARAMETERS // JOINTS,
                 np.full(JOINTS, np.inf))


def make_rows(seed, samples, segment=0):
    """Slow columns and slow noise, which the joints share in part."""
    rng = np.random.default_rng(seed)
    t = np.arange(samples)[:, None, None]
    W = np.sin(t * rng.uniform(0.01, 0.1, (1, JOINTS, PARAMETERS))
               + rng.uniform(0, 6, (1, JOINTS, PARAMETERS)))
    e = rng.normal(size=(samples, JOINTS))
    e[:, 1] += 0.5 * e[:, 0]
    for k in range(1, samples):
        e[k] = 0.8 * e[k - 1] + 0.6 * e[k]
    moving = np.ones((samples, JOINTS), dtype=bool)
    moving[samples // 3:samples // 3 + 4] = moving[samples // 2:samples // 2 + 50, 0] = False
    tau = W @ np.arange(1.0, PARAMETERS + 1) + SIGMA * e
    return RowBlock(segment, t[:, 0, 0] / LAGS, W[:, 0, :2], W[:, 0, :2],
                    W * moving[:, :, None], tau * moving, moving)


def fed(blocks, step=7, memory=np.inf):
    estimator = RecursiveLeastSquares(JOINTS, PARAMETERS, np.ones(PARAMETERS), PRIOR)
    estimator.memory = memory
    estimator.scores.lags = LAGS
    for block in blocks:
        feed(estimator, block, slice(None), step)
    return estimator


def feed(estimator, block, part, step=7):
    W, tau, moving = block.W[part], block.tau[part], block.moving[part]
    for k in range(0, len(W), step):
        rows = slice(k, k + step)
        update(estimator, W[rows], tau[rows], moving[rows], block.segment)


def of_the_batch(blocks, estimator):
    """
    Covariance by the batch, with the factors of the stream.

    Rows without motion do not count in its small-sample factor, and rows that left do not count
    in its window factor.
    """
    sigma, theta = estimator.sigma, estimator.theta
    information = sum(np.einsum('kib,kic,i->bc', x.W, x.W, sigma**-2) for x in blocks)
    prior = np.linalg.inv(PRIOR.covariance)
    bread = np.linalg.inv(information + prior)
    used = PARAMETERS - np.trace(bread @ prior)
    scores = weighted_scores(blocks, theta, sigma)
    scatter = score_covariance(scores, float(LAGS), used)
    every = sum(len(x.t) for x in blocks)
    moved = sum(int(x.moving.any(axis=1).sum()) for x in blocks)
    scatter *= small_sample_factor(moved, used, LAGS) / small_sample_factor(every, used, LAGS)
    kept = scores if sum(map(len, scores)) <= KEPT + CHUNK else [
        scores[-1][-len(estimator.scores.rows):]]
    scatter *= window_factor(kept, LAGS) / window_factor(scores, LAGS)
    return bread @ (scatter + prior) @ bread


def test_covariance_of_the_rows_kept_is_that_of_the_batch():
    blocks = [make_rows(1, 300), make_rows(2, 250, segment=1), make_rows(3, 400, segment=2)]
    estimator = fed(blocks)
    # The same sum in another order.
    np.testing.assert_allclose(
        estimator.estimate().covariance, of_the_batch(blocks, estimator), rtol=1e-8, atol=1e-15)


def test_rows_that_left_count_as_much():
    blocks = [make_rows(1, 3 * KEPT), make_rows(2, 2 * KEPT + 100, segment=1)]
    estimator = fed(blocks)
    assert len(estimator.scores.rows) <= KEPT + CHUNK
    # A thousand rows tell a parameter to one part in thirty of the noise, at most, and by as much
    # their scores differ from those of the last estimate.
    np.testing.assert_allclose(
        estimator.estimate().std, np.sqrt(np.diag(of_the_batch(blocks, estimator))), rtol=0.03)


def test_weights_that_change_apply_to_rows_that_left():
    blocks = [make_rows(1, 3 * KEPT)]
    estimator = fed(blocks)
    estimator.innovations.noise[0] = [0.09, 0.01]
    update(estimator, *(np.zeros((1, *shape)) for shape in ((JOINTS, PARAMETERS), (JOINTS,))))
    np.testing.assert_allclose(estimator.sigma, [0.3, 0.1], rtol=0.01)
    np.testing.assert_allclose(
        estimator.estimate().std, np.sqrt(np.diag(of_the_batch(blocks, estimator))), rtol=0.03)


@pytest.mark.slow
@pytest.mark.parametrize('cut', [200, KEPT + 3 * CHUNK + 5, 2 * KEPT + 70])
def test_restored_it_goes_on(cut):
    block = make_rows(4, 3 * KEPT)
    whole, first, second = fed([block], step=1), fed([]), fed([])
    feed(first, block, slice(0, cut), 1)
    second.restore(first.state())
    feed(second, block, slice(cut, None), 1)
    # Products of arrays that lie elsewhere in memory may round differently.
    np.testing.assert_allclose(second.estimate().covariance, whole.estimate().covariance,
                               rtol=1e-9, atol=1e-18)


def test_few_rows_have_the_colour_of_the_innovations():
    few = make_rows(5, 4)
    estimator = fed([few], step=1)
    said = estimator.estimate().std
    estimator.scores.lags = 0
    np.testing.assert_array_equal(said, estimator.estimate().std)
    assert len(fed([make_rows(5, 300)], memory=100.0).scores.rows) == 0
