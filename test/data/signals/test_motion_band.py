# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The cut-off that a motion calls for, against closed forms, and that of the rows above it."""


from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.arm.settings import LEAST_CUTOFF
from dynid_ros.data.signals.motion_band import CUTOFF_PER_BAND, motion_cutoff

LENGTH = 40


def stamps(rate, seconds=LENGTH):
    return np.arange(int(rate * seconds)) / rate


@pytest.mark.parametrize('rate', [50.0, 125.0, 1000.0])
@pytest.mark.parametrize('frequency', [0.2, 0.5, 1.0])
def test_a_sine_gives_the_margin_times_its_frequency(frequency, rate):
    q = np.sin(2 * np.pi * frequency * stamps(rate))[:, None]
    # The Hann window widens a line by up to two steps of 1 / LENGTH.
    assert motion_cutoff(q, rate, 0.4 * rate) == pytest.approx(
        CUTOFF_PER_BAND * frequency, abs=2.1 * CUTOFF_PER_BAND / LENGTH)


@settings(max_examples=20)
@given(st.floats(1e-7, 3e-5), st.integers(0, 10**6))
def test_encoder_noise_and_its_size_hardly_matter(noise, seed):
    rng, t = np.random.default_rng(seed), stamps(125.0)
    q = np.stack([np.sin(2 * np.pi * 0.3 * t), 0.5 * np.cos(2 * np.pi * 0.6 * t)], axis=1)
    clean = motion_cutoff(q, 125.0, 0.4 * 125.0)
    noisy = motion_cutoff(q + noise * rng.normal(size=q.shape), 125.0, 0.4 * 125.0)
    assert noisy == pytest.approx(clean, rel=0.2)


def test_rate_does_not_matter():
    def cutoff(rate):
        t = stamps(rate)
        return motion_cutoff(np.stack([np.sin(t), np.sin(3 * t + 1)], axis=1), rate, 0.4 * rate)
    assert cutoff(1000.0) == pytest.approx(cutoff(50.0), rel=0.05)


def test_a_joint_that_stands_still_has_no_say():
    t = stamps(100.0)
    q = np.sin(2 * np.pi * 0.5 * t)[:, None]
    still = np.concatenate([q, np.zeros_like(q)], axis=1)
    assert motion_cutoff(still, 100.0, 0.4 * 100.0) == motion_cutoff(q, 100.0, 0.4 * 100.0)


def test_it_stays_below_half_the_sample_rate():
    fast = np.sin(2 * np.pi * 4.0 * stamps(30.0))[:, None]
    assert motion_cutoff(fast, 30.0, 0.4 * 30.0) == 0.4 * 30
    assert motion_cutoff(np.zeros((500, 2)), 30.0, 0.4 * 30.0) == 0.4 * 30


def test_a_motion_of_hours_gets_a_cut_off_that_a_result_may_hold():
    rate = 0.01
    q = np.sin(2 * np.pi * 1e-5 * np.arange(30_000) / rate)[:, None]
    assert motion_cutoff(q, rate, 0.4 * rate) == LEAST_CUTOFF


def test_the_cut_off_of_a_long_stretch_is_that_of_a_part_of_it():
    # 120 077 steps are a prime number of samples for the transform.
    t = np.arange(120_078) / 100.0
    q = np.stack([np.sin(3 * t), np.sin(7 * t + 1)], axis=1)
    whole, part = (motion_cutoff(each, 100.0, 40.0) for each in (q, q[:90_000]))
    assert whole == pytest.approx(part, rel=1e-3)
