# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Filters, derivatives and decimation against closed forms and convolution."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.signal import butter, convolve, firwin, sosfiltfilt

from dynid_ros.data.signals.filters import (
    butterworth,
    decimation_step,
    Decimator,
    differentiate,
    FIR_ORDER,
    nuttall_fir,
)

RATE = 200.0
T = np.arange(4000) / RATE
# Away from the ends, where a filter has nothing to stand on.
INNER = slice(800, -800)


def gain_and_phase(y, frequency):
    """Complex gain of a filter that answered a unit sine with y."""
    angle = 2 * np.pi * frequency * T[INNER]
    waves = np.stack([np.sin(angle), np.cos(angle)], axis=1)
    in_phase, ahead = np.linalg.lstsq(waves, y[INNER, 0], rcond=None)[0]
    return in_phase + 1j * ahead


def sine(frequency):
    return np.sin(2 * np.pi * frequency * T)[:, None]


@pytest.mark.parametrize('cutoff', [2.0, 5.0, 20.0])
@pytest.mark.parametrize('ratio', [0.2, 0.5, 1.0, 2.0])
def test_butterworth_has_the_squared_gain_of_one_pass_and_no_phase(cutoff, ratio):
    frequency = cutoff * ratio
    # Prewarped: the bilinear transform bends the frequency axis.
    warped = np.tan(np.pi * frequency / RATE) / np.tan(np.pi * cutoff / RATE)
    gain = gain_and_phase(butterworth(sine(frequency), RATE, cutoff), frequency)
    # What is left of the transients at the ends.
    assert gain == pytest.approx(1 / (1 + warped**8), abs=1e-3)


@pytest.mark.parametrize('cutoff', [3.0, 10.0, 60.0])
@pytest.mark.parametrize('samples', [1, 2, 50, 3000])
def test_butterworth_is_that_of_scipy(samples, cutoff):
    x = np.random.default_rng(samples).normal(size=(samples, 3)).cumsum(axis=0)
    padding = min(samples - 1, int(3 * RATE / cutoff))
    expected = sosfiltfilt(butter(4, cutoff, fs=RATE, output='sos'), x, axis=0, padlen=padding)
    # The poles of SciPy's design are rounded by up to 1e-16 of one, the gain by their distance.
    np.testing.assert_allclose(
        butterworth(x, RATE, cutoff), expected, rtol=0, atol=1e-9 * np.abs(x).max())


@settings(max_examples=30)
@given(st.integers(5, 400), st.floats(0.3, 60), st.floats(-5, 5), st.floats(-3, 3))
def test_a_constant_passes_whatever_length_and_cutoff(samples, cutoff, level, other):
    x = np.tile([level, other], (samples, 1))
    np.testing.assert_allclose(butterworth(x, RATE, cutoff), x, rtol=0, atol=1e-6)
    np.testing.assert_allclose(nuttall_fir(x), x, rtol=0, atol=1e-9)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_filtering_backwards_is_filtering_forwards_backwards(seed):
    x = np.random.default_rng(seed).normal(size=(600, 2))
    for apply in (nuttall_fir, lambda y: butterworth(y, RATE, 10.0)):
        np.testing.assert_allclose(
            apply(x[::-1])[::-1][150:-150], apply(x)[150:-150], rtol=0, atol=1e-6)


def test_joints_are_filtered_apart():
    x = np.random.default_rng(0).normal(size=(500, 3))
    whole = butterworth(x, RATE, 8.0)
    for j in range(3):
        np.testing.assert_array_equal(whole[:, j:j + 1], butterworth(x[:, j:j + 1], RATE, 8.0))


def test_fir_is_the_one_of_the_article():
    # fir1(30, 0.07, nuttallwin(31)) of MATLAB: a windowed sinc of unit gain at standstill, and
    # the four-term window with the coefficients that MATLAB documents.
    k = np.arange(FIR_ORDER + 1)
    a = (0.3635819, -0.4891775, 0.1365995, -0.0106411)
    window = sum(c * np.cos(2 * np.pi * i * k / FIR_ORDER) for i, c in enumerate(a))
    taps = np.sinc(0.07 * (k - FIR_ORDER / 2)) * window
    taps /= taps.sum()
    np.testing.assert_allclose(firwin(FIR_ORDER + 1, 0.07, window='nuttall'), taps, atol=1e-12)
    for frequency in (1.0, 5.0, 10.0, 20.0):
        once = (taps * np.exp(2j * np.pi * frequency / RATE * (k - FIR_ORDER / 2))).sum()
        gain = gain_and_phase(nuttall_fir(sine(frequency)), frequency)
        assert gain == pytest.approx(abs(once) ** 2, abs=1e-4)


def test_an_impulse_spreads_evenly_to_both_sides_as_far_as_the_fir_reaches():
    x = np.zeros((201, 1))
    x[100] = 1
    y = nuttall_fir(x)[:, 0]
    np.testing.assert_allclose(y, y[::-1], rtol=0, atol=1e-15)
    assert y.sum() == pytest.approx(1, abs=1e-12)
    far = np.abs(np.arange(201) - 100) > FIR_ORDER
    np.testing.assert_allclose(y[far], 0, rtol=0, atol=1e-15)


@settings(max_examples=30)
@given(st.lists(st.floats(-2, 2), min_size=5, max_size=5), st.floats(5, 500))
def test_polynomials_up_to_degree_four_are_differentiated_exactly_inside(coefficients, rate):
    p = np.polynomial.Polynomial(coefficients)
    t = np.linspace(-1, 1, 21) * 10 / rate
    d = differentiate(p(t)[:, None], rate)[:, 0]
    # Five points are exact to degree four; rounding is divided by the step.
    np.testing.assert_allclose(d[2:-2], p.deriv()(t)[2:-2], rtol=0, atol=1e-12 * rate + 1e-12)


def test_the_ends_are_differences_of_second_and_first_order():
    t = np.arange(30) / RATE
    d = differentiate((t**2)[:, None], RATE)[:, 0]
    np.testing.assert_allclose(d[1:-1], 2 * t[1:-1], atol=1e-12)
    np.testing.assert_allclose(d[[0, -1]], [1 / RATE, t[-1] + t[-2]], atol=1e-12)


def test_a_sine_keeps_its_derivative_within_the_error_of_the_formula():
    for rate in (30.0, 200.0):
        t, w = np.arange(300) / rate, 2 * np.pi
        d = differentiate(np.sin(w * t)[:, None], rate)[:, 0]
        # Leading error: (w h)^4 / 30.
        bound = 1.01 * w * (w / rate) ** 4 / 30
        assert np.abs(d - w * np.cos(w * t))[2:-2].max() < bound


def decimator(rate=100.0, cutoff=5.0, step=None):
    step = decimation_step(rate, cutoff) if step is None else step
    return Decimator(rate, cutoff, step)


def gain(taps, frequency, rate):
    k = np.arange(len(taps)) - len(taps) // 2
    return (taps * np.cos(2 * np.pi * frequency / rate * k)).sum()


@settings(max_examples=60)
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
