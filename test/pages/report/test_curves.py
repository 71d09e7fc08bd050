# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Curves lose points and never what can be seen in them."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from results import prediction
import scipy.signal

from dynid_ros.pages.report.curves import (
    end_to_end,
    residual_spectrum,
    segment_length,
    thinned,
    welch,
)


@settings(max_examples=50)
@given(st.integers(2, 5000), st.integers(0, 2**32 - 1))
def test_thinning_keeps_the_extremes_and_the_order(samples, seed):
    rng = np.random.default_rng(seed)
    t, y = np.arange(float(samples)), rng.normal(size=samples)
    few_t, few_y = thinned(t, y, points=100)
    assert len(few_t) <= max(100, min(samples, 100))
    assert (np.diff(few_t) >= 0).all()
    assert few_y.min() == y.min() and few_y.max() == y.max()
    # Each point that stays is one of the curve.
    np.testing.assert_array_equal(few_y, y[few_t.astype(int)])


def test_thinning_keeps_the_gap_between_recordings():
    t, y = np.arange(5000.0), np.ones(5000)
    t[2500] = y[2500] = np.nan
    few_t, few_y = thinned(t, y, points=100)
    assert np.isnan(few_t).any() and np.isnan(few_y).any()


def test_recordings_follow_each_other_with_a_gap():
    rng = np.random.default_rng(0)
    one, two = prediction(rng, 2, 10, 'a', False), prediction(rng, 2, 5, 'b', False)
    two = replace(two, t=two.t + 100.0)
    t, tau, tau_hat = end_to_end([one, two])
    assert len(t) == len(tau) == len(tau_hat) == 16
    assert np.isnan(t[10]) and np.isnan(tau[10]).all() and np.isnan(tau_hat[10]).all()
    assert t[11] == one.t[-1]
    np.testing.assert_array_equal(tau[11:], two.tau)


def noise(samples, scale, seed):
    p = prediction(np.random.default_rng(seed), 1, samples, 'noise', False)
    residual = np.random.default_rng(seed).normal(scale=scale, size=(samples, 1))
    return replace(p, tau_hat=p.tau - residual)


def test_the_spectrum_of_white_noise_is_flat_and_holds_its_variance():
    recordings = [noise(20000, 0.3, 1), noise(10000, 0.3, 2)]
    f, density = residual_spectrum(recordings, segment_length(recordings))
    step = 0.08
    # One-sided density of white noise; 230 averages make it some 7 % uncertain, five times that.
    expected = 0.3 * np.sqrt(2 * step)
    np.testing.assert_allclose(density[2:-2, 0], expected, rtol=0.25)
    assert f[0] > 0 and np.isclose(f[-1], 0.5 / step)


@pytest.mark.parametrize('segment', [2, 63, 256])
def test_spectra_are_those_of_scipy(segment):
    x = np.random.default_rng(0).normal(size=(1000, 2)).cumsum(axis=0)
    expected = scipy.signal.welch(x, 40.0, nperseg=segment, axis=0)[1]
    np.testing.assert_allclose(welch(x, 40.0, segment), expected, rtol=1e-9, atol=1e-12)


def test_recordings_count_by_their_length():
    long, short = noise(20000, 0.1, 1), noise(2000, 1.0, 2)
    _, density = residual_spectrum([long, short], 256)
    variance = np.mean(density[2:-2] ** 2) / (2 * 0.08)
    # (20 * 0.01 + 2 * 1) / 22; the short recording's variance is some 3 % uncertain.
    assert abs(variance - 2.2 / 22) < 0.015


def test_a_segment_leaves_room_for_three_in_the_shortest_recording():
    recordings = [noise(1000, 1.0, 1), noise(60, 1.0, 2)]
    assert segment_length(recordings) == 30
