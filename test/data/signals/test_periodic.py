# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Periodic motions: exact derivatives, averaging, and the period from the data."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.data.signals.periodic import (
    average_periods,
    find_period,
    harmonic_derivative,
    mean_squares,
    misfit,
    periodic_part,
)
from dynid_ros.errors import RecordingError


class Series:
    """Three joints of five harmonics each."""

    def __init__(self, period, seed=0, harmonics=5):
        rng = np.random.default_rng(seed)
        self.w = 2 * np.pi * np.arange(1, harmonics + 1) / period
        self.a, self.p = rng.normal(size=(2, harmonics, 3))

    def __call__(self, t, order=0):
        angle = self.w[:, None] * np.asarray(t)[:, None, None] + self.p + order * np.pi / 2
        return (self.a * self.w[:, None] ** order * np.sin(angle)).sum(axis=1)


def stamps(rate, seconds):
    return np.arange(round(rate * seconds)) / rate


@pytest.mark.parametrize('order', [0, 1, 2])
@pytest.mark.parametrize(('rate', 'period'), [(100.0, 5.0), (125.0, 8.0), (33.0, 3.0)])
def test_derivatives_of_one_period_are_exact(rate, period, order):
    q, t = Series(period), stamps(rate, period)
    exact = q(t, order)
    # Rounding of the transform, times the highest frequency to the order.
    np.testing.assert_allclose(
        harmonic_derivative(q(t), rate, 6 / period, order), exact, rtol=0,
        atol=1e-13 * np.abs(exact).max())


def test_what_lies_above_the_cutoff_is_removed_and_the_rest_is_kept():
    t = stamps(100.0, 4.0)
    low, high = np.sin(2 * np.pi * 1.0 * t), np.sin(2 * np.pi * 10.0 * t)
    both = (3 + low + high)[:, None]
    kept = harmonic_derivative(both, 100.0, 5.0, 0)[:, 0]
    np.testing.assert_allclose(kept, 3 + low, atol=1e-12)
    at_cutoff = harmonic_derivative(both, 100.0, 10.0, 0)[:, 0]
    np.testing.assert_allclose(at_cutoff, 3 + low + high, atol=1e-12)


@pytest.mark.parametrize(('rate', 'period', 'periods'), [
    (100.0, 5.0, 2), (100.0, 5.0, 3.4), (125.0, 10.004, 5), (30.0, 7.123, 3.4), (1000.0, 2.5, 20),
])
def test_period_is_found_between_the_samples_and_not_one_of_its_multiples(rate, period, periods):
    rng = np.random.default_rng(1)
    t = stamps(rate, period * periods)
    q = Series(period)(t)
    assert find_period(q, rate) == pytest.approx(period, abs=0.01 / rate)
    # Encoder noise of a thousandth of the spread.
    noisy = q + 1e-3 * q.std() * rng.normal(size=q.shape)
    assert find_period(noisy, rate) == pytest.approx(period, abs=0.05 / rate)


@pytest.mark.slow
def test_a_long_recording_takes_no_longer_than_its_transform():
    t = stamps(1000.0, 600.0)
    # A comparison of each shift with each sample would take hours: the time limit of the tests.
    assert find_period(Series(10.0)(t), 1000.0) == pytest.approx(10.0, abs=1e-6)


@pytest.mark.parametrize('motion', [
    lambda t: Series(80.0)(t),
    lambda t: Series(40.0, harmonics=1)(t),
    lambda t: np.zeros((len(t), 3)),
    lambda t: np.cumsum(np.random.default_rng(0).normal(size=(len(t), 3)), axis=0),
    lambda t: np.where(t[:, None] < 4, 0.0, Series(5.0)(t - 4)),
    lambda t: Series(5.0)(t) + 0.05 * t[:, None],
], ids=['half a period', 'a sine', 'standstill', 'a walk', 'rest first', 'a drift'])
def test_motions_that_do_not_repeat_are_refused(motion):
    with pytest.raises(RecordingError, match='does not repeat itself'):
        find_period(motion(stamps(50.0, 40.0)), 50.0)


@settings(max_examples=25)
@given(st.integers(3, 60), st.integers(1, 3), st.integers(0, 10**6))
def test_misfit_is_the_mean_square_of_the_difference_to_the_shifted_motion(samples, n, seed):
    q = np.random.default_rng(seed).normal(size=(samples, n)) + 7
    direct = [((q[k:] - q[:samples - k]) ** 2).sum(axis=1).mean() for k in range(samples - 1)]
    expected = np.array(direct) / (2 * q.var(axis=0).sum())
    np.testing.assert_allclose(misfit(q), expected, rtol=0, atol=1e-12)


def test_average_of_whole_periods_is_one_period_and_noise_falls_with_their_root():
    rate, period, periods = 100.0, 4.0, 25
    q, t = Series(period), stamps(rate, period * periods + 1.5)
    noise = np.random.default_rng(2).normal(size=(len(t), 3))
    mean, kept_rate = average_periods(q(t) + noise, rate, period)
    assert kept_rate == rate
    left = mean - q(stamps(rate, period))
    # 1200 values: their spread is known to within 2 %.
    assert left.std() == pytest.approx(1 / np.sqrt(periods), rel=0.08)


def test_a_period_between_samples_is_resampled_so_that_nothing_smears():
    rate, period = 100.0, 3.7037
    q, t = Series(period), stamps(rate, 10 * period)
    mean, kept_rate = average_periods(q(t), rate, period)
    assert kept_rate * period == pytest.approx(len(mean), abs=1e-9)
    assert len(mean) == 370
    exact = q(np.arange(370) / kept_rate)
    # Cubic splines at 100 samples in the shortest wave, and the end of the last period.
    np.testing.assert_allclose(mean, exact, rtol=0, atol=2e-4 * np.abs(exact).max())


def test_exactly_two_periods_are_enough_and_less_is_said():
    q, t = Series(5.0), stamps(100.0, 10.0)
    mean, _ = average_periods(q(t), 100.0, find_period(q(t), 100.0))
    np.testing.assert_allclose(mean, q(t[:500]), atol=1e-3)
    with pytest.raises(RecordingError, match='less than two periods of 5 s'):
        periodic_part(q(t[:-2]), 100.0, 5.0)


def test_a_wrong_period_is_refused_where_repetition_is_asked_for():
    x = Series(5.0)(stamps(100.0, 30.0))
    average_periods(x, 100.0, 5.0, 0.01)
    average_periods(x, 100.0, 10.0, 0.01)
    with pytest.raises(RecordingError, match=r'does not repeat itself every 4\.8 s'):
        average_periods(x, 100.0, 4.8, 0.01)


def test_mean_squares_are_those_of_each_shift():
    rng = np.random.default_rng(0)
    a, b, weight = rng.normal(size=(50, 3)), rng.normal(size=(31, 3)), rng.uniform(size=31)
    known = (rng.uniform(size=50) > 0.3).astype(float)
    squares, compared = mean_squares(a * known[:, None], known, b, weight)
    for place, shift in enumerate(range(-30, 50)):
        both = np.arange(max(0, -shift), min(31, 50 - shift))
        weights = known[both + shift] * weight[both]
        difference = ((a[both + shift] - b[both])**2).sum(axis=1)
        if weights.any():
            assert squares[place] == pytest.approx(weights @ difference / weights.sum())
            assert compared[place] == pytest.approx(weights.sum())
        else:
            assert np.isinf(squares[place]) and not compared[place]
