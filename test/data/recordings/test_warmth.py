# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Tests of the warmth of joints."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.arm.friction import WARM_SECONDS
from dynid_ros.data.recordings.warmth import (
    KEPT_STEPS,
    RunningWarmth,
    warmth_of,
    WARMTH_STEP_SECONDS,
)


def uniform(seconds: float, rate: float) -> np.ndarray:
    return np.arange(round(seconds * rate)) / rate


def test_a_joint_of_constant_speed_warms_by_a_first_order_lag():
    t = uniform(20.0, 250.0)
    speed = np.array([0.5, -2.0])
    found = warmth_of(t, t[:, None] * speed)
    at = np.array([1.0, 5.0, 19.5])
    # A value is held for a step at most.
    latest, earliest = (
        np.abs(speed) * np.sqrt(1 - np.exp(-x / WARM_SECONDS))[:, None]
        for x in (at, at - WARMTH_STEP_SECONDS))
    assert (found.at(at) <= latest + 1e-9).all()
    assert (found.at(at) >= earliest - 1e-9).all()


def test_a_joint_at_rest_cools():
    t = uniform(30.0, 100.0)
    q = np.minimum(t, 10.0)[:, None]
    found = warmth_of(t, q)
    before, after = found.at(np.array([10.0, 20.0]))[:, 0]
    # The root of what is left of the square after ten seconds.
    assert after / before == pytest.approx(np.exp(-10.0 / WARM_SECONDS / 2), rel=0.02)


def test_noise_of_positions_does_not_warm():
    rng = np.random.default_rng(0)
    t = uniform(10.0, 5000.0)
    q = np.column_stack([np.sin(t), np.sin(t)])
    noisy = q + rng.normal(scale=1e-4, size=q.shape)
    # Differences over a step: the variance of the speed by the noise is 2 (1e-4 / STEP)^2.
    assert warmth_of(t, noisy).at(t) == pytest.approx(warmth_of(t, q).at(t), abs=2e-3)


def test_before_its_first_step_a_recording_is_cold():
    found = warmth_of(np.array([3.0, 3.05]), np.array([[0.0], [1.0]]))
    assert (found.at(np.array([2.0, 3.0, 4.0])) == 0).all()


@pytest.mark.parametrize('start', [0.0, 1.7e9])
def test_warmth_changes_at_the_first_sample_after_each_step(start):
    rng = np.random.default_rng(1)
    # Some stamps repeat, and some are later than a step.
    t = start + np.cumsum(rng.choice([0.0, 0.004, 0.03, 0.25], size=400))
    t.flags.writeable = False
    edges = [0]
    while (later := np.flatnonzero(t >= t[edges[-1]] + WARMTH_STEP_SECONDS)).size:
        edges.append(int(later[0]))
    np.testing.assert_array_equal(warmth_of(t, np.zeros((400, 1))).t, t[edges])


@settings(max_examples=30)
@given(st.lists(st.integers(0, 499), max_size=6), st.integers(0, 10**6))
def test_a_stream_in_any_portions_is_as_warm_as_its_recording(cuts, seed):
    rng = np.random.default_rng(seed)
    # Shorter than what a stream remembers.
    t = np.cumsum(rng.uniform(1e-3, 0.03, size=500))
    q = np.cumsum(rng.normal(scale=0.01, size=(500, 3)), axis=0)
    running = RunningWarmth(3)
    for part in np.split(np.arange(500), sorted(cuts)):
        running.take(t[part], q[part])
    np.testing.assert_array_equal(running.at(t), warmth_of(t, q).at(t))


def test_a_stream_stays_warm_while_its_clock_is_set():
    t = uniform(10.0, 100.0)
    running = RunningWarmth(1)
    running.take(t, t[:, None])
    (before,) = running.at(t[-1:])
    running.take(t[:5], t[:5, None])
    assert running.at(t[:1])[0] == pytest.approx(before)


def test_a_long_stream_remembers_the_last_seconds_only():
    t = uniform(60.0, 100.0)
    running = RunningWarmth(1)
    running.take(t, t[:, None])
    assert len(running.times) == KEPT_STEPS
    late = t[-500:]
    np.testing.assert_allclose(running.at(late), warmth_of(t, t[:, None]).at(late))


def test_a_restored_stream_goes_on_as_the_first():
    t = uniform(10.0, 100.0)
    q = np.sin(3 * t)[:, None]
    first, second = RunningWarmth(1), RunningWarmth(1)
    first.take(t[:450], q[:450])
    second.restore(first.state())
    for running in (first, second):
        running.take(t[450:], q[450:])
    np.testing.assert_array_equal(first.at(t[450:]), second.at(t[450:]))
