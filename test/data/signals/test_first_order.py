# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The filters of both sides match, in blocks as in one."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.data.signals.first_order import FirstOrderFilter

LAMBDA, PERIOD = 30.0, 1e-3


def filtered(x, p=None):
    return FirstOrderFilter(LAMBDA, PERIOD, x.shape[1]).apply(x, p)


def sine(w, samples=4000):
    t = np.arange(samples) * PERIOD
    return t, np.sin(w * t)[:, None], w * np.cos(w * t)[:, None]


@given(cuts=st.lists(st.integers(0, 60), max_size=6), seed=st.integers(0, 1000))
@settings(max_examples=30)
def test_blocks_of_any_length_give_the_numbers_of_one(cuts, seed):
    x, p = np.random.default_rng(seed).normal(size=(2, 60, 3))
    stream = FirstOrderFilter(LAMBDA, PERIOD, 3)
    edges = [0, *sorted(cuts), 60]
    parts = [stream.apply(x[a:b], p[a:b]) for a, b in pairwise(edges)]
    np.testing.assert_array_equal(np.concatenate(parts), filtered(x, p))


def test_both_sides_match_where_simpson_integrates():
    # Error (w T)^4 / 180 of the derivative at a quarter of the Nyquist frequency.
    w = 0.25 * np.pi / PERIOD
    _, p, derivative = sine(w)
    left, right = filtered(np.zeros_like(p), p), filtered(derivative)
    assert np.linalg.norm(left - right) < (w * PERIOD) ** 4 / 150 * np.linalg.norm(right)


def test_a_stream_that_starts_in_full_motion_is_right_from_its_first_row():
    # The derivative of a ramp is a constant: no discretisation errs, so only a start-up
    # transient could make a difference. The first hold takes half a sample of the gain.
    p = 100.0 + 5.0 * np.arange(50)[:, None] * PERIOD
    left = filtered(np.zeros_like(p), p)
    right = filtered(np.full_like(p, 5.0))
    ratio = (left / right).ravel()
    np.testing.assert_allclose(ratio, ratio[-1], rtol=1e-9)
    assert ratio[0] == pytest.approx(1.0, abs=LAMBDA * PERIOD)


def test_reset_forgets_the_past():
    x = np.random.default_rng(3).normal(size=(20, 2))
    stream = FirstOrderFilter(LAMBDA, PERIOD, 2)
    first = stream.apply(x)
    stream.reset()
    np.testing.assert_array_equal(stream.apply(x), first)
