"""Fits to products of rows agree with those to the rows themselves."""

import numpy as np
import pytest

from dynid_ros.estimation.diagnosis.trial_rows import FOLDS, REWEIGHTINGS, SILENT, TrialRows

SAMPLES, COLUMNS, JOINTS = 200, 8, 3
FOLD = np.arange(SAMPLES) * 9 // SAMPLES % FOLDS


@pytest.fixture
def rows():
    """Rows of three joints with noise of different sizes, two with a column of their own."""
    rng = np.random.default_rng(5)
    W, theta = rng.normal(size=(JOINTS, SAMPLES, COLUMNS)), rng.normal(size=COLUMNS)
    W[1:, :, 5], W[:2, :, 7] = 0, 0
    noise = np.array([0.01, 0.1, 1.0])
    return W, W @ theta + noise[:, None] * rng.normal(size=(JOINTS, SAMPLES))


def products_of(W, tau):
    every = np.concatenate([W, np.broadcast_to(tau.T, (JOINTS, SAMPLES, JOINTS))], axis=2)
    parts = [every[:, f == FOLD] for f in range(FOLDS)]
    return TrialRows(
        np.array([part.transpose(0, 2, 1) @ part for part in parts]),
        np.array([[part.shape[1]] * JOINTS for part in parts], dtype=float),
        np.zeros((JOINTS, COLUMNS)), np.arange(COLUMNS))


def weighted(W, tau, joints):
    """Fit to the rows themselves, with the variances of the joints."""
    variance = (tau**2).mean(axis=1)
    for _ in range(REWEIGHTINGS):
        root = 1 / np.sqrt(variance[joints])[:, None]
        A, b = root[..., None] * W[joints], root * tau[joints]
        theta = np.linalg.lstsq(A.reshape(-1, COLUMNS), b.ravel(), rcond=None)[0]
        last, variance = A, ((tau - W @ theta)**2).mean(axis=1)
    return theta, np.einsum('ika,ikb->ab', last, last)


def test_each_fold_is_predicted_from_the_others(rows):
    W, tau = rows
    joints, mixing = [0, 2], np.random.default_rng(2).normal(size=(JOINTS, JOINTS))
    mixed, left = (tau.T @ mixing).T, np.zeros(JOINTS)
    for f in range(FOLDS):
        theta, _ = weighted(W[:, f != FOLD], mixed[:, f != FOLD], joints)
        left += ((mixed - W @ theta)[:, f == FOLD]**2).sum(axis=1)
    score, power = products_of(W, tau).score(mixing, np.array(joints)), (mixed**2).sum(axis=1)
    np.testing.assert_allclose(score.left, np.sqrt(left / power), rtol=1e-6)
    assert score.error_percent == pytest.approx(
        100 * np.sqrt(left[joints].sum() / power[joints].sum()))


def test_a_fit_has_the_parameters_and_the_information_of_the_weighted_rows(rows):
    theta, root = products_of(*rows).fit(np.eye(JOINTS), np.arange(JOINTS))
    expected, information = weighted(*rows, np.arange(JOINTS))
    np.testing.assert_allclose(theta, expected, rtol=1e-6)
    np.testing.assert_allclose(root.T @ root, information, rtol=1e-6, atol=1e-6)


def test_a_column_without_a_row_is_zero_and_tells_nothing(rows):
    W, tau = rows
    W = W.copy()
    W[:, :, 3] = 0
    theta, root = products_of(W, tau).fit(np.eye(JOINTS), np.arange(JOINTS))
    assert theta[3] == 0 and not root[:, 3].any() and np.isfinite(theta).all()


def test_a_joint_without_torque_does_not_take_all_weight(rows):
    W, tau = rows
    silent = tau * np.array([1.0, 0.0, 1.0])[:, None]
    theta, _ = products_of(W, silent).fit(np.eye(JOINTS), np.array([0, 2]))
    expected, _ = weighted(W, silent, [0, 2])
    np.testing.assert_allclose(theta, expected, rtol=1e-6)
    score = products_of(W, silent).score(np.eye(JOINTS), np.arange(JOINTS))
    assert np.isfinite(score.left).all() and SILENT < 1
