# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Tests of the bend of contacts before they slide."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.arm.friction import PRESLIDING_DISTANCE
from dynid_ros.data.recordings.history import presliding_of, RunningPresliding


def test_friction_changes_sides_over_the_distance_however_fast():
    up = np.linspace(0.0, 1.0, 101)
    down = 1.0 - np.arange(1, 201) * 1e-3
    q = np.concatenate([up, down])[:, None]
    found = presliding_of(q)[:, 0]
    np.testing.assert_array_equal(found[1:101], 1.0)
    # The solution of dz = (-1 - z) |dq| / distance from z = 1.
    expected = -1 + 2 * np.exp(-(1.0 - down) / PRESLIDING_DISTANCE)
    np.testing.assert_allclose(found[101:], expected, rtol=1e-9)
    # Some of the samples: the same bends, since no time takes part.
    np.testing.assert_allclose(presliding_of(q[::4])[:, 0], found[::4], rtol=1e-9)


def test_a_joint_at_rest_keeps_its_bend_and_has_none_before_it_moves():
    q = np.array([0.0, 0.0, 0.1, 0.2, 0.199, 0.199, 0.199])[:, None]
    found = presliding_of(q)[:, 0]
    np.testing.assert_array_equal(found[:4], [0, 0, 1, 1])
    np.testing.assert_allclose(found[4:], -1 + 2 * np.exp(-1e-3 / PRESLIDING_DISTANCE))


@settings(max_examples=30)
@given(st.lists(st.integers(0, 299), max_size=6), st.integers(0, 10**6))
def test_a_stream_in_any_portions_is_bent_as_its_recording(cuts, seed):
    q = np.cumsum(np.random.default_rng(seed).normal(scale=3e-3, size=(300, 3)), axis=0)
    running = RunningPresliding(3)
    found = np.concatenate([running.take(part) for part in np.split(q, sorted(cuts))])
    np.testing.assert_array_equal(found, presliding_of(q))
    assert np.abs(found).max() <= 1


def test_a_stream_that_is_resumed_goes_on_and_one_that_is_reset_begins_anew():
    q = np.cumsum(np.random.default_rng(1).normal(scale=3e-3, size=(200, 2)), axis=0)
    first, second = RunningPresliding(2), RunningPresliding(2)
    first.take(q[:100])
    second.restore(first.state())
    np.testing.assert_array_equal(second.take(q[100:]), presliding_of(q)[100:])
    first.reset()
    np.testing.assert_array_equal(first.take(q[100:]), presliding_of(q[100:]))


def test_noise_far_below_the_distance_does_not_bend():
    t = np.arange(2000) / 1000
    q = np.column_stack([np.sin(2 * t)])
    noisy = q + np.random.default_rng(0).normal(scale=1e-7, size=q.shape)
    # Near the reversal steps of some samples take the sign of the noise.
    assert presliding_of(noisy) == pytest.approx(presliding_of(q), abs=1e-3)
