"""Standstill is told from motion joint by joint."""

import numpy as np
import pytest

from dynid_ros.signals.standstill import moving, SHORTEST, SLOWEST, STILL

RATE = 100.0


def test_passing_through_zero_velocity_is_motion():
    t = np.arange(2000) / RATE
    qd = np.stack([np.sin(0.5 * t), np.sin(3 * t)], axis=1)
    assert moving(qd, RATE).all()


@pytest.mark.parametrize('rest', [0.3, 2.0])
def test_a_rest_is_marked_in_the_joint_that_rests_and_nowhere_else(rest):
    qd = np.ones((1000, 2))
    stop = 400 + int(rest * RATE)
    qd[400:stop, 0] = 0.5 * STILL
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
    least = int(SHORTEST * RATE)
    qd[100:100 + least - 1] = 0
    assert moving(qd, RATE).all()
    qd[100:100 + least] = 0
    assert (~moving(qd, RATE)).sum() == least


def test_a_joint_that_never_moves_rests_throughout():
    creep = 0.9 * SLOWEST * np.sin(np.arange(1000) / RATE)
    assert not moving(np.stack([creep, 0 * creep], axis=1), RATE).any()


def test_direction_does_not_matter():
    qd = np.random.default_rng(0).normal(size=(500, 3)).cumsum(axis=0)
    qd[100:200, 1] = 0
    np.testing.assert_array_equal(moving(qd, RATE), moving(-qd, RATE))
