# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Levels against processes whose exceedances can be counted."""

from dataclasses import replace

from contact_rig import exact, PANDA, residuals
import numpy as np
import pytest
from scipy.signal import lfilter

from dynid_ros.applications.contact.alarm_levels import (
    AlarmLevels,
    gaussian_level,
    PIECE,
    tail_level,
)
from dynid_ros.applications.contact.judgement import NEEDED, StreamNoise
from dynid_ros.errors import InputError


def rises(over, quiet):
    """Count the times that a level is exceeded after so many samples below it."""
    at = np.flatnonzero(over)
    return 0 if not len(at) else 1 + int((np.diff(at) > quiet).sum())


def test_low_passed_noise_exceeds_its_level_at_the_stated_rate():
    rate_hz, bandwidth, hours = 500.0, 8.0, 1.0
    pole = np.exp(-2 * np.pi * bandwidth / rate_hz)
    rng = np.random.default_rng(0)
    noise = lfilter([np.sqrt(1 - pole**2)], [1, -pole], rng.normal(size=int(3600 * rate_hz)))
    for wanted in (0.3, 0.03):
        seen = rises(np.abs(noise) > gaussian_level(bandwidth, wanted), 50) / (3600 * hours)
        # The process of the formula is continuous: the peaks between samples are missing.
        assert 0.2 * wanted < seen < wanted


@pytest.mark.parametrize('draw', [
    lambda rng, n: rng.exponential(size=n), lambda rng, n: np.abs(rng.normal(size=n)),
    lambda rng, n: rng.uniform(size=n)], ids=['exponential', 'gaussian', 'bounded'])
@pytest.mark.parametrize('pieces', [20, 400])
def test_levels_of_short_samples_are_exceeded_at_most_as_often_as_wanted(draw, pieces):
    rng, wanted = np.random.default_rng(1), 1 / 600
    seen = []
    for _ in range(300):
        level = tail_level(draw(rng, pieces), PIECE, wanted)
        seen.append((draw(rng, 4000) > level).mean() / PIECE)
    # The mean over samples is what a user meets.
    assert np.mean(seen) < 1.2 * wanted


def test_more_data_bring_the_level_down_to_that_of_the_process():
    rng = np.random.default_rng(2)
    levels = [np.median([tail_level(rng.exponential(size=n), PIECE, 1e-4) for _ in range(50)])
              for n in (20, 100, 1000)]
    truth = -np.log(1e-4 * PIECE)
    assert levels[0] > levels[1] > levels[2] > 0.9 * truth
    assert levels[2] < 1.4 * truth


def test_coloured_residuals_exceed_their_level_as_seldom_as_wanted():
    rng = np.random.default_rng(3)
    sigma = np.linspace(0.1, 0.7, 7)
    model = exact(PANDA, 0.1, predictions=(
        residuals(PANDA, rng, 120, sigma, 0.8, held_out=False),
        residuals(PANDA, rng, 60, sigma, 0.8)))
    found = AlarmLevels(model, 8.0, alarms_per_hour=60.0)
    assert found.held_out
    np.testing.assert_allclose(found.ratio * found.sigma, sigma, rtol=0.35)
    later = residuals(PANDA, rng, 7200, sigma, 0.8).tau
    alarms = sum(rises(np.abs(x) > level, 5)
                 for x, level in zip(later.T, found.level * found.sigma, strict=True))
    assert alarms / 2 < 60


def test_rarer_alarms_and_worse_held_out_residuals_raise_the_levels():
    def levels(alarms, held):
        rng = np.random.default_rng(4)
        model = exact(PANDA, 0.1, predictions=(
            residuals(PANDA, rng, 60, 0.1, held_out=False), residuals(PANDA, rng, 30, held)))
        return AlarmLevels(model, 8.0, alarms).level

    assert (levels(1.0, 0.1) > levels(10.0, 0.1)).all()
    assert (levels(1.0, 0.3) > 1.5 * levels(1.0, 0.1)).all()


@pytest.mark.parametrize('bandwidth', [0.3, 8.0])
def test_the_ratio_is_that_of_residuals_behind_a_low_pass_with_a_zero_order_hold(bandwidth):
    rng = np.random.default_rng(6)
    model = exact(PANDA, 0.1, predictions=(residuals(PANDA, rng, 60, 0.1, 0.5),))
    # Parameters that are known exactly have no share of the error.
    found = AlarmLevels(replace(model, covariance=0 * model.covariance), bandwidth)
    (part,) = model.predictions
    error = (part.tau - part.tau_hat) / 0.1
    period = float(part.t[1] - part.t[0])
    pole = np.exp(-2 * np.pi * bandwidth * period)
    # It begins from zero, with the first value for the length of a piece.
    before = round(PIECE / period) - 1
    filled = np.concatenate([np.repeat(error[:1], before, axis=0), error])
    low = lfilter([0.0, 1 - pole], [1.0, -pole], filled, axis=0)[before:]
    expected = np.sqrt((low**2).mean(axis=0))
    np.testing.assert_allclose(found.ratio, expected, rtol=1e-9)


def test_without_predictions_the_residual_of_the_fit_counts():
    model = exact(PANDA, 0.2)
    found = AlarmLevels(model, 8.0)
    assert not found.held_out
    np.testing.assert_allclose(found.sigma, 0.2)
    np.testing.assert_allclose(found.ratio, 1.0)
    np.testing.assert_allclose(found.level, gaussian_level(8.0, 1 / 3600 / 7))


def test_what_the_parameters_explain_of_a_residual_is_not_counted_twice():
    rng = np.random.default_rng(5)
    model = exact(PANDA, 0.1, scale=0.02, predictions=(residuals(PANDA, rng, 60, 0.1),))
    doubted, sure = AlarmLevels(model, 8.0), AlarmLevels(replace(model, covariance=0 * (
        model.covariance)), 8.0)
    assert (doubted.ratio < sure.ratio).all()
    np.testing.assert_allclose(sure.ratio, 1.0, atol=0.35)


@pytest.mark.parametrize('rate', [0.0, -1.0, np.nan, np.inf])
def test_an_impossible_rate_is_refused(rate):
    with pytest.raises(InputError, match='must be above zero'):
        AlarmLevels(exact(PANDA, 0.2), 8.0, rate)


def test_noise_of_motion_and_of_rest_are_apart_and_contacts_teach_nothing():
    noise = StreamNoise(2, 1e-4)
    for k in range(NEEDED):
        assert np.isinf(noise.level(True)).all()
        noise.add(True, np.array([1.0 + 0.1 * k, 99.0]), np.array([True, False]))
    assert np.isfinite(noise.level(True)[0]) and np.isinf(noise.level(True)[1])
    assert np.isinf(noise.level(False)).all()
