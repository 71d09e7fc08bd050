# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction is as strong as it predicts groups of the training part, and by nothing else."""

from dataclasses import replace

from estimates import estimated
import numpy as np
import pytest
from synthetic_recordings import coloured, recording, true_torque, Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.friction import PLAIN_TERMS, TERMS
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import Conditioning
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks.kept_rows import KeptRows
from dynid_ros.estimation.blocks.preparation import condition_recordings
from dynid_ros.estimation.estimate.friction_strengths import (
    friction_strength,
    TERM_GROUPS,
)
from dynid_ros.estimation.estimate.weights import fit
from dynid_ros.estimation.identification.identify import identify

pytestmark = pytest.mark.slow
RATE, SECONDS = 100.0, 90.0
USUAL = {'Fv': (0.02, 0.01), 'Fc': (0.02, 0.03), 'Fo': (0.01, -0.02)}


def arm_with(*terms):
    arm = load_arm('two_axis').with_friction(terms)
    return replace(
        arm, drive=Drive.joint_torque(2), conditioning=Conditioning(cutoff_hz=5.0, delay=0.0))


def log_of(coefficients, seed=0, motion=3, seconds=SECONDS, noise=0.01):
    """Record an arm whose friction has the coefficients, with 1 % of coloured noise."""
    arm = arm_with(*(term.name for term in TERMS.values() if term.symbol in coefficients))
    plain = arm.with_friction(())
    theta = dict(zip(base_parameters(plain).names,
                     base_parameters(plain).grouping @ nominal_parameters(plain), strict=True))
    for symbol, values in coefficients.items():
        theta |= {f'{symbol}{j}': value for j, value in enumerate(values, 1)}
    vector = np.array([theta[name] for name in base_parameters(arm).names])
    waves, samples = Waves.random(arm, seed=motion), int(RATE * seconds)
    clean = true_torque(arm, waves, np.arange(samples) / RATE, vector)
    added = coloured(np.random.default_rng(seed), samples, noise * clean.std(axis=0), 0.9)
    return recording(arm, waves, vector, added, rate=RATE)


def error_of(result):
    return result.validation.relative_error_percent


@pytest.mark.parametrize('truth', [
    {'Fv': (0.02, 0.01), 'Fcs': (0.06, 0.08), 'Fo': (0.01, -0.02), 'Fs': (0.12, 0.15)},
    {'Fv': (0.02, 0.01), 'Fo': (0.01, -0.02), 'Fcr': (0.08, 0.06)},
    # A level that falls with the speed and rises again, as of a grease.
    {'Fv': (0.02, 0.01), 'Fo': (0.01, -0.02), 'Fta': (0.12, 0.1), 'Fcs': (-0.08, 0.1),
     'Ftb': (0.1, -0.15), 'Ftc': (0.1, 0.2)},
], ids=lambda truth: ' '.join(truth))
def test_planted_friction_is_predicted_as_well_as_the_noise_allows(truth):
    log = log_of(truth)
    shrunk, plain = (estimated(arm_with(), [log], friction=each) for each in (None, PLAIN_TERMS))
    exact = estimated(arm_with(), [log], friction=tuple(
        term.name for term in TERMS.values() if term.symbol in truth))
    planted = {term.name for term in TERMS.values() if term.symbol in truth} - set(PLAIN_TERMS)
    assert error_of(plain) > 1.5 * error_of(exact)
    assert error_of(shrunk) < 1.1 * error_of(exact)
    assert planted <= set(shrunk.friction_strength)


@pytest.mark.parametrize('seed', range(5))
def test_plain_friction_stays_plain(seed):
    log = log_of(USUAL, seed, motion=10 + seed)
    shrunk, plain = (estimated(arm_with(), [log], friction=each) for each in (None, PLAIN_TERMS))
    assert error_of(shrunk) < 1.01 * error_of(plain)
    if not shrunk.friction_strength:
        assert shrunk.arm.friction == PLAIN_TERMS
        np.testing.assert_array_equal(shrunk.theta, plain.theta)


def test_kinds_are_present_as_a_whole_or_not_at_all():
    result = estimated(arm_with(), [log_of({**USUAL, 'Fs': (0.12, 0.15)})])
    for kind in TERM_GROUPS:
        assert len(set(kind) & set(result.friction_strength)) in (0, len(kind))
    assert set(result.arm.friction) == {*PLAIN_TERMS, *result.friction_strength}
    assert all(strength > 0 for strength in result.friction_strength.values())


def test_held_out_samples_have_no_influence_on_strengths_and_estimate():
    log = log_of({**USUAL, 'Fs': (0.12, 0.15)})
    cut = int(0.67 * len(log.t)) + 1
    rng = np.random.default_rng(9)
    u = log.u.copy()
    u[cut:] = 10 * rng.normal(size=u[cut:].shape).cumsum(axis=0)
    first, second = (estimated(arm_with(), [x], holdout=0.33) for x in (log, replace(log, u=u)))
    assert first.friction_strength
    assert first.friction_strength == second.friction_strength
    np.testing.assert_array_equal(first.theta, second.theta)
    np.testing.assert_array_equal(first.covariance, second.covariance)
    assert error_of(first) < 3 < 50 < error_of(second)


def test_named_terms_are_exactly_these_and_free():
    result = identify(arm_with(), [log_of(USUAL)], friction=('offset', 'stribeck'))
    assert result.arm.friction == ('offset', 'stribeck')
    assert result.friction_strength == {}
    prior = arm_prior(result.arm).scaled_by(result.widening)
    np.testing.assert_array_equal(result.prior.std, prior.std)


def rows_of(logs):
    arm = arm_with()
    settings = choose_conditioning(arm, logs)
    return arm, KeptRows(arm, condition_recordings(arm, logs, settings), settings)


def test_groups_shorter_than_the_low_pass_are_no_evidence():
    short, long = ([log_of({**USUAL, 'Fs': (0.12, 0.15)}, seconds=seconds)]
                   for seconds in (3.5, SECONDS))
    assert friction_strength(*rows_of(short))[0] == {}
    assert 'stribeck' in friction_strength(*rows_of(long))[0]


def test_a_wide_prior_of_friction_is_that_of_the_terms_alone():
    arm, rows = rows_of([log_of({**USUAL, 'Fs': (0.12, 0.15)})])
    own = arm.with_friction((*PLAIN_TERMS, 'stribeck'))
    free = fit(own, rows)
    wide = fit(own, rows, {'stribeck': 1e6})
    tight = fit(own, rows, {'stribeck': 1e-6})
    plain = fit(arm.with_friction(PLAIN_TERMS), rows)
    names = list(base_parameters(own).names)
    gone = [names.index(f'Fs{j}') for j in (1, 2)]
    np.testing.assert_allclose(wide.theta, free.theta, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(np.delete(tight.theta, gone), plain.theta, rtol=1e-3, atol=1e-6)
    assert np.abs(tight.theta[gone]).max() < 1e-6


def test_plain_friction_is_left_to_itself_in_most_recordings():
    chosen = [friction_strength(*rows_of([log_of(USUAL, seed, motion=10 + seed, seconds=40.0)]))[0]
              for seed in range(10)]
    # By chance, further terms predict a little better in half of the recordings and more, and by
    # two standard errors in one of forty; the choice of their strengths makes it more.
    assert sum(map(bool, chosen)) <= 3


def test_a_kind_that_explains_nothing_stays_absent_beside_one_that_does():
    logs = [log_of({**USUAL, 'Fs': (0.12, 0.15)}, seed, motion=20 + seed, seconds=40.0)
            for seed in range(5)]
    chosen = [friction_strength(*rows_of([log]))[0] for log in logs]
    assert all('stribeck' in each for each in chosen)
    # Chance lets each in three times of ten (measured in 20 recordings): of ten, seven and more in
    # one of a hundred draws.
    assert sum(kind in each for each in chosen for kind in ('load', 'presliding')) < 7
