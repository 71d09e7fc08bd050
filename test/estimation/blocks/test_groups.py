# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Groups of rows: phases of what repeats, recordings, parts of time."""

from dataclasses import replace

import numpy as np
import pytest
from results import condition_recording
from synthetic_recordings import Waves

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.model import Conditioning
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.conditioning import ConditioningSettings
from dynid_ros.estimation.blocks.groups import GROUPS, motion_groups

RATE, REACH = 50.0, 30
SETTINGS = ConditioningSettings(5.0, False, 'butterworth', RATE, 2)


@pytest.fixture(scope='module')
def arm():
    return replace(load_arm('two_axis'), drive=Drive.joint_torque(2),
                   conditioning=Conditioning(cutoff_hz=5.0, delay=0.0))


def stretches(arm, positions):
    """Condition recordings of positions."""
    return [motion for q in positions for motion in condition_recording(
        arm, Recording(np.arange(len(q)) / RATE, q, np.zeros_like(q), arm.joint_names), SETTINGS)]


def aperiodic(seconds, seed=0):
    """Move without any return."""
    t = np.arange(round(seconds * RATE)) / RATE
    return np.column_stack([np.sin(t + (0.05 + 0.01 * seed) * t**2 / 2 + seed),
                            np.cos(0.7 * t + 0.03 * t**2 + seed)])


def test_one_recording_is_cut_in_time_where_anything_moves(arm):
    q = aperiodic(60.0)
    q[1000:2000] = q[1000]
    (motion,) = stretches(arm, [q])
    (numbers,) = motion_groups([motion], REACH)
    assert (np.diff(numbers) >= 0).all()
    inner = np.zeros(len(q), dtype=bool)
    inner[REACH:-REACH] = True
    counts = np.bincount(numbers[motion.moving.any(axis=1) & inner])
    assert len(counts) == GROUPS and np.ptp(counts) <= 1


def test_a_motion_that_repeats_is_grouped_by_its_phase(arm):
    period = Waves.random(arm, 1).at(np.arange(round(10 * RATE)) / RATE)[0]
    period = np.concatenate([period, period[::-1]])
    (motion,) = stretches(arm, [np.tile(period, (4, 1))])
    (numbers,) = motion_groups([motion], REACH)
    first = numbers[:len(period)]
    assert len(np.unique(first)) == GROUPS
    for k in range(1, 4):
        again = numbers[k * len(period):(k + 1) * len(period)]
        assert (first == again).mean() > 0.98


def test_the_same_motion_of_two_recordings_is_grouped_together(arm):
    q = aperiodic(30.0)
    parts = stretches(arm, [q, q])
    one, other = motion_groups(parts, REACH)
    assert (one == other).mean() > 0.98
    assert len(np.unique(one)) == GROUPS


@pytest.mark.parametrize(('count', 'groups'), [(2, 10), (3, 12), (7, 14), (10, 10), (13, 13)])
def test_different_recordings_never_share_a_group(arm, count, groups):
    parts = stretches(arm, [aperiodic(12.0 + k, seed=k) for k in range(count)])
    numbers = motion_groups(parts, REACH)
    seen = [set(own.tolist()) for own in numbers]
    assert sum(map(len, seen)) == len(set().union(*seen)) == groups
