# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A motion that comes back is found, whatever lies between, and others are not."""

import numpy as np
import pytest

from dynid_ros.data.signals.repetition import on_one_axis, repeats, repetition_shift

#: No whole number of samples at any rate below.
PERIOD = 7.3131


def periodic(t, seed=0, period=PERIOD, joints=3):
    rng = np.random.default_rng(seed)
    w = 2 * np.pi * np.arange(1, 6)[:, None] / period
    a, p = rng.uniform(0.2, 1.0, (5, joints)) / w, rng.uniform(0, 2 * np.pi, (5, joints))
    return (a * np.sin(w * np.asarray(t)[:, None, None] + p)).sum(axis=1)


def stretch(begin, end, rate=125.0, **chosen):
    t = np.arange(begin, end, 1 / rate)
    noise = 1e-3 * np.random.default_rng(int(1e3 * begin)).normal(size=(len(t), 3))
    return t, periodic(t, **chosen) + noise


def resting(part, seconds):
    """Let the arm wait at the end of a stretch."""
    t, q = part
    more = t[-1] + np.arange(1, round(seconds * 125)) / 125
    return np.append(t, more), np.concatenate([q, np.repeat(q[-1:], len(more), axis=0)])


@pytest.mark.parametrize('rate', [30.0, 125.0, 1000.0])
def test_a_later_period_repeats_an_earlier_one(rate):
    assert repeats([stretch(0, 15, rate)], *stretch(15, 22, rate))


def test_it_repeats_in_another_recording_that_begins_elsewhere():
    t, q = stretch(100.3, 110.3)
    assert repeats([stretch(3, 9, seed=1), stretch(1, 13)], t - t[0], q)


def test_waiting_for_long_counts_for_nothing():
    assert repeats([stretch(0, 12)], *resting(stretch(12, 18), 60.0))
    assert not repeats([resting(stretch(0, 12), 60.0)], *resting(stretch(12, 18, seed=1), 60.0))


@pytest.mark.parametrize('other', [
    {'seed': 1}, {'period': 0.77 * PERIOD}, {'period': 1.1 * PERIOD}])
def test_another_motion_or_another_speed_is_no_repetition(other):
    assert not repeats([stretch(0, 22)], *stretch(22, 30, **other))


def test_a_motion_is_judged_by_most_of_its_way():
    same, other = stretch(22, 30), stretch(30, 34, seed=1)
    t, q = (np.concatenate(parts) for parts in zip(same, other, strict=True))
    assert repeats([stretch(0, 22)], t, q)
    longer = stretch(30, 44, seed=1)
    t, q = (np.concatenate(parts) for parts in zip(same, longer, strict=True))
    assert not repeats([stretch(0, 22)], t, q)


@pytest.mark.parametrize('end', [2.0, 3.0, 5.5])
def test_the_shift_is_the_period_or_a_multiple(end):
    shift = repetition_shift(on_one_axis([stretch(0, end * PERIOD)]))
    assert shift is not None
    assert abs(shift / PERIOD - round(shift / PERIOD)) * PERIOD <= 0.5 / 20 + 1e-9


def test_two_recordings_of_one_motion_repeat_each_other():
    t, q = stretch(0, 6)
    axis = on_one_axis([(t, q), (t, q + 1e-3), stretch(0, 6, seed=3)])
    assert (np.diff(np.concatenate([each for each, _ in axis])) > 0).all()
    assert repetition_shift(axis) == pytest.approx(axis[1][0][0] - axis[0][0][0], abs=0.5 / 20)


@pytest.mark.parametrize('part', [stretch(0, 1.2 * PERIOD), stretch(0, 6, period=40.0),
                                  resting(stretch(0, 5), 30.0), stretch(0, 0.5)])
def test_what_is_run_once_has_no_shift(part):
    assert repetition_shift([part]) is None


def test_an_arm_that_stands_still_repeats_nothing():
    t, q = stretch(0, 12)
    still = np.repeat(q[:1], len(t), axis=0)
    assert repetition_shift([(t, still)]) is None
    assert not repeats([(t, q)], t, still)
    assert not repeats([(t, still)], t, q)
