# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction of a thinned stretch, against the same of all samples."""

import numpy as np
import pytest

from dynid_ros.data.signals.between_samples import BetweenSamples
from dynid_ros.data.signals.filters import Decimator, DecimatorsInSeries

RATE, STEP = 1000.0, 6
LOW_PASS = Decimator(RATE, 50.0, STEP)


def around(part: slice) -> slice:
    """Return the recorded samples that make some thinned ones."""
    return slice(part.start * STEP - LOW_PASS.reach, (part.stop - 1) * STEP + LOW_PASS.reach + 1)


def test_a_step_of_friction_is_that_of_all_samples():
    t = np.arange(4000) / RATE
    qd = np.cos(2 * np.pi * np.array([0.9, 1.7]) * t[:, None])
    exact = LOW_PASS.whole(np.sign(qd))
    kept = qd[LOW_PASS.reach::STEP][:len(exact)]
    # Away from the ends, where the samples around are not known.
    part = slice(17, len(exact) - 23)
    between = BetweenSamples(LOW_PASS, around(part), len(kept))
    found = LOW_PASS.whole(np.sign(between.finer(kept[between.around])).T)
    # A joint turns round in the same sample of the recording, or in the next one.
    np.testing.assert_allclose(found, exact[part], atol=2.001 * LOW_PASS.taps.max())
    assert np.abs((found - exact[part]).mean(axis=0)).max() < 1e-3
    assert np.abs(np.sign(kept) - exact)[part].max() > 0.5


@pytest.mark.parametrize('part', [slice(0, 20), slice(380, 400), slice(0, 400)])
def test_the_ends_of_a_stretch_have_as_many_samples(part):
    x = np.linspace(0.0, 1.0, 400)[:, None]
    between = BetweenSamples(LOW_PASS, around(part), len(x))
    again = LOW_PASS.whole(between.finer(x[between.around]).T)
    assert again.shape == x[part].shape
    np.testing.assert_allclose(again, x[part], atol=0.01)


@pytest.mark.parametrize('part', [slice(-40, 3), slice(100, 231), slice(2390, 2450),
                                  slice(2410, 2440)])
def test_values_between_samples_lie_on_straight_lines_and_are_held_beyond_the_ends(part):
    x = np.random.default_rng(0).normal(size=(400, 2))
    between = BetweenSamples(LOW_PASS, part, len(x))
    places = np.arange(part.start, part.stop) / STEP
    exact = [np.interp(places, np.arange(len(x)), column) for column in x.T]
    np.testing.assert_allclose(between.finer(x[between.around]), exact, atol=1e-12)


def test_nothing_lies_between_samples_that_nothing_has_thinned():
    x = np.arange(6.0)[:, None]
    between = BetweenSamples(None, slice(2, 4), len(x))
    assert between.around == slice(2, 4)
    np.testing.assert_array_equal(between.finer(x[between.around]), x[2:4].T)


def test_two_decimators_in_series_are_one():
    x, second = np.random.default_rng(1).normal(size=(5000, 3)), Decimator(RATE / STEP, 5.0, 11)
    both = DecimatorsInSeries(LOW_PASS, second)
    assert len(both.taps) == 2 * both.reach + 1
    np.testing.assert_allclose(both.whole(x), second.whole(LOW_PASS.whole(x)), atol=1e-14)
