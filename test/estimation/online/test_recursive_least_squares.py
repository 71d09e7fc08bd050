# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The recursive estimator against least squares in one go, and its promises."""

from dataclasses import replace

from estimation.online.recursion_rig import update
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.dynamics.arm_prior import ArmPrior, known_prior
from dynid_ros.estimation.online.innovation_statistics import InnovationStatistics, MEMORY_ROWS
from dynid_ros.estimation.online.recursive_least_squares import RecursiveLeastSquares

MEMORY = MEMORY_ROWS
JOINTS, PARAMETERS = 3, 8


def make_rows(rng, samples, theta, noise=0.1, correlation=0.0):
    """Rows of three joints, of which the later ones see fewer parameters."""
    W = rng.normal(size=(samples, JOINTS, PARAMETERS))
    W[:, 1, :2] = W[:, 2, :5] = 0.0
    e = rng.normal(size=(samples, JOINTS))
    for k in range(1, samples):
        e[k] = correlation * e[k - 1] + np.sqrt(1 - correlation**2) * e[k]
    return W, W @ theta + noise * np.arange(1, JOINTS + 1) * e


def fed(estimator, W, tau, step=7):
    for k in range(0, len(W), step):
        update(estimator, W[k:k + step], tau[k:k + step])
    return estimator


#: Parameters of one with a standard deviation of five.
PRIOR = ArmPrior(np.ones(PARAMETERS), np.full(PARAMETERS, 5.0), np.eye(PARAMETERS),
                 np.zeros(PARAMETERS, dtype=bool), PARAMETERS // JOINTS,
                 np.full(JOINTS, np.inf))


def make(prior=PRIOR, memory=np.inf):
    made = RecursiveLeastSquares(JOINTS, PARAMETERS, np.ones(PARAMETERS), prior)
    made.memory = memory
    return made


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    theta = rng.normal(size=PARAMETERS)
    return (theta, *make_rows(rng, 600, theta))


def test_the_last_estimate_is_that_of_weighted_least_squares(data):
    _, W, tau = data
    estimator = fed(make(), W, tau)
    estimate, sigma = estimator.estimate(), estimator.sigma
    rows = np.concatenate([(W / sigma[:, None]).reshape(-1, PARAMETERS), np.eye(PARAMETERS) / 5])
    torque = np.append(tau / sigma, np.full(PARAMETERS, 1 / 5))
    truth = np.linalg.lstsq(rows, torque, rcond=None)[0]
    # Orthogonal rotations of a regressor with a condition number of about one.
    np.testing.assert_allclose(estimate.theta, truth, rtol=1e-10)
    np.testing.assert_allclose(
        estimate.std_white, np.sqrt(np.diag(np.linalg.inv(rows.T @ rows))), rtol=1e-9)
    assert estimate.condition_number == pytest.approx(
        np.linalg.cond(W.reshape(-1, PARAMETERS)), rel=1e-9)
    # The information is that of the rows, without the prior.
    alone, R = rows[:-PARAMETERS], estimate.root_information
    np.testing.assert_allclose(R.T @ R, alone.T @ alone, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(
        R.T @ estimate.root_torque, alone.T @ torque[:-PARAMETERS], rtol=1e-9, atol=1e-6)
    assert estimate.from_data.all() and (estimate.data_share > 0.999).all()


def test_noise_of_each_joint_is_learned(data):
    _, W, tau = data
    # Innovations of the last MEMORY rows: one standard deviation is 1 / sqrt(2 MEMORY).
    np.testing.assert_allclose(
        fed(make(), W, tau).estimate().sigma, [0.1, 0.2, 0.3], rtol=4 / np.sqrt(2 * MEMORY))


def test_single_wild_torques_do_not_spoil_the_noise():
    e = np.random.default_rng(2).normal(size=(2000, 1))
    e[10::100] = 500.0
    innovations = InnovationStatistics(1)
    innovations.take(
        e, np.zeros_like(e), np.ones_like(e), np.ones_like(e, dtype=bool), np.ones(1))
    # One in a hundred counts as 3 sigma, which makes 4 %; the rest is the spread of the sample.
    assert np.sqrt(innovations.variance[0]) == pytest.approx(1.04, abs=4 / np.sqrt(2 * MEMORY))


def test_noise_that_grows_is_followed(data):
    theta, W, tau = data
    estimator = fed(make(), W, tau)
    fed(estimator, *make_rows(np.random.default_rng(6), 1500, theta, noise=1.0))
    np.testing.assert_allclose(estimator.estimate().sigma, [1.0, 2.0, 3.0], rtol=0.2)


def test_stated_intervals_cover_the_truth_under_coloured_noise():
    rng = np.random.default_rng(11)
    theta = rng.normal(size=PARAMETERS)
    inside = []
    for _ in range(60):
        # Slow columns, as those of a moving arm are, are hit hardest by slow noise.
        W, tau = make_rows(rng, 800, theta, correlation=0.8)
        slow = np.sin(np.arange(800)[:, None, None] * rng.uniform(0.005, 0.05, (1, 1, 8))
                      + rng.uniform(0, 6, (1, JOINTS, 8)))
        tau += (slow - W) @ theta
        estimate = fed(make(), slow, tau, step=40).estimate()
        inside.append(np.abs(estimate.theta - theta) <= 1.96 * estimate.std)
    # 480 intervals of which those of one run are not independent: the share of 60 runs has a
    # standard deviation of 1.2 %, and lies within three of them. White ones cover some 50 %.
    assert 0.914 <= np.mean(inside) <= 0.986


def test_a_changed_parameter_is_found_again_with_forgetting(data):
    theta, W, tau = data
    changed = theta + np.eye(PARAMETERS)[6]
    rest = make_rows(np.random.default_rng(7), 600, changed)
    forgetful, loyal = (
        fed(fed(make(memory=memory), W, tau), *rest) for memory in (100.0, np.inf))
    assert np.abs(forgetful.theta - changed).max() < 0.1
    assert np.abs(loyal.theta - changed).max() > 0.3


def test_poor_excitation_with_forgetting_never_grows_the_covariance(data):
    _, W, tau = data
    estimator = fed(make(memory=50.0), W, tau)

    def std():
        """For noise of one, whatever its estimate is."""
        R = estimator.factors[:, :, :-1]
        information = np.einsum('irc,ird->cd', R, R) + np.eye(PARAMETERS) / 25
        return np.sqrt(np.diag(np.linalg.inv(information)))

    before = std()
    same = np.repeat(W[:1], 10, axis=0), np.repeat(tau[:1], 10, axis=0)
    for _ in range(600):
        update(estimator, *same)
    assert (std() <= before * (1 + 1e-9)).all()


def test_before_any_row_the_estimate_is_that_of_the_prior():
    estimate = make().estimate()
    np.testing.assert_allclose(estimate.theta, 1.0)
    for std in (estimate.std, estimate.std_white):
        np.testing.assert_allclose(std, 5.0)
    assert not estimate.data_share.any() and not estimate.determined.any()


def test_of_what_no_row_speaks_the_estimate_stays_that_of_the_prior(data):
    theta, W, tau = data
    W[:, :, 0] = 0.0
    tau = W @ theta
    estimate = fed(make(), W, tau).estimate()
    assert estimate.theta[0] == pytest.approx(1.0)
    assert estimate.std[0] == pytest.approx(5.0)
    assert not estimate.determined[0] and not estimate.from_data[0]
    assert (estimate.std > 0).all() and (estimate.std[1:] < 0.01).all()
    assert estimate.determined[1:].all() and estimate.from_data[1:].all()
    assert np.isinf(estimate.condition_number)
    # Rows without noise outweigh the prior.
    np.testing.assert_allclose(estimate.theta[1:], theta[1:], rtol=1e-6)


def test_a_prior_too_narrow_for_the_torque_of_the_rows_is_widened(data):
    theta, W, _ = data
    large = 1e6 * theta
    narrow = replace(PRIOR, torque=np.ones(JOINTS))
    estimate = fed(make(narrow), W, W @ large).estimate()
    # Rows without noise leave what rounding makes of parameters of a million.
    rounding = 1e-12 * np.abs(large)
    assert (np.abs(estimate.theta - large) < 5 * estimate.std + rounding).all()
    np.testing.assert_allclose(estimate.theta, large, rtol=1e-3)


def test_what_a_model_knows_stands_until_rows_say_otherwise(data):
    theta, W, tau = data
    known = known_prior(np.column_stack([np.eye(PARAMETERS), np.ones(PARAMETERS)]) / 0.5,
                        np.full(JOINTS, 0.1))
    estimate = make(known).estimate()
    np.testing.assert_allclose(estimate.theta, 1.0)
    np.testing.assert_allclose(estimate.std, 0.5)
    late = fed(make(known), W, tau).estimate()
    assert np.abs(late.theta - theta).max() < 5 * late.std.max()


def test_a_model_may_know_one_parameter_far_better_than_another():
    rng = np.random.default_rng(1)
    factor = np.geomspace(1e9, 1e-9, PARAMETERS)[:, None] * np.triu(
        1.0 + rng.random((PARAMETERS, PARAMETERS)))
    rows = np.column_stack([factor, factor @ np.ones(PARAMETERS)])
    found = known_prior(rows, np.ones(JOINTS)).rows()
    np.testing.assert_allclose(found.T @ found, rows.T @ rows, rtol=1e-12)


def test_a_prior_is_not_forgotten(data):
    _, W, tau = data
    W[:, :, 0] = 0.0
    estimator = make(memory=20.0)
    fed(estimator, W, tau)
    assert estimator.estimate().std[0] == pytest.approx(5.0)


def test_a_large_first_innovation_is_no_outlier(data):
    theta, W, tau = data
    estimator = make()
    _, wild, doubtful = estimator.predict(W[:1], 100 * tau[:1], np.ones((1, JOINTS), dtype=bool))
    assert not wild.any() and not doubtful.any()
    # Nor is one of a parameter that rows speak of for the first time.
    rows = W.copy()
    rows[:, :, 7] = 0.0
    fed(estimator, rows, rows @ theta + 0.1)
    late = np.zeros((1, JOINTS, PARAMETERS))
    late[:, :, 7] = 1.0
    _, wild, doubtful = estimator.predict(
        late, np.full((1, JOINTS), 8.0), np.ones((1, JOINTS), dtype=bool))
    assert not wild.any() and not doubtful.any()


def test_frozen_it_only_validates(data):
    _, W, tau = data
    estimator = fed(make(), W, tau)
    before = estimator.theta.copy()
    estimator.freeze()
    fed(estimator, W, tau + 1.0)
    np.testing.assert_array_equal(estimator.theta, before)
    errors = tau + 1.0 - W @ before
    np.testing.assert_allclose(
        estimator.estimate().metrics.rmse, np.sqrt((errors**2).mean(axis=0)), rtol=1e-9)


def test_saved_and_restored_it_goes_on_to_the_last_bit(data, tmp_path):
    _, W, tau = data
    whole = fed(make(memory=200.0), W, tau)
    np.savez(tmp_path / 'state.npz', **fed(make(memory=200.0), W[:301], tau[:301]).state())
    second = make(memory=200.0)
    with np.load(tmp_path / 'state.npz') as state:
        second.restore(dict(state))
    fed(second, W[301:], tau[301:])
    np.testing.assert_array_equal(second.theta, whole.theta)
    np.testing.assert_array_equal(second.estimate().covariance, whole.estimate().covariance)


@given(
    seed=st.integers(0, 10**6), memory=st.sampled_from([2.0, 30.0, 1e3, np.inf]),
    dead=st.lists(st.integers(0, PARAMETERS - 1), max_size=4),
    scale=st.sampled_from([1e-6, 1.0, 1e6]), samples=st.integers(1, 80),
)
@settings(max_examples=60)
def test_whatever_rows_come_the_covariance_stays_symmetric_and_positive(
    seed, memory, dead, scale, samples
):
    rng = np.random.default_rng(seed)
    W, tau = make_rows(rng, samples, rng.normal(size=PARAMETERS))
    W[:, :, dead] = 0.0
    if seed % 2:
        W[samples // 2:] = W[samples // 2]
    moving = rng.random(tau.shape) < 0.8
    estimator = make(memory=memory)
    for k in range(0, samples, 5):
        update(estimator, scale * W[k:k + 5], tau[k:k + 5], moving[k:k + 5])
    estimate = estimator.estimate()
    C = estimate.covariance
    assert np.isfinite(C).all() and np.isfinite(estimate.theta).all()
    np.testing.assert_array_equal(C, C.T)
    assert np.linalg.eigvalsh(C)[0] >= -1e-9 * max(np.abs(C).max(), 1e-300)
    assert np.isfinite(estimate.std).all() and (estimate.std > 0).all()
    assert (estimate.data_share >= 0).all() and (estimate.data_share <= 1).all()
