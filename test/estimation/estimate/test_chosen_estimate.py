# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Error bars of estimates: of a prior that the data chose, and of the data alone."""

from functools import cache

import numpy as np
import pytest
from scipy.signal import lfilter

from dynid_ros.arm import load_arm
from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters, random_regressor
from dynid_ros.estimation.blocks.qr_factors import QRFactors, stack
from dynid_ros.estimation.estimate.chosen_estimate import chosen_estimate, free_estimate
from dynid_ros.estimation.estimate.covariance import group_scatter
from dynid_ros.estimation.estimate.weights import solve

GROUPS, STRENGTH = 10, 0.01


@cache
def arm():
    return load_arm('two_axis').with_friction((*PLAIN_TERMS, 'stribeck'))


def names():
    return list(base_parameters(arm()).names)


def rows(hidden=(), seed=0, **other):
    """
    Rows (N, n, b + 1) of random states with noise.

    Some parameters do not show in them, and others differ from the prior.
    """
    W = random_regressor(arm())[:, base_parameters(arm()).columns]
    W = W.reshape(-1, arm().n, W.shape[1]).copy()
    W[:, :, [names().index(name) for name in hidden]] = 0.0
    theta = arm_prior(arm()).theta
    for name, value in other.items():
        theta[names().index(name)] = value
    tau = W @ theta
    noise = lfilter([1], [1, -0.9], np.random.default_rng(seed).normal(size=tau.shape), axis=0)
    tau += 0.05 * tau.std(axis=0) * noise
    return np.concatenate([W, tau[:, :, None]], axis=2)


def estimate(rows, strength=STRENGTH, times=1, choose=False):
    """Estimate from rows that count several times each, free or as chosen."""
    parts = [QRFactors(np.repeat(part, times, axis=0).transpose(1, 0, 2),
                       np.full(arm().n, times * len(part))) for part in np.array_split(
                           rows, GROUPS)]
    prior = arm_prior(arm()).with_friction(arm(), {'stribeck': strength})
    solution = solve(stack(parts), prior)
    scatter = group_scatter(parts, solution)
    free = free_estimate(prior, solution, scatter)
    return chosen_estimate(arm(), prior, free, parts) if choose else free


def test_rows_that_count_several_times_give_the_error_bars_of_one():
    """Their weight is larger, and the strength that cross-validation finds beside it smaller."""
    once = estimate(rows(['Fs1']))
    often = estimate(rows(['Fs1']), STRENGTH / 3, times=9)
    assert once.colour > 1.5
    assert often.colour == pytest.approx(9 * once.colour, rel=0.05)
    np.testing.assert_allclose(
        np.sqrt(np.diag(often.covariance)), np.sqrt(np.diag(once.covariance)), rtol=0.03)
    np.testing.assert_allclose(often.excited_share, once.excited_share, atol=0.02)


def test_what_no_row_shows_is_open_by_the_data_alone_however_narrow_the_prior():
    found = estimate(rows(['Fv1']))
    hidden, weak = names().index('Fv1'), names().index('Fs2')
    data, own = (np.sqrt(np.diag(each)) for each in (found.data_covariance, found.covariance))
    assert data[hidden] > 30 * own[hidden]
    # Of the rest, the data say as much as the estimate; a weak term needs no motion.
    shown = np.setdiff1d(np.arange(len(own)), [hidden])
    assert found.excited_share[hidden] < 0.01
    assert (data[shown] < 1.5 * own[shown]).all()
    assert data[weak] == pytest.approx(own[weak], rel=0.5)


@pytest.mark.parametrize('seed', range(8))
def test_a_true_model_has_no_model_errors(seed):
    assert estimate(rows(seed=seed), choose=True).dispersion < 1.5


def test_model_errors_widen_the_error_bars_until_the_estimate_may_be_possible():
    """The mean of the squared distance from possible parameters is half their number."""
    found = estimate(rows(['Fv1'], Fv2=-20.0), choose=True)
    possible = base_parameters(arm()).grouping @ found.possible_parameters(arm()).values
    off = (found.free - possible) / found.std
    correlation = found.covariance / np.outer(found.std, found.std)
    assert off @ np.linalg.solve(correlation, off) == pytest.approx(len(off) / 2, rel=0.05)
    # Error bars of the prior hold, whatever the data are.
    wider = found.std / np.sqrt(np.diag(found.covariance_within))
    assert wider[names().index('Fv2')] == pytest.approx(np.sqrt(found.dispersion), rel=0.1)
    assert wider[names().index('Fv1')] == pytest.approx(1.0, rel=0.01)
    assert found.dispersion > 10
