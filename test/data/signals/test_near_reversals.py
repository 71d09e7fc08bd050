# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction of a thinned stretch, against the same of all samples."""

from itertools import pairwise

import numpy as np
import pytest

from dynid_ros.arm.friction import FrictionShape, TERMS
from dynid_ros.data.signals import near_reversals
from dynid_ros.data.signals.filters import Decimator
from dynid_ros.data.signals.near_reversals import NearReversals

RATE, STEP = 1000.0, 6
LOW_PASS = Decimator(RATE, 50.0, STEP)
ROWS = Decimator(RATE / STEP, 5.0, 11)
VELOCITY_TERMS = [term for term in TERMS.values() if not term.needs_history]


def motion(seconds, speed):
    """Return a velocity and a load of two joints at the recorded rate."""
    w = 2 * np.pi * np.array([[0.11, 0.37, 0.73], [0.23, 0.59, 1.7]])
    t = np.arange(seconds * RATE) / RATE
    qd = speed * np.cos(w[:, :, None] * t + np.arange(3)[:, None]).sum(axis=1).T
    return qd, np.column_stack([np.sin(3 * t) - 2, 3 + np.cos(2 * t)])


def decimated(term, qd, load, part):
    """Evaluate a term in part of a thinned stretch, (k, n)."""
    near = NearReversals(LOW_PASS, qd, part)
    around = term.value(near.between(qd[near.around]), near.between(load[near.around]),
                        FrictionShape())
    values = term.value(qd, load, FrictionShape())[part].T.copy()
    near.decimated(values, around)
    return values.T


def everywhere(monkeypatch):
    """Evaluate friction at the recorded rate at all times."""
    monkeypatch.setattr(near_reversals, 'SAMPLES_TO_ZERO', 1e9)


@pytest.mark.parametrize('speed', [0.02, 0.3, 2.0])
@pytest.mark.parametrize('term', VELOCITY_TERMS, ids=lambda term: term.name)
def test_friction_is_as_exact_as_if_evaluated_at_the_recorded_rate_at_all_times(
        term, speed, monkeypatch):
    qd, load = motion(120, speed)
    exact = ROWS.whole(LOW_PASS.whole(term.value(qd, load, FrictionShape())))
    thinned = [LOW_PASS.whole(x) for x in (qd, load)]
    part = slice(0, len(thinned[0]))
    found = ROWS.whole(decimated(term, *thinned, part))
    everywhere(monkeypatch)
    peer = ROWS.whole(decimated(term, *thinned, part))
    # The first and last samples around are not known.
    errors = [np.sqrt(((x - exact)[3:-3]**2).mean()) for x in (found, peer)]
    assert errors[0] < 1.01 * errors[1] + 1e-12
    assert errors[0] < 2e-3 * np.abs(exact).max()


def test_a_step_of_friction_is_that_of_all_samples():
    qd, load = motion(4, 0.5)
    exact = LOW_PASS.whole(np.sign(qd))
    thinned = [LOW_PASS.whole(x) for x in (qd, load)]
    # Away from the ends, where the samples around are not known.
    part = slice(17, len(exact) - 23)
    found = decimated(TERMS['coulomb'], *thinned, part)
    # A joint turns round in the same sample of the recording, or in the next one.
    np.testing.assert_allclose(found, exact[part], atol=2.001 * LOW_PASS.taps.max())
    assert np.abs((found - exact[part]).mean(axis=0)).max() < 2e-3
    assert np.abs(np.sign(thinned[0]) - exact)[part].max() > 0.5


@pytest.mark.parametrize('low_pass', [LOW_PASS, Decimator(RATE, 47.0, 7), Decimator(RATE, 400, 2)],
                         ids=['6', '7', '2'])
@pytest.mark.parametrize('part', [slice(0, 20), slice(100, 131), slice(390, 400), slice(0, 400)])
def test_values_between_samples_lie_on_straight_lines_and_are_held_beyond_the_ends(
        part, low_pass, monkeypatch):
    x = np.random.default_rng(0).normal(size=(400, 2))
    everywhere(monkeypatch)
    step, reach = low_pass.step, low_pass.reach
    places = np.arange(part.start * step - reach, (part.stop - 1) * step + reach + 1) / step
    fine = np.column_stack([np.interp(places, np.arange(len(x)), column) for column in x.T])
    near = NearReversals(low_pass, x, part)
    found = np.zeros((2, part.stop - part.start))
    near.decimated(found, near.between(x[near.around])**3)
    np.testing.assert_allclose(found.T, low_pass.whole(fine**3), atol=1e-12)


def test_parts_of_a_stretch_have_the_values_of_the_whole():
    qd, load = (LOW_PASS.whole(x) for x in motion(20, 0.3))
    term, ends = TERMS['load'], [0, 1, 4, 99, 1000, len(qd)]
    parts = [decimated(term, qd, load, slice(*each))
             for each in pairwise(ends)]
    np.testing.assert_allclose(
        np.concatenate(parts), decimated(term, qd, load, slice(0, len(qd))), atol=1e-13)


def test_nothing_lies_between_samples_that_nothing_has_thinned():
    qd = np.array([[-1.0], [1.0], [-1.0], [1.0], [2.0], [3.0]])
    near = NearReversals(None, qd, slice(2, 6))
    assert near.between(qd[near.around]).size == 0
    values = np.sign(qd[2:].T)
    near.decimated(values, np.zeros(0))
    np.testing.assert_array_equal(values, np.sign(qd[2:].T))
