"""The cut-off follows the band of the motion, not its noise, length or rate."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.signals.conditioning_settings import choose_cutoff, THRESHOLDS

SECONDS = 40


def stamps(rate, seconds=SECONDS):
    return np.arange(int(rate * seconds)) / rate


@pytest.mark.parametrize('rate', [50.0, 125.0, 1000.0])
@pytest.mark.parametrize('frequency', [0.2, 0.5, 1.0])
def test_a_sine_gives_the_margin_times_its_frequency(frequency, rate):
    q = np.sin(2 * np.pi * frequency * stamps(rate))[:, None]
    # The Hann window widens a line by up to two steps of 1 / SECONDS.
    assert choose_cutoff([q], rate) == pytest.approx(
        THRESHOLDS.margin * frequency, abs=2.1 * THRESHOLDS.margin / SECONDS)


@settings(max_examples=20, deadline=None)
@given(st.floats(1e-7, 3e-5), st.integers(0, 10**6))
def test_encoder_noise_and_its_size_hardly_matter(noise, seed):
    rng, t = np.random.default_rng(seed), stamps(125.0)
    q = np.stack([np.sin(2 * np.pi * 0.3 * t), 0.5 * np.cos(2 * np.pi * 0.6 * t)], axis=1)
    clean = choose_cutoff([q], 125.0)
    noisy = choose_cutoff([q + noise * rng.normal(size=q.shape)], 125.0)
    assert noisy == pytest.approx(clean, rel=0.2)


def test_rate_does_not_matter():
    def cutoff(rate):
        t = stamps(rate)
        return choose_cutoff([np.stack([np.sin(t), np.sin(3 * t + 1)], axis=1)], rate)
    assert cutoff(1000.0) == pytest.approx(cutoff(50.0), rel=0.05)


def test_a_joint_that_stands_still_has_no_say():
    t = stamps(100.0)
    q = np.sin(2 * np.pi * 0.5 * t)[:, None]
    still = np.concatenate([q, np.zeros_like(q)], axis=1)
    assert choose_cutoff([still], 100.0) == choose_cutoff([q], 100.0)


def test_the_longest_stretch_decides():
    long = np.sin(2 * np.pi * 0.3 * stamps(100.0))[:, None]
    short = np.sin(2 * np.pi * 5.0 * stamps(100.0, 4))[:, None]
    assert choose_cutoff([short, long, short], 100.0) == choose_cutoff([long], 100.0)


def test_it_stays_below_half_the_sample_rate():
    fast = np.sin(2 * np.pi * 4.0 * stamps(30.0))[:, None]
    assert choose_cutoff([fast], 30.0) == THRESHOLDS.highest * 30
    assert choose_cutoff([np.zeros((500, 2))], 30.0) == THRESHOLDS.highest * 30
