"""Parallel filtering and decimation: one convolution, whatever the blocks."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.signal import convolve

from dynid_ros.signals.conditioning_settings import ConditioningSettings
from dynid_ros.signals.decimation import decimation_step, Decimator


def decimator(rate=100.0, cutoff=5.0, step=None):
    step = decimation_step(rate, cutoff) if step is None else step
    return Decimator(ConditioningSettings(cutoff, False, 'butterworth', rate, step))


def gain(taps, frequency, rate):
    k = np.arange(len(taps)) - len(taps) // 2
    return (taps * np.cos(2 * np.pi * frequency / rate * k)).sum()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3000), st.floats(1, 40), st.integers(1, 900), st.integers(0, 10**6))
def test_output_is_the_valid_convolution_of_every_step_th_sample(samples, cutoff, step, seed):
    d = decimator(cutoff=cutoff, step=step)
    x = np.random.default_rng(seed).normal(size=(samples, 2))
    kept = d.whole(x)
    assert len(kept) == d.outputs(samples)
    if samples < len(d.taps):
        assert len(kept) == 0
        return
    expected = convolve(x, d.taps[:, None], mode='valid')[::step]
    np.testing.assert_allclose(kept, expected, rtol=0, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 5000), st.integers(1, 600))
def test_blocks_cover_every_output_once_and_overlap_by_the_filter_only(samples, step):
    d = decimator(step=step)
    blocks = d.blocks(samples)
    assert sum(count for _, count in blocks) == d.outputs(samples)
    centre = d.reach
    for inputs, count in blocks:
        centres = np.arange(inputs.start + d.reach, inputs.stop - d.reach, step)
        assert len(centres) == count
        assert centres[0] == centre
        assert 0 <= inputs.start < inputs.stop <= samples
        centre = centres[-1] + step


def test_matrices_are_filtered_entry_by_entry():
    d = decimator()
    x = np.random.default_rng(0).normal(size=(1500, 3, 4))
    for i in range(3):
        np.testing.assert_allclose(d.whole(x)[:, i], d.whole(x[:, i]), rtol=0, atol=1e-13)


@pytest.mark.parametrize(('rate', 'cutoff'), [(125, 2.0), (1000, 5.0), (5000, 20.0), (30, 2.1)])
def test_low_pass_keeps_the_band_and_stops_what_would_fold_back(rate, cutoff):
    d = decimator(rate, cutoff)
    np.testing.assert_allclose(d.taps, d.taps[::-1], rtol=0, atol=1e-16)
    assert gain(d.taps, 0, rate) == pytest.approx(1, abs=1e-12)
    # A Kaiser window of 5 over three periods of the cut-off: transition from 0.5 to 1.5 of it.
    assert gain(d.taps, 0.4 * cutoff, rate) == pytest.approx(1, abs=0.01)
    assert gain(d.taps, cutoff, rate) == pytest.approx(0.5, abs=0.02)
    stop = np.arange(1.6, rate / 2 / cutoff, 0.01) * cutoff
    assert max(abs(gain(d.taps, f, rate)) for f in stop) < 0.005
    # Half of the kept rate lies at or above the edge of the stop band.
    assert rate / d.step / 2 >= 1.5 * cutoff or d.step == 1


def test_step_never_drops_below_one():
    assert decimation_step(30.0, 14.0) == 1
    assert decimation_step(1000.0, 5.0) == 66


def test_a_delay_free_sine_comes_through_at_the_times_of_the_kept_samples():
    d = decimator(500.0, 10.0)
    t = np.arange(3000) / 500
    x = np.sin(2 * np.pi * 1.0 * t)
    kept_t = t[d.reach:len(t) - d.reach:d.step]
    np.testing.assert_allclose(d.whole(x), np.sin(2 * np.pi * kept_t), atol=2e-3)
