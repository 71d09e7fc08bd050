"""The cut-off that a motion calls for, against closed forms, and that of the rows above it."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.arm.settings import LEAST_CUTOFF
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import CUTOFF_PER_BAND, HIGHEST_CUTOFF, LEAST_ROWS_HZ
from dynid_ros.data.signals.cutoff_choice import choose_cutoff
from dynid_ros.estimation.regression.preparation import choose_conditioning, widened

LENGTH = 40


def stamps(rate, seconds=LENGTH):
    return np.arange(int(rate * seconds)) / rate


@pytest.mark.parametrize('rate', [50.0, 125.0, 1000.0])
@pytest.mark.parametrize('frequency', [0.2, 0.5, 1.0])
def test_a_sine_gives_the_margin_times_its_frequency(frequency, rate):
    q = np.sin(2 * np.pi * frequency * stamps(rate))[:, None]
    # The Hann window widens a line by up to two steps of 1 / LENGTH.
    assert choose_cutoff(q, rate) == pytest.approx(
        CUTOFF_PER_BAND * frequency, abs=2.1 * CUTOFF_PER_BAND / LENGTH)


@settings(max_examples=20, deadline=None)
@given(st.floats(1e-7, 3e-5), st.integers(0, 10**6))
def test_encoder_noise_and_its_size_hardly_matter(noise, seed):
    rng, t = np.random.default_rng(seed), stamps(125.0)
    q = np.stack([np.sin(2 * np.pi * 0.3 * t), 0.5 * np.cos(2 * np.pi * 0.6 * t)], axis=1)
    clean = choose_cutoff(q, 125.0)
    noisy = choose_cutoff(q + noise * rng.normal(size=q.shape), 125.0)
    assert noisy == pytest.approx(clean, rel=0.2)


def test_rate_does_not_matter():
    def cutoff(rate):
        t = stamps(rate)
        return choose_cutoff(np.stack([np.sin(t), np.sin(3 * t + 1)], axis=1), rate)
    assert cutoff(1000.0) == pytest.approx(cutoff(50.0), rel=0.05)


def test_a_joint_that_stands_still_has_no_say():
    t = stamps(100.0)
    q = np.sin(2 * np.pi * 0.5 * t)[:, None]
    still = np.concatenate([q, np.zeros_like(q)], axis=1)
    assert choose_cutoff(still, 100.0) == choose_cutoff(q, 100.0)


def test_it_stays_below_half_the_sample_rate():
    fast = np.sin(2 * np.pi * 4.0 * stamps(30.0))[:, None]
    assert choose_cutoff(fast, 30.0) == HIGHEST_CUTOFF * 30
    assert choose_cutoff(np.zeros((500, 2)), 30.0) == HIGHEST_CUTOFF * 30


def test_a_motion_of_hours_gets_a_cut_off_that_a_result_may_hold():
    rate = 0.01
    q = np.sin(2 * np.pi * 1e-5 * np.arange(30_000) / rate)[:, None]
    assert choose_cutoff(q, rate) == LEAST_CUTOFF


def test_the_cut_off_of_a_long_stretch_is_that_of_a_part_of_it():
    # 120 077 steps are a prime number of samples for the transform.
    t = np.arange(120_078) / 100.0
    q = np.stack([np.sin(3 * t), np.sin(7 * t + 1)], axis=1)
    assert choose_cutoff(q, 100.0) == pytest.approx(choose_cutoff(q[:90_000], 100.0), rel=1e-3)


def chosen(frequency, rate, **stated):
    """Cut-offs of the motion and of the rows of a sine, Hz."""
    arm = load_arm('two_axis')
    arm = replace(arm, conditioning=replace(arm.conditioning, delay=0.0, **stated))
    t = stamps(rate, 60)
    q = np.sin(2 * np.pi * frequency * t[:, None] + np.array([0.0, 1.0]))
    settings = choose_conditioning(arm, [Recording(t, q, q, arm.joint_names)])
    assert widened(settings).decimation <= settings.decimation
    return settings.cutoff_hz, widened(settings).cutoff_hz


def test_rows_of_a_slow_motion_reach_up_to_the_least_cut_off():
    motion, rows = chosen(0.1, 125.0)
    assert motion == pytest.approx(0.5, abs=0.2)
    assert rows == LEAST_ROWS_HZ


def test_rows_of_a_fast_motion_have_its_cut_off():
    motion, rows = chosen(2.0, 125.0)
    assert rows == motion == pytest.approx(10.0, rel=0.1)


def test_the_rate_bounds_the_cut_off_of_the_rows():
    assert chosen(0.1, 8.0)[1] == HIGHEST_CUTOFF * 8.0


@pytest.mark.parametrize('stated', [
    {'cutoff_hz': 0.7}, {'filter': 'fir'}, {'filter': 'periodic', 'period': 10.0}])
def test_a_stated_cut_off_or_another_filter_is_left_alone(stated):
    motion, rows = chosen(0.1, 125.0, **stated)
    assert rows == motion < 1.0
