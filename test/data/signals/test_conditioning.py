# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Conditioning against closed forms."""

from dataclasses import replace

import numpy as np
import pytest

from dynid_ros.arm.drive import Drive
from dynid_ros.data.signals.conditioning import (
    condition,
    ConditioningSettings,
    position_cutoff,
)
from dynid_ros.data.signals.segments import Segment
from dynid_ros.data.signals.standstill import STANDSTILL_SPEED
from dynid_ros.errors import RecordingError

RATE, SECONDS = 200.0, 30.0
T = np.arange(int(RATE * SECONDS)) / RATE
W = 2 * np.pi * np.array([[0.2, 0.5], [0.4, 0.3]])
A = np.array([[0.5, 0.2], [0.1, 0.4]])
INNER = slice(200, -200)
DRIVE = Drive.joint_torque(2)


def truth(t, order):
    angle = W * t[:, None, None] + order * np.pi / 2
    return (A * W**order * np.sin(angle)).sum(axis=1)


def segment(noise=0.0):
    q = truth(T, 0) + noise * np.random.default_rng(0).normal(size=(len(T), 2))
    return Segment(T + 3.0, q, np.stack([np.cos(T), np.sin(T)], axis=1))


def treatment(**changes):
    return replace(ConditioningSettings(5.0, False, 'butterworth', RATE, 13), **changes)


@pytest.mark.parametrize(('kind', 'gain'), [('butterworth', 1e-6), ('fir', 0.02)])
def test_derivatives_are_those_of_the_motion_without_lag(kind, gain):
    motion = condition(segment(), treatment(filter=kind), DRIVE)
    for order, values in enumerate((motion.q, motion.qd, motion.qdd)):
        exact = truth(T, order)
        # The pass band of each filter, and the five-point formula at 400 samples a wave.
        np.testing.assert_allclose(
            values[INNER], exact[INNER], rtol=0, atol=(gain + 1e-6) * np.abs(exact).max())
    assert motion.moving.all()
    np.testing.assert_array_equal(motion.t, T + 3.0)


def test_encoder_noise_of_a_tenth_of_a_millirad_leaves_accelerations_of_use():
    motion = condition(segment(1e-4), treatment(), DRIVE)
    error = (motion.qdd - truth(T, 2))[INNER].std()
    band = position_cutoff(treatment())
    # White noise through the second derivative up to the band: sigma w² sqrt(share / 5).
    bound = 1e-4 * (2 * np.pi * band) ** 2 * np.sqrt(band / (RATE / 2) / 5)
    assert 0.3 * bound < error < bound


def test_torque_is_gain_times_signal_and_left_for_the_parallel_filter():
    drive = Drive('current', np.array([2.0, -3.0]), np.array([[1.0, 0], [0.5, 1.0]]), np.zeros(2))
    recorded = segment()
    motion = condition(recorded, treatment(), drive)
    motor = recorded.u * [2.0, -3.0]
    # A motor that turns joint 1 along by a half puts half of its torque on it.
    np.testing.assert_allclose(motion.tau[:, 0], motor[:, 0] + 0.5 * motor[:, 1], atol=1e-15)
    np.testing.assert_allclose(motion.tau[:, 1], motor[:, 1], atol=1e-15)


def test_a_rest_is_marked():
    recorded = segment()
    q = recorded.q.copy()
    q[2000:2600, 0] = q[2000, 0]
    motion = condition(replace(recorded, q=q), treatment(), DRIVE)
    assert not motion.moving[2150:2450, 0].any()
    assert motion.moving[:, 1].all()


def test_a_joint_that_others_shake_is_at_rest():
    recorded = segment()
    q = recorded.q.copy()
    q[:, 0] = 2e-4 * np.sin(20 * recorded.t)
    motion = condition(replace(recorded, q=q), treatment(), DRIVE)
    # Faster than a standstill, but it does not leave its place.
    assert np.abs(motion.qd[:, 0]).max() > STANDSTILL_SPEED
    assert not motion.moving[:, 0].any()
    assert motion.moving[:, 1].all()


def test_a_periodic_motion_gives_one_period_with_exact_derivatives():
    recorded = segment(1e-4)
    chosen = treatment(filter='periodic', period=10.0, cutoff_hz=2.0)
    motion = condition(recorded, chosen, DRIVE)
    reach = chosen.decimator().reach
    assert len(motion.t) == 2000 + 2 * reach
    kept = motion.t[reach:-reach] - 3.0
    np.testing.assert_allclose(kept, T[:2000], atol=1e-12)
    # Noise of 1e-4 over three periods of 2000 samples, in the lines below the cut-off.
    band = position_cutoff(chosen)
    noise = 1e-4 / np.sqrt(3) * np.sqrt(band / (RATE / 2))
    for order, values in enumerate((motion.q, motion.qd, motion.qdd)):
        exact = truth(kept, order)
        bound = 5 * noise * (2 * np.pi * band) ** order
        np.testing.assert_allclose(values[reach:-reach], exact, rtol=0, atol=bound)
    # Continued at both ends, as far as the decimating filter reaches.
    np.testing.assert_array_equal(motion.q[:reach], motion.q[2000:2000 + reach])
    np.testing.assert_array_equal(motion.tau[-reach:], motion.tau[reach:2 * reach])


def test_every_kept_sample_of_a_period_counts_once():
    for step in (7, 10):
        chosen = treatment(filter='periodic', period=10.0, cutoff_hz=2.0, decimation=step)
        motion = condition(segment(), chosen, DRIVE)
        kept = chosen.decimator().outputs(len(motion.t))
        assert kept == -(-2000 // step)


@pytest.mark.parametrize(('before', 'after'), [(0.5, 0.5), (25.0, 0.0), (3.0, 42.0)])
def test_of_a_periodic_motion_between_rests_only_the_motion_is_taken(before, after):
    ahead, behind = (round(rest * RATE) for rest in (before, after))
    # With ramps of 2 s from rest and to rest.
    whole = np.arange(-400, len(T) + 400) / RATE
    fade = np.clip(np.minimum(whole + 2, T[-1] + 2 - whole) / 2, 0, 1)[:, None]
    q = truth(whole, 0) * fade**2 * (3 - 2 * fade)
    q = np.pad(q, ((ahead, behind), (0, 0)), mode='edge')
    t = np.arange(len(q)) / RATE - before - 2
    recorded = Segment(t, q, np.stack([np.cos(0.2 * np.pi * t), t > 40], axis=1))
    chosen = treatment(filter='periodic', period=10.0, cutoff_hz=2.0)
    motion = condition(recorded, chosen, DRIVE)
    reach = chosen.decimator().reach
    kept = motion.t[reach:-reach]
    assert len(kept) == 2000
    for order, values in enumerate((motion.q, motion.qd, motion.qdd)):
        exact = truth(kept, order)
        # What little of a ramp may be left where one period does not end at a sample.
        np.testing.assert_allclose(
            values[reach:-reach], exact, rtol=0, atol=1e-3 * np.abs(exact).max())
    np.testing.assert_allclose(motion.tau[:, 0], np.cos(0.2 * np.pi * motion.t), atol=1e-9)
    assert not motion.tau[:, 1].any()


def test_standstill_is_no_periodic_motion():
    q = np.repeat(truth(np.array([0.0]), 0), len(T), axis=0)
    once = np.concatenate([q, truth(T[:2000], 0), q])
    t = np.arange(len(once)) / RATE
    with pytest.raises(RecordingError, match=r'does not repeat itself every 10 s'):
        condition(Segment(t, once, once), treatment(filter='periodic', period=10.0), DRIVE)


def test_a_motion_that_does_not_repeat_with_the_given_period_is_refused():
    with pytest.raises(RecordingError, match=r'does not repeat itself every 9\.3 s'):
        condition(segment(), treatment(filter='periodic', period=9.3), DRIVE)
    named = replace(segment(), source='walk.db3')
    with pytest.raises(RecordingError, match=r'^walk\.db3: the motion does not repeat'):
        condition(named, treatment(filter='periodic', period=9.3), DRIVE)
