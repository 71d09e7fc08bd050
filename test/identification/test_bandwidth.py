"""The torque error below other cut-offs, against noise of known frequency and size."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_recordings import recording, true_torque, Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.load import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import InputError
from dynid_ros.identification.bandwidth import error_at
from dynid_ros.identification.identify import identify
from dynid_ros.identification.validation import validate

RATE, SAMPLES, HUM_HZ, HUM = 100.0, 6000, 7.0, 0.05


@pytest.fixture(scope='module')
def fitted():
    """Return a model of exact torque, and another motion with a hum of 7 Hz in each joint."""
    arm = replace(load_arm('two_axis'), drive=Drive.joint_torque(2)).with_friction(())
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    t, still = np.arange(SAMPLES) / RATE, np.zeros((SAMPLES, 2))
    first, second = (Waves.random(arm, seed=seed) for seed in (1, 2))
    model = identify(arm, [recording(arm, first, theta, still)], friction=(), holdout=0.0)
    torque = true_torque(arm, second, t, theta)
    hum = HUM * np.sin(2 * np.pi * HUM_HZ * t)[:, None] * torque.std(axis=0)
    expected = 100 * np.sqrt((hum**2).sum() / (torque**2).sum())
    return model, recording(arm, second, theta, hum), expected


def test_a_hum_counts_below_the_cutoffs_that_let_it_pass_and_no_others(fitted):
    model, log, expected = fitted
    assert error_at(model, log, 3.0).relative_error_percent < 0.02 * expected
    for cutoff in (15.0, 30.0):
        found = error_at(model, log, cutoff).relative_error_percent
        assert found == pytest.approx(expected, rel=0.02)


def test_at_the_cutoff_of_the_model_it_is_the_error_of_its_validation(fitted):
    model, log, _ = fitted
    metrics, _ = validate(model, log)
    found = error_at(model, log, model.treatment.cutoff_hz)
    assert found.relative_error_percent == pytest.approx(metrics.relative_error_percent, rel=1e-9)
    assert found.held_out


def test_a_cutoff_beyond_the_rate_is_refused_with_the_highest_one(fitted):
    model, log, _ = fitted
    with pytest.raises(InputError, match=r'its rate of 100 Hz allows a cut-off of 40 Hz at most'):
        error_at(model, log, 41.0)
