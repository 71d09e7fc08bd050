# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Causal conditioning against closed forms, and decimation against that of recordings."""

import numpy as np
import pytest

from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.data.signals.filters import Decimator, StreamDecimator
from dynid_ros.data.streaming.causal_conditioning import CausalConditioner, HALF_WINDOW, ShortLag

RATE = 200.0


def sines(samples=1200):
    t = np.arange(samples) / RATE
    angle = 2 * np.pi * np.array([0.4, 0.9]) * t[:, None]
    return t, np.sin(angle), np.cos(angle) * 2 * np.pi * np.array([0.4, 0.9])


def test_positions_velocities_and_torque_belong_to_the_same_time():
    t, q, qd = sines()
    conditioner = CausalConditioner(ConditioningSettings(10.0, False, 'causal', RATE, 1), 2)
    u = 3 * q + qd
    late, q_out, qd_out, u_out = conditioner.apply(np.column_stack([t, q, u]))
    k = slice(conditioner.lag, conditioner.lag + len(late))
    np.testing.assert_array_equal(late, t[k])
    np.testing.assert_array_equal(u_out, u[k])
    # The low-pass passes a tenth of its cut-off but for its ripple, 0.1 %.
    np.testing.assert_allclose(q_out, q[k], atol=2e-3)
    np.testing.assert_allclose(qd_out, qd[k], atol=2e-3 * np.abs(qd).max())


@pytest.mark.parametrize('delay', [0.0173, -0.0173, 0.3])
def test_a_late_torque_is_put_back(delay):
    t, q, _ = sines()
    u = np.sin(2 * np.pi * 0.5 * (t[:, None] - delay)) * np.ones((1, 2))
    treatment = ConditioningSettings(10.0, False, 'causal', RATE, 1, delay=delay)
    late, _, _, u_out = CausalConditioner(treatment, 2).apply(np.column_stack([t, q, u]))
    # Linear interpolation between samples: (w T)² / 8.
    truth = np.sin(2 * np.pi * 0.5 * late)[:, None] * np.ones((1, 2))
    np.testing.assert_allclose(u_out, truth, atol=(np.pi / RATE) ** 2 / 7)


def test_blocks_of_any_length_give_the_numbers_of_one():
    t, q, qd = sines(700)
    x = np.column_stack([t, q, qd])
    treatment = ConditioningSettings(8.0, False, 'causal', RATE, 1)
    whole = CausalConditioner(treatment, 2).apply(x)
    portions = CausalConditioner(treatment, 2)
    parts = [portions.apply(part) for part in np.split(x, [1, 30, 31, 200, 650])]
    for k, expected in enumerate(whole):
        np.testing.assert_array_equal(np.concatenate([part[k] for part in parts]), expected)


@pytest.mark.parametrize('step', [1, 7, 60])
def test_kept_samples_are_those_of_the_recording_in_any_portions(step):
    x = np.random.default_rng(0).normal(size=(503, 4))
    decimator = Decimator(RATE, 10.0, step)
    stream = StreamDecimator(decimator, 4)
    for _ in range(2):
        out = np.concatenate([stream.apply(part) for part in np.split(x, [3, 4, 40, 390])])
        np.testing.assert_array_equal(out, decimator.whole(x))
        # As after a gap.
        stream.reset()


@pytest.mark.parametrize('rate', [30.0, 125.0, 500.0, 1000.0])
@pytest.mark.parametrize('delay', [0.0, 0.004, 0.05, -0.004])
def test_motion_and_torque_keep_the_same_time(rate, delay):
    t = np.arange(400) / rate
    w = 2 * np.pi * np.array([0.5, 1.0])
    # The torque says when it was; it lags by the delay.
    half = int(HALF_WINDOW * rate) / rate
    late = max(delay, -half)
    tau = np.column_stack([t - late, np.cos(w[0] * (t - late))])
    samples = np.column_stack([t, np.sin(w * t[:, None]), tau])
    filtered = ShortLag(rate, 2, delay)
    parts = [filtered.apply(samples[k:k + 13]) for k in range(0, 400, 13)]
    found = [np.concatenate(column) for column in zip(*parts, strict=True)]
    time, q, qd, torque = found
    assert len(time) > 300
    # The window takes h² w² / 16 or so off.
    np.testing.assert_allclose(q, np.sin(w * time[:, None]), atol=1e-3)
    np.testing.assert_allclose(qd, w * np.cos(w * time[:, None]), rtol=1e-3, atol=5e-3 * w[1])
    np.testing.assert_allclose(torque[:, 0], time, atol=1e-9)
    assert t[-1] - time[-1] == pytest.approx(filtered.lag / rate)
    assert filtered.lag / rate <= HALF_WINDOW + 2 / rate + max(0.0, late + 1 / rate) + 1e-9
