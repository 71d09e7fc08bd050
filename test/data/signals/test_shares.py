# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Outputs of a decimator, summed up by blocks of samples, against the decimator itself."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np

from dynid_ros.data.signals.filters import Decimator, Shares


@settings(max_examples=60)
@given(st.integers(1, 40), st.integers(1, 12), st.floats(0.02, 0.4), st.integers(0, 300))
def test_shares_of_blocks_add_up_to_the_outputs(size, step, cutoff, more):
    decimator = Decimator(1.0, cutoff, step)
    x = np.random.default_rng(size).normal(size=(len(decimator.taps) + more, 2))
    expected = decimator.whole(x)
    found, shares = np.zeros_like(expected), Shares(decimator, size)
    for start in range(0, len(x), size):
        within, share = shares.of(start, len(expected))
        block = x[start:start + size]
        assert share.shape == (within.stop - within.start, size)
        found[within] += share[:, :len(block)] @ block
    # Sums of less than 300 products of numbers of order one.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
