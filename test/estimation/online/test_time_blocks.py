# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Blocks of a stream: bounded in number, with the products of all of its rows."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np

from dynid_ros.estimation.blocks.groups import GROUPS
from dynid_ros.estimation.online.time_blocks import FIRST_BLOCK_ROWS, MOST_BLOCKS, TimeBlocks

JOINTS, PARAMETERS = 2, 3


def rows(samples, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(samples, JOINTS, PARAMETERS))
    return W, rng.normal(size=(samples, JOINTS)), rng.random((samples, JOINTS)) < 0.7


def products(blocks):
    """Of the rows of each block; the signs of factors do not matter."""
    return blocks.factors.swapaxes(2, 3) @ blocks.factors


def fed(W, tau, learned, portions):
    blocks, first = TimeBlocks(JOINTS, PARAMETERS), 0
    for count in portions:
        part = slice(first, first + count)
        blocks.add(W[part], tau[part], learned[part])
        first += count
    return blocks


@settings(max_examples=50)
@given(samples=st.integers(0, 3000), seed=st.integers(0, 10**6), size=st.integers(1, 400))
def test_groups_hold_all_rows_in_the_order_of_time_whatever_the_portions(samples, seed, size):
    W, tau, learned = rows(samples, seed)
    portions = [size] * (samples // size) + [samples % size]
    blocks, at_once = fed(W, tau, learned, portions), fed(W, tau, learned, [samples])
    assert len(blocks.rows) <= MOST_BLOCKS
    np.testing.assert_array_equal(blocks.rows, at_once.rows)
    np.testing.assert_allclose(products(blocks), products(at_once), atol=1e-9)
    groups = blocks.groups()
    assert len(groups) == min(GROUPS, -(-int(learned.any(axis=1).sum()) // FIRST_BLOCK_ROWS))
    kept = learned.any(axis=1)
    every = np.concatenate([W, tau[:, :, None]], axis=2)[kept] * learned[kept][:, :, None]
    counts, first = blocks.rows.sum(axis=0), 0
    np.testing.assert_array_equal(counts, learned.sum(axis=0))
    total = learned[kept]
    for group in groups:
        # As many samples as give these rows, from the end of the group before on.
        last = next(k for k in range(first, len(total) + 1)
                    if (total[first:k].sum(axis=0) == group.rows).all()
                    and (k - first) % FIRST_BLOCK_ROWS in (
                        0, (len(total) - first) % FIRST_BLOCK_ROWS))
        own = every[first:last]
        np.testing.assert_allclose(
            group.products, np.einsum('kja,kjb->jab', own, own), atol=1e-9)
        first = last


def test_a_restored_stream_goes_on_to_the_last_bit():
    W, tau, learned = rows(1000)
    whole, first = fed(W, tau, learned, [333, 667]), fed(W, tau, learned, [333])
    again = TimeBlocks(JOINTS, PARAMETERS)
    again.restore(first.state())
    again.add(W[333:], tau[333:], learned[333:])
    np.testing.assert_array_equal(again.factors, whole.factors)
    np.testing.assert_array_equal(again.rows, whole.rows)
