# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The torque error below other cut-offs, against noise of known frequency and size."""

from dataclasses import replace

from estimates import without_suspects
import numpy as np
import pytest
from scipy.signal import butter, fftconvolve, filtfilt, firwin
from synthetic_recordings import recording, true_torque, Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.arm.load import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import InputError
from dynid_ros.estimation.identification import conditioned_data
from dynid_ros.estimation.identification.bandwidth import (
    error_by_bandwidth,
    TABLE_CUTOFFS_HZ,
)
from dynid_ros.estimation.identification.conditioned_data import beginning
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.validation import error_at, validate

RATE, SAMPLES, HUM_HZ, HUM = 100.0, 6000, 7.0, 0.05


@pytest.fixture(autouse=True, scope='module')
def figures_alone():
    with without_suspects():
        yield


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


def by_scipy(model, log, cutoff):
    """Predict torque from positions that SciPy filters, and filter the residual with SciPy."""
    q = filtfilt(*butter(4, 2 * min(3 * cutoff, 0.4 * RATE) / RATE), log.q, axis=0)
    qd = np.gradient(q, 1 / RATE, axis=0)
    tau_hat = model.predict_torque(q, qd, np.gradient(qd, 1 / RATE, axis=0))
    reach = int(1.5 * RATE / cutoff)
    taps = firwin(2 * reach + 1, cutoff, window=('kaiser', 5.0), fs=RATE)[:, None]
    error, torque = (fftconvolve(x, taps, mode='valid', axes=0)
                     for x in (log.u - tau_hat, log.u))
    return 100 * np.linalg.norm(error) / np.linalg.norm(torque)


def test_the_table_is_what_scipy_makes_of_predict_torque(fitted):
    model, log, expected = fitted
    found = error_by_bandwidth((model.arm, model.theta), beginning([log]), model.treatment)
    # 0.4 of the rate is 40 Hz, and the recording is long enough for the lowest.
    assert [each.cutoff_hz for each in found] == [*TABLE_CUTOFFS_HZ, None]
    assert all(each.plain_error_percent is None for each in found)
    for each in found[:-1]:
        # Differences over three points instead of five, and all samples instead of every third:
        # 0.02 % of the torque where there is no hum.
        assert each.error_percent == pytest.approx(
            by_scipy(model, log, each.cutoff_hz), rel=0.02, abs=0.05)
    assert found[-1].error_percent == pytest.approx(expected, rel=0.02)


def test_an_entry_is_the_error_below_that_cutoff(fitted):
    model, log, _ = fitted
    for each in error_by_bandwidth((model.arm, model.theta), [log], model.treatment)[:-1]:
        assert each.error_percent == pytest.approx(
            error_at(model, log, each.cutoff_hz).relative_error_percent, rel=1e-9)


def test_a_short_recording_has_no_entry_for_low_cutoffs_and_none_has_no_entry(fitted):
    model, log, _ = fitted
    short = [log.part(0, int(4 * RATE))]
    found = error_by_bandwidth((model.arm, model.theta), short, model.treatment)
    # Three seconds of a low-pass at 2 Hz leave half of these four.
    assert [each.cutoff_hz for each in found] == [2.0, 5.0, 10.0, 20.0, None]
    assert error_by_bandwidth((model.arm, model.theta), [], model.treatment) == ()


def test_a_long_held_out_set_counts_by_its_beginning(fitted, monkeypatch):
    _, log, _ = fitted
    monkeypatch.setattr(conditioned_data, 'MOST_RECORDED', 7000)
    kept = beginning([log, log, log])
    assert [len(each.t) for each in kept] == [6000]
    monkeypatch.setattr(conditioned_data, 'MOST_RECORDED', 5000)
    assert [len(each.t) for each in beginning([log, log])] == [5000]
    assert not np.shares_memory(kept[0].q, log.q)


def test_identify_adds_plain_friction_where_the_model_has_other_terms(fitted):
    model, log, _ = fitted
    arm = model.arm
    by_terms = {terms: identify(arm, [log], friction=terms, holdout=0.3).error_by_bandwidth
                for terms in (('viscous',), PLAIN_TERMS)}
    assert all(each.plain_error_percent is None for each in by_terms[PLAIN_TERMS])
    for one, other in zip(*by_terms.values(), strict=True):
        assert one.plain_error_percent == pytest.approx(other.error_percent, rel=1e-6)
