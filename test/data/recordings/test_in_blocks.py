"""Reductions by blocks are those of whole signals, also across the edges of blocks."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np

from dynid_ros.data.recordings.in_blocks import (
    all_within,
    BLOCK,
    blocks,
    chosen,
    finite_span,
    transformed,
    where,
)

LENGTHS = st.sampled_from([1, 2, 31, 33, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 5])


@settings(max_examples=40, deadline=None)
@given(LENGTHS, st.integers(0, 2**32 - 1), st.booleans())
def test_the_span_is_that_of_the_whole_signal(length, seed, holes):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(length, 3))
    if holes:
        x[rng.uniform(size=x.shape) < 0.1] = rng.choice([np.nan, np.inf, -np.inf])
    finite = np.isfinite(x)
    lowest, highest = finite_span(x)
    np.testing.assert_array_equal(lowest, np.where(finite, x, np.inf).min(axis=0))
    np.testing.assert_array_equal(highest, np.where(finite, x, -np.inf).max(axis=0))
    largest = np.abs(x[finite]).max(initial=0.0)
    assert all_within(x, largest) == finite.all()
    assert not all_within(x, 0.999 * largest)


@settings(max_examples=20, deadline=None)
@given(LENGTHS, st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_chosen_and_marked_samples_are_those_of_the_whole_signal(length, seed, share):
    x = np.random.default_rng(seed).uniform(size=(length, 2))
    keep = x[:, 0] < share
    np.testing.assert_array_equal(chosen(x, keep), x[keep])
    np.testing.assert_array_equal(transformed(x, np.sqrt), np.sqrt(x))
    count, first = where(x, lambda part: part < share)
    np.testing.assert_array_equal(count, (x < share).sum(axis=0))
    for j in np.flatnonzero(count):
        assert first[j] == np.argmax(x[:, j] < share)


def test_blocks_back_are_the_same_in_the_other_order():
    assert list(blocks(3 * BLOCK + 1, back=True)) == list(blocks(3 * BLOCK + 1))[::-1]
