# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Rows of suspects are those of the fit, of one recording and of several side by side."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_recordings import recording, Waves

from dynid_ros.arm import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import condition_recording
from dynid_ros.estimation.suspects.arm_suspects import shifted
from dynid_ros.estimation.suspects.best_size import refined, with_error_bars
from dynid_ros.estimation.suspects.fitted_rows import suspect_of_fit, with_recordings
from dynid_ros.estimation.suspects.likelihood import Likelihood
from dynid_ros.estimation.suspects.variable_projection import UnitRows


@pytest.fixture(scope='module')
def fitted():
    arm = load_arm('ur10').with_friction(('viscous', 'coulomb', 'offset', 'presliding'))
    arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=5.0, delay=0.0))
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    noise = np.random.default_rng(0).normal(size=(1500, arm.n))
    log = recording(arm, Waves.random(arm, seed=1), theta, noise)
    settings = choose_conditioning(arm.memoryless, [log])
    return arm, theta, KeptRows(arm, condition_recording(arm, log, settings), settings)


def test_the_torque_of_parameters_is_that_of_the_rows_of_the_fit(fitted):
    arm, theta, kept = fitted
    base = suspect_of_fit(arm, kept)
    W, tau = (np.concatenate([getattr(block, name) for block in kept.blocks(arm)])
              for name in ('W', 'tau'))
    own = base.samples.moving
    # The columns of the suspect serve for any direction of gravity.
    ours = base.rows.regressor()
    found = np.linalg.lstsq(ours[own], (W @ theta)[own], rcond=None)[0]
    np.testing.assert_allclose((ours @ found)[own], (W @ theta)[own], atol=1e-6)
    np.testing.assert_allclose(base.samples.tau[own], tau[own], rtol=1e-9, atol=1e-9)


def test_what_may_change_stands_behind_the_parameters_of_both(fitted):
    arm, _, kept = fitted
    base = suspect_of_fit(arm, kept)
    changed = arm.layout.inertial(arm.tool_link).start + np.arange(10)
    both = with_recordings(base, [base], changed)
    k, c = len(base.samples.t), len(base.rows.columns)
    W, alone = both.rows.regressor(), base.rows.regressor()
    np.testing.assert_allclose(W[:k, :, :c], W[k:, :, :c], atol=1e-12)
    assert not W[:k, :, c:].any()
    np.testing.assert_array_equal(both.rows.presence, np.repeat([0.0, 1.0], k))
    assert set(both.groups[:k]).isdisjoint(both.groups[k:])
    # A load is a change of the last link, whose columns are sums of those of the base.
    mass = np.linalg.lstsq(alone[base.samples.moving], W[k:, :, c][base.samples.moving],
                           rcond=None)
    assert mass[1].size == 0 or mass[1] < 1e-9
    np.testing.assert_allclose(alone[base.samples.moving] @ mass[0],
                               W[k:, :, c][base.samples.moving], atol=1e-6)


def test_error_bars_are_those_of_estimates_without_each_group(fitted):
    arm, _, kept = fitted
    base = suspect_of_fit(arm, kept)
    likelihood = Likelihood(base)
    best = refined(likelihood, shifted(base, [1, 2], np.zeros(2), 0.1))
    every = with_error_bars(likelihood, best)
    line = UnitRows(likelihood, best)
    A, own = np.hstack([line.W, line.derivative(best.size)]), np.repeat(best.groups, arm.n)
    prior = np.zeros((A.shape[1],) * 2)
    c = len(line.theta)
    prior[:c, :c], prior[c:, c:] = line.prior_information, np.diag(best.size.std**-2)
    pull = -prior @ np.append(line.theta, best.size.x)

    def without(group):
        used = own != group
        return np.linalg.solve(A[used].T @ A[used] + prior, A[used].T @ line.residual[used] + pull)

    groups = np.unique(own)
    changes = np.array([without(k) - without(None) for k in groups])[:, c:]
    expected = (len(groups) - 1) / len(groups) * changes.T @ changes
    found = (every.covariance - every.from_prior)[c:, c:]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
