"""Order statistics in passes are those of sorting."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.recordings import order_statistics
from dynid_ros.recordings.in_blocks import BLOCK, Computed, differences
from dynid_ros.recordings.order_statistics import median, percentile


@pytest.fixture(autouse=True, params=[0, 10**6])
def sorted_values(request, monkeypatch):
    monkeypatch.setattr(order_statistics, 'SORTED', request.param)


VALUES = st.one_of(
    st.floats(-1e300, 1e300), st.sampled_from([0.0, -0.0, 1.0, 1e-3, 5e-324, -5e-324]))


@given(st.lists(VALUES, min_size=1, max_size=40), st.floats(0, 100))
@settings(max_examples=60, deadline=None)
def test_median_and_percentile_of_any_numbers(values, percent):
    x = np.array(values)
    signal = Computed(len(x), lambda part: x[part])
    wanted = np.percentile(x, percent)
    # Neighbours are exact, and what lies between them is rounded otherwise.
    assert percentile(signal, percent) == pytest.approx(
        wanted, rel=1e-12, abs=1e-12 * np.abs(x).max())
    assert median(signal) == pytest.approx(np.median(x), rel=1e-15)


@pytest.mark.parametrize('size', [1e-9, 1.0, 1e9])
def test_percentile_of_several_blocks(size):
    x = size * np.random.default_rng(0).normal(size=2 * BLOCK + 17)
    found = percentile(Computed(len(x), lambda part: np.abs(x[part])), 95.0)
    assert found == pytest.approx(np.percentile(np.abs(x), 95.0), rel=1e-14)


def test_the_median_step_of_stamps_with_gaps():
    t = np.delete(np.arange(3 * BLOCK) / 1000, [5, 6, BLOCK, 2 * BLOCK])
    assert median(differences(t)) == np.median(np.diff(t))
