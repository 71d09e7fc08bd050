# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Standstill is told from motion joint by joint."""

import numpy as np
import pytest

from dynid_ros.data.signals.filters import Decimator
from dynid_ros.data.signals.standstill import (
    in_motion,
    LONG_PAUSE,
    motion_windows,
    moving,
    RunningStandstill,
    SHORTEST_STANDSTILL_SECONDS,
    spoiled_beside,
    SPOILED_WEIGHT,
    STANDSTILL_SPEED,
    STILL_SHARE,
    time_in_motion,
)
from dynid_ros.utilities import in_blocks

RATE = 100.0


def test_passing_through_zero_velocity_is_motion():
    t = np.arange(2000) / RATE
    qd = np.stack([np.sin(0.5 * t), np.sin(3 * t)], axis=1)
    assert moving(qd, RATE).all()


@pytest.mark.parametrize('rest', [0.3, 2.0])
def test_a_rest_is_marked_in_the_joint_that_rests_and_nowhere_else(rest):
    qd = np.ones((1000, 2))
    stop = 400 + int(rest * RATE)
    qd[400:stop, 0] = 0.5 * STILL_SHARE
    expected = np.ones((1000, 2), dtype=bool)
    expected[400:stop, 0] = False
    np.testing.assert_array_equal(moving(qd, RATE), expected)


def test_a_rest_at_either_end_is_marked():
    qd = np.ones((1000, 1))
    qd[:50] = qd[-60:] = 0.0
    np.testing.assert_array_equal(np.flatnonzero(~moving(qd, RATE)[:, 0]),
                                  [*range(50), *range(940, 1000)])


def test_a_rest_shorter_than_the_least_is_motion():
    qd = np.ones((1000, 1))
    least = int(SHORTEST_STANDSTILL_SECONDS * RATE)
    qd[100:100 + least - 1] = 0
    assert moving(qd, RATE).all()
    qd[100:100 + least] = 0
    assert (~moving(qd, RATE)).sum() == least


def test_the_low_pass_takes_less_than_its_share_from_a_standstill_where_a_row_counts():
    low_pass = Decimator(RATE, 5.0, 6)
    qd = np.ones((1000, 1))
    qd[400:450] = qd[480:490] = qd[500:530] = 0.0
    still = moving(qd, RATE) == 0
    weight = np.abs(low_pass.taps) / np.abs(low_pass.taps).sum()
    mixed = np.convolve(still[:, 0], weight, 'same')
    counts = moving(qd, RATE, beside=spoiled_beside(low_pass))[:, 0]
    assert mixed[counts].max() <= SPOILED_WEIGHT
    # Not a sample more beside a long standstill.
    assert mixed[np.flatnonzero(~counts[:400])].min() > 0.9 * SPOILED_WEIGHT


@pytest.mark.parametrize('portion', [1, 7, 50, 1000])
def test_a_stream_finds_the_standstill_of_a_recording_once_it_has_lasted(portion):
    low_pass = Decimator(RATE, 5.0, 6)
    rng = np.random.default_rng(3)
    qd = np.ones((3000, 3))
    for joint, start, length in zip(
            rng.integers(3, size=40), rng.integers(100, 3000, 40), rng.integers(1, 90, 40),
            strict=True):
        qd[start:start + length, joint] = 0.0
    q = np.cumsum(qd, axis=0) / RATE
    stream, found = RunningStandstill(3), []
    stream.design(low_pass, RATE)
    given = 0
    for first in range(0, len(qd), portion):
        part = slice(first, first + portion)
        stream.take(q[part], qd[part])
        count = min(first + portion, len(qd)) - 1
        rows = low_pass.outputs(count) - given
        given += rows
        found.append(stream.moving(rows, count - low_pass.step * given))
    at = low_pass.reach + low_pass.step * np.arange(given)
    beside = spoiled_beside(low_pass)
    batch, live = in_motion(q, qd, RATE, beside)[at], np.concatenate(found)
    # A row is due while a standstill that is beginning can still be short.
    early = np.zeros_like(batch)
    for before, joint in np.argwhere(np.diff(moving(qd, RATE).astype(int), axis=0) < 0):
        early[(at <= before) & (at > before - beside), joint] = True
    assert (live[~early] == batch[~early]).all()
    assert (live | ~batch).all()
    assert (~batch).sum() > 100


def test_a_joint_that_others_shake_is_at_rest_in_a_stream_too():
    t = np.arange(1000) / RATE
    q = np.stack([2e-4 * np.sin(20 * t), 0.3 * np.sin(t)], axis=1)
    stream, low_pass = RunningStandstill(2), Decimator(RATE, 5.0, 6)
    stream.design(low_pass, RATE)
    qd = np.gradient(q, 1 / RATE, axis=0)
    assert np.abs(qd[:, 0]).max() > STANDSTILL_SPEED
    stream.take(q, qd)
    rows = low_pass.outputs(len(q) - 1)
    moves = stream.moving(rows, len(q) - 1 - low_pass.step * rows)
    assert not moves[:, 0].any() and moves[:, 1].all()


def test_a_joint_that_never_moves_rests_throughout():
    creep = 0.9 * STANDSTILL_SPEED * np.sin(np.arange(1000) / RATE)
    assert not moving(np.stack([creep, 0 * creep], axis=1), RATE).any()


def test_direction_does_not_matter():
    qd = np.random.default_rng(0).normal(size=(500, 3)).cumsum(axis=0)
    qd[100:200, 1] = 0
    np.testing.assert_array_equal(moving(qd, RATE), moving(-qd, RATE))


def stop_and_go(rests, seconds=40.0, rate=RATE, noise=1e-5):
    """Two joints that stop where `rests` says; return stamps, positions, and who moves when."""
    t = np.arange(round(seconds * rate)) / rate
    goes = np.ones(len(t), dtype=bool)
    for start, stop in rests:
        goes[(t >= start) & (t < stop)] = False
    own = np.cumsum(goes) / rate
    q = np.stack([np.sin(own), 0.3 * np.cos(2 * own)], axis=1)
    return t, q + noise * np.random.default_rng(0).normal(size=q.shape), own


@pytest.mark.parametrize('rate', [30.0, 125.0, 1000.0])
@pytest.mark.parametrize('rests', [
    [(30, 41)], [(0, 12)], [(10, 25)], [(0, 4), (9, 13.3), (33, 41)]])
def test_time_stops_while_the_arm_waits(rests, rate):
    t, q, own = stop_and_go(rests, rate=rate)
    # Half of the time that positions are averaged over, at either end of a rest.
    assert np.abs(time_in_motion(t, q) - own).max() < SHORTEST_STANDSTILL_SECONDS * 2 * len(rests)


def test_time_of_a_motion_without_a_rest_is_that_of_the_clock():
    t, q, _ = stop_and_go([(10, 10 + 0.8 * LONG_PAUSE)])
    np.testing.assert_allclose(time_in_motion(t + 7, q), t, atol=1e-9)
    np.testing.assert_allclose(time_in_motion(t, np.zeros((len(t), 3))), t)


def test_time_in_motion_takes_gaps_and_few_samples():
    t, q, own = stop_and_go([(30, 41)])
    kept = (t < 10) | (t > 14)
    assert time_in_motion(t[kept], q[kept])[-1] == pytest.approx(
        own[-1], abs=2 * SHORTEST_STANDSTILL_SECONDS)
    np.testing.assert_allclose(time_in_motion(t[:3], q[:3]), t[:3])


def test_windows_of_rest_are_those_of_mean_positions(monkeypatch):
    monkeypatch.setattr(in_blocks, 'SAMPLES_PER_BLOCK', 61)
    t, q, _ = stop_and_go([(10, 25)], noise=1e-4)
    kept = np.random.default_rng(0).uniform(size=len(t)) > 0.5
    t, q = t[kept] + 3, q[kept]
    number = ((t - t[0]) / SHORTEST_STANDSTILL_SECONDS).astype(int)
    number[-1] = number[-2]
    windows = np.unique(number)
    middle, place = (np.array([x[number == k].mean(axis=0) for k in windows]) for x in (t, q))
    middle[[0, -1]] = t[[0, -1]]
    speed = np.diff(place, axis=0) / np.diff(
        [t[number == k].mean() for k in windows])[:, None]
    edges, moves = motion_windows(t, q)
    np.testing.assert_allclose(edges, middle, atol=1e-9)
    np.testing.assert_array_equal(
        moves, moving(speed, 1 / SHORTEST_STANDSTILL_SECONDS, LONG_PAUSE))
    assert 0 < moves.mean() < 1
