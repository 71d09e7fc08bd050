# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Uniform stretches: gaps cut, stamps resampled, the drive signal shifted the right way."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.segments import sample_rate, uniform_segments
from dynid_ros.errors import RecordingError


def position(t):
    return np.stack([np.sin(2 * t), np.cos(3 * t + 1)], axis=1)


def signal(t):
    return np.stack([np.cos(2 * t), np.sin(5 * t)], axis=1)


def log(t, seen_at=None):
    seen = t if seen_at is None else seen_at
    return Recording(t, position(seen), signal(seen), ('a', 'b'), 'effort', 'walk.db3')


@pytest.mark.parametrize(('rate', 'samples'), [
    (30.0, 2000), (125.0, 402_000), (997.0, 2000), (1000.0, 402_000)])
def test_uniform_samples_are_not_touched(rate, samples):
    # Stamps in ns, as in a bag.
    t = np.rint(np.arange(samples) / rate * 1e9) * 1e-9
    recorded = log(t)
    (segment,) = uniform_segments(recorded, sample_rate(recorded))
    assert np.shares_memory(segment.q, recorded.q)
    assert np.shares_memory(segment.u, recorded.u)
    np.testing.assert_allclose(segment.t, t, rtol=0, atol=1e-3 / rate)


def test_samples_of_a_clock_that_runs_for_days_are_not_touched():
    # Stamps are rounded to 29 ps, and their steps with them.
    t = 2e5 + np.arange(402_000) / 1000
    assert abs(1 / np.median(np.diff(t)) - 1000) * 402 > 1e-3
    recorded = log(t)
    (segment,) = uniform_segments(recorded, sample_rate(recorded))
    assert np.shares_memory(segment.q, recorded.q)


def test_a_recording_is_cut_at_its_gaps_and_short_stretches_are_left_out():
    t = np.arange(3000) / 100
    keep = np.ones(3000, dtype=bool)
    keep[1000:1060] = keep[1100:1120] = keep[2000:2003] = False
    segments = uniform_segments(log(t[keep]), 100.0)
    # 0.4 s between two gaps are too short; three lost samples are bridged.
    assert [(s.t[0], s.t[-1]) for s in segments] == [
        (pytest.approx(0), pytest.approx(9.99)), (pytest.approx(11.2), pytest.approx(29.99))]
    bridged = segments[1]
    np.testing.assert_allclose(np.diff(bridged.t), 0.01, atol=1e-12)
    # Cubic splines: 5/384 h^4 times the fourth derivative, over four steps.
    np.testing.assert_allclose(bridged.q, position(bridged.t), atol=5e-6)


def test_a_recording_of_gaps_only_is_refused():
    with pytest.raises(RecordingError, match=r'walk\.db3: no stretch of 1 s without a gap'):
        uniform_segments(log(np.arange(30) * 0.2), 100.0)


@settings(max_examples=30)
@given(st.floats(0, 0.45), st.integers(0, 10**6), st.sampled_from([50.0, 125.0, 500.0]))
def test_true_irregular_stamps_are_resampled_to_what_would_have_been_measured(jitter, seed, rate):
    rng = np.random.default_rng(seed)
    t = (np.arange(600) + jitter * rng.uniform(-1, 1, 600)) / rate
    t -= t[0]
    recorded = log(t)
    (segment,) = uniform_segments(recorded, rate)
    np.testing.assert_allclose(np.diff(segment.t), 1 / rate, rtol=1e-9)
    h = 2 / rate
    # Spline error inside; at its free ends it is of third order.
    # Stamps within a thousandth of a step count as uniform.
    bound = 81 * h**4 / 50 + 27 * h**3 / 10 + 3e-3 / rate
    np.testing.assert_allclose(segment.q, position(segment.t), rtol=0, atol=bound)


@settings(max_examples=30)
@given(st.floats(0, 0.999999), st.integers(2, 20), st.sampled_from([125.0, 1000.0]))
def test_messages_that_are_stamped_late_and_in_bursts_do_not_swing(late, every, rate):
    true = np.arange(3000) / rate
    stamped = true.copy()
    stamped[1:-1:every] += late / rate
    (segment,) = uniform_segments(log(stamped, true), rate)
    # At 3 rad/s, a stamp that is late by a period is an error of 3 / rate; a spline through
    # steps of a quarter and of 1.75 periods overshoots it by 2.3 times.
    assert np.abs(segment.q - position(segment.t)).max() < 3.5 * 3 / rate


@pytest.mark.parametrize('delay', [0.02, -0.02, 0.0137])
def test_a_signal_that_lags_is_advanced_and_positions_stay(delay):
    t = np.arange(1000) / 200
    recorded = Recording(t, position(t), signal(t - delay), ('a', 'b'), 'effort', 'walk.db3')
    (segment,) = uniform_segments(recorded, 200.0, delay)
    assert np.shares_memory(segment.q, recorded.q)
    inner = slice(10, -10)
    np.testing.assert_allclose(segment.u[inner], signal(segment.t)[inner], atol=2e-6)


def test_a_single_sample_has_no_rate():
    with pytest.raises(RecordingError, match='a single sample has no rate; record for longer'):
        sample_rate(log(np.array([1.0])))


def test_sample_rate_is_that_of_most_samples():
    t = np.delete(np.arange(1000) / 125, np.s_[100:200])
    assert sample_rate(log(t)) == pytest.approx(125)


def test_stamps_in_bursts_are_refused_before_they_fill_memory():
    # Ten samples at 20 kHz, then 50 ms without any.
    t = (np.arange(200)[:, None] * 0.05 + np.arange(10) * 5e-5).ravel()
    x = np.sin(t)[:, None]
    log = Recording(t, x, x, ('j',), 'effort', 'bursts.csv')
    with pytest.raises(RecordingError, match=r'bursts\.csv: .* 2e\+04 Hz .* 20\d Hz'):
        uniform_segments(log, sample_rate(log))
