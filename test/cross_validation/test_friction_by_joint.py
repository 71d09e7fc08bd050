"""Fits without single columns, as friction by joint compares them."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np

from dynid_ros.cross_validation.friction_by_joint import BlockFit
from dynid_ros.regression.rows import RowBlock
from dynid_ros.regression.weighted_least_squares import compress


def rows_of(rng, samples, joints, columns):
    W, tau = rng.normal(size=(samples, joints, columns)), rng.normal(size=(samples, joints))
    t, every = np.arange(float(samples)), np.ones((samples, joints), dtype=bool)
    return W, tau, compress(columns, [RowBlock(0, t, tau, tau, W, tau, every)])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(2, 6))
def test_a_block_is_left_with_what_a_fit_without_the_column_leaves(seed, joints, columns):
    rng = np.random.default_rng(seed)
    (W, tau, others), (V, unseen, block) = (
        rows_of(rng, samples, joints, columns) for samples in (30, 9))
    sigma = rng.uniform(0.5, 2.0, size=joints)
    found = BlockFit(block, others, sigma)
    kept = list(range(columns))

    def left(used):
        theta = np.linalg.lstsq(
            (W[:, :, used] / sigma[:, None]).reshape(-1, len(used)), (tau / sigma).ravel(),
            rcond=None)[0]
        return ((unseen - V[:, :, used] @ theta)**2).sum(axis=0)

    while len(kept) > 1:
        assert found.determined
        np.testing.assert_allclose(found.left()[:, 0], left(kept), rtol=1e-9)
        without = [[x for x in kept if x != each] for each in kept]
        np.testing.assert_allclose(
            found.left(np.arange(len(kept))), np.column_stack([left(x) for x in without]),
            rtol=1e-9)
        place = int(rng.integers(len(kept)))
        found.take_away(place)
        kept.pop(place)


def test_columns_that_the_others_do_not_determine_are_noticed():
    W, tau, block = rows_of(np.random.default_rng(0), 30, 2, 4)
    assert BlockFit(block, block, np.ones(2)).determined
    t, every = np.arange(30.0), np.ones((30, 2), dtype=bool)
    for dependent in (0.0, W[:, :, 0] - 2 * W[:, :, 1]):
        W[:, :, 2] = dependent
        twice = compress(4, [RowBlock(0, t, tau, tau, W, tau, every)])
        assert not BlockFit(twice, twice, np.ones(2)).determined
