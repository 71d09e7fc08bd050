"""Friction terms are chosen by held-out error inside the training part, and by nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_recordings import coloured, recording, true_torque, Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.load import load_arm
from dynid_ros.cross_validation.friction_choice import CANDIDATES
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.identification.identify import identify

RATE, SECONDS = 100.0, 90.0
SAMPLES = int(RATE * SECONDS)


def arm_with(*terms):
    arm = load_arm('two_axis').with_friction(terms)
    return replace(arm, drive=Drive.joint_torque(2))


def log_of(arm, coefficients, seed=0):
    """Record an arm whose friction has the coefficients, with 1 % of coloured noise."""
    plain = arm.with_friction(())
    theta = dict(zip(base_parameters(plain).names,
                     base_parameters(plain).grouping @ nominal_parameters(plain), strict=True))
    for symbol, values in coefficients.items():
        theta |= {f'{symbol}{j}': value for j, value in enumerate(values, 1)}
    vector = np.array([theta[name] for name in base_parameters(arm).names])
    waves = Waves.random(arm, seed=3)
    clean = true_torque(arm, waves, np.arange(SAMPLES) / RATE, vector)
    noise = coloured(np.random.default_rng(seed), SAMPLES, 0.01 * clean.std(axis=0), 0.9)
    return recording(arm, waves, vector, noise, rate=RATE)


@pytest.mark.parametrize('truth', [
    {'viscous': ('Fv', (0.02, 0.01)), 'offset': ('Fo', (0.01, -0.02))},
    {'viscous': ('Fv', (0.02, 0.01)), 'coulomb': ('Fc', (0.02, 0.03)),
     'offset': ('Fo', (0.01, -0.02))},
    {'viscous': ('Fv', (0.02, 0.01)), 'coulomb_smooth': ('Fcs', (0.06, 0.08)),
     'offset': ('Fo', (0.01, -0.02)), 'stribeck': ('Fs', (0.12, 0.15))},
    {'viscous': ('Fv', (0.02, 0.01)), 'offset': ('Fo', (0.01, -0.02)),
     'viscous_cuberoot': ('Fcr', (0.08, 0.06))},
    # A level that falls with the speed and rises again, as of a grease.
    {'viscous': ('Fv', (0.02, 0.01)), 'offset': ('Fo', (0.01, -0.02)),
     'sign_10': ('Fta', (0.12, 0.1)), 'coulomb_smooth': ('Fcs', (-0.08, 0.1)),
     'sign_100': ('Ftb', (0.1, -0.15)), 'sign_1000': ('Ftc', (0.1, 0.2))},
], ids=lambda truth: ' '.join(truth))
def test_the_true_terms_are_chosen(truth):
    arm = arm_with(*truth)
    result = identify(arm, [log_of(arm, dict(truth.values()))])
    assert set(result.arm.friction) == set(truth)
    # The best candidate is as good as the noise allows: 1 %, low-passed.
    assert min(result.friction_trials.values()) < 1.2


@pytest.mark.slow
def test_a_joint_does_without_a_term_that_it_does_not_have():
    arm = arm_with('viscous', 'coulomb_smooth', 'offset', 'stribeck')
    truth = {'Fv': (0.02, 0.01), 'Fcs': (0.06, 0.08), 'Fo': (0.01, -0.02), 'Fs': (0.12, 0.0)}
    found = [identify(arm, [log_of(arm, truth, seed)]) for seed in range(5)]
    # What a joint has, it keeps; what it lacks harms it in about half of the recordings.
    lacking = [result.arm.lacking for result in found]
    assert all(each in ({}, {'pendulum_joint': ('stribeck',)}) for each in lacking)
    without = [result for result, each in zip(found, lacking, strict=True) if each]
    assert len(without) >= 2
    for result in without:
        assert 'Fs1' in result.parameters and 'Fs2' not in result.parameters
        standard = result.standard_parameters()
        assert dict(zip(standard.names, standard.values, strict=True))['Fs2'] == 0.0
        std = dict(zip(result.parameters, result.std, strict=True))
        off = [(result.parameters[name] - value) / std[name]
               for symbol, values in truth.items() for j, value in enumerate(values, 1)
               if (name := f'{symbol}{j}') in std]
        # Seven normal errors: beyond 4.2 standard deviations once in 5000 times.
        assert np.abs(off).max() < 4.2


def test_every_candidate_is_tried_and_stated():
    arm = arm_with('viscous', 'offset')
    result = identify(arm, [log_of(arm, {'Fv': (0.02, 0.01), 'Fo': (0, 0)})])
    assert set(result.friction_trials) == {' + '.join(terms) for terms in CANDIDATES}
    assert all(np.isfinite(error) for error in result.friction_trials.values())


def test_held_out_samples_have_no_influence_on_choice_and_estimate():
    arm = arm_with('viscous', 'coulomb', 'offset')
    log = log_of(arm, {'Fv': (0.02, 0.01), 'Fc': (0.02, 0.03), 'Fo': (0.01, -0.02)})
    cut = int(0.67 * SAMPLES) + 1
    rng = np.random.default_rng(9)
    u = log.u.copy()
    u[cut:] = 10 * rng.normal(size=u[cut:].shape).cumsum(axis=0)
    spoilt = replace(log, u=u)
    results = [identify(arm, [x], holdout=0.33) for x in (log, spoilt)]
    assert results[0].arm.friction == results[1].arm.friction
    assert results[0].friction_trials == results[1].friction_trials
    # A remark on gravity comes from all samples.
    assert (replace(results[0].treatment, notes=())
            == replace(results[1].treatment, notes=()))
    np.testing.assert_array_equal(results[0].theta, results[1].theta)
    np.testing.assert_array_equal(results[0].covariance, results[1].covariance)
    assert results[0].data_hash == results[1].data_hash
    assert results[0].validation.relative_error_percent < 3
    assert results[1].validation.relative_error_percent > 50


def test_named_terms_are_taken_as_they_are_and_nothing_is_tried():
    arm = arm_with('viscous', 'coulomb', 'offset')
    log = log_of(arm, {'Fv': (0.02, 0.01), 'Fc': (0.02, 0.03), 'Fo': (0.01, -0.02)})
    result = identify(arm, [log], friction=('offset', 'stribeck'))
    assert result.arm.friction == ('offset', 'stribeck')
    assert result.friction_trials == {}
