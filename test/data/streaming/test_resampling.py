# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Resampling of a stream against the signals that it came from."""

import numpy as np
import pytest

from dynid_ros.data.streaming.resampling import Resampler
from dynid_ros.data.streaming.sample_validation import Counters

RATE = 100.0


def signal(t):
    return np.column_stack([t, np.sin(3 * t), np.cos(2 * t)])


def run(t, step=40):
    counters = Counters()
    resampler = Resampler(3, counters)
    stretches = [[]]
    for k in range(0, len(t), step):
        part = signal(t[k:k + step])
        resampler.watch_rate(part[:, 0])
        first, *others = resampler.feed(part)
        stretches[-1].append(first)
        stretches += [[x] for x in others]
    return [np.concatenate(s) for s in stretches], counters, resampler


def test_uniform_samples_stay_as_they_are():
    t = np.arange(300) / RATE
    (out,), counters, resampler = run(t)
    assert resampler.rate_hz == pytest.approx(RATE)
    # The last interval waits for a sample behind it.
    np.testing.assert_allclose(out, signal(t)[:-1], atol=1e-12)
    assert not any(counters.as_dict().values())


def test_jitter_and_lost_samples_are_interpolated():
    rng = np.random.default_rng(4)
    t = np.arange(300) / RATE + rng.uniform(-2e-3, 2e-3, 300)
    t = np.delete(t, [50, 51, 120])
    (out,), counters, _ = run(t)
    assert counters.as_dict()['missing'] == 3
    # A cubic over gaps of three periods: h⁴ f'''' / 24 of at most 30 ms and 3 rad/s.
    np.testing.assert_allclose(out, signal(out[:, 0]), atol=(0.03 * 3) ** 4 / 4)
    np.testing.assert_allclose(np.diff(out[:, 0]), np.diff(out[:, 0])[0], rtol=1e-9)


@pytest.mark.parametrize('jitter', [0.3, 1.0, 4.0])
def test_stamps_in_bursts_keep_the_rate_and_what_is_between_them(jitter):
    """Stamps of reception scatter by some periods; between two of them lies no other motion."""
    rng = np.random.default_rng(4)
    t = np.sort(np.arange(4000) / RATE + rng.normal(0, jitter / RATE, 4000))
    even = np.arange(4000) / RATE
    counters = Counters()
    resampler, found = Resampler(3, counters), []
    for k in range(0, 4000, 50):
        part = np.column_stack([t[k:k + 50], signal(even[k:k + 50])[:, 1:]])
        resampler.watch_rate(part[:, 0])
        found += resampler.feed(part)
    # The mean step of a block of 50 strays by the jitter at its ends.
    assert resampler.rate_hz == pytest.approx(RATE, rel=0.2)
    assert counters.as_dict()['rate_changed'] == 0
    # Steps of a quarter of the usual one and more let a cubic swing out by little.
    assert np.abs(np.concatenate(found)[:, 1:]).max() < 1.02


def test_a_pause_starts_a_new_stretch():
    t = np.concatenate([np.arange(100), 500 + np.arange(100)]) / RATE
    (first, second), counters, _ = run(t)
    assert counters.as_dict()['gaps'] == 1
    assert first[-1, 0] < 1.0 and second[0, 0] == pytest.approx(5.0)


def test_another_rate_is_taken_over_after_three_blocks():
    t = np.concatenate([np.arange(200) / RATE, 2 + np.arange(200) / (4 * RATE)])
    _, counters, resampler = run(t)
    assert counters.as_dict()['rate_changed'] == 1
    assert resampler.rate_hz == pytest.approx(4 * RATE)
