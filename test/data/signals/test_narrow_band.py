# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Stretches in a narrower band, against those that are conditioned for the lower cut-off."""

import numpy as np
import pytest

from dynid_ros.arm.drive import Drive
from dynid_ros.data.signals.conditioning import condition, ConditioningSettings
from dynid_ros.data.signals.filters import decimation_step
from dynid_ros.data.signals.narrow_band import KEPT_CUTOFFS, narrowed
from dynid_ros.data.signals.segments import Segment

SECONDS, CUTOFF = 40.0, 1.2
DRIVE = Drive.joint_torque(2)


def stretch(rate):
    t = 3.0 + np.arange(int(rate * SECONDS)) / rate
    angle = 2 * np.pi * np.array([0.2, 0.3]) * t[:, None]
    # Encoder noise, and a vibration that lies above both cut-offs.
    q = np.sin(angle) + 1e-5 * np.random.default_rng(0).normal(size=(len(t), 2))
    return Segment(t, q, np.cos(angle) + 0.1 * np.sin(2 * np.pi * 30.0 * t)[:, None])


def conditioned(rate, cutoff):
    settings = ConditioningSettings(
        cutoff, True, 'butterworth', rate, decimation_step(rate, cutoff))
    return settings, condition(stretch(rate), settings, DRIVE)


@pytest.mark.parametrize(('rate', 'step'), [(70.0, 1), (1000.0, 27)])
def test_motion_and_filtered_torque_are_those_of_the_lower_cut_off(rate, step):
    settings, motion = conditioned(rate, 5.0)
    marks = motion.t[:, None] > np.array([10.0, 20.0])
    band, (narrow,), (kept,) = narrowed(settings, CUTOFF, [motion], [marks])
    assert band.rate_hz == rate / step
    assert band.rate_hz > KEPT_CUTOFFS * CUTOFF
    _, exact = conditioned(rate, CUTOFF)
    at = np.searchsorted(motion.t, narrow.t)
    np.testing.assert_array_equal(motion.t[at], narrow.t)
    np.testing.assert_array_equal(kept, marks[at])
    inner = slice(len(at) // 20, -len(at) // 20)
    for name in ('q', 'qd', 'qdd'):
        expected = getattr(exact, name)[at][inner]
        np.testing.assert_allclose(
            getattr(narrow, name)[:][inner], expected, atol=2e-3 * np.abs(expected).max())
    # A cosine at the rows of the low-pass, which takes the vibration out.
    rows = band.decimator()
    tau = rows.whole(narrow.tau)
    t = narrow.t[rows.reach:][::rows.step][:len(tau)]
    pure = np.cos(2 * np.pi * np.array([0.2, 0.3]) * t[:, None])
    np.testing.assert_allclose(tau, pure, atol=5e-3)


def test_a_stretch_that_is_too_short_is_left_out_with_its_marks():
    settings, motion = conditioned(1000.0, 5.0)
    _, short = conditioned(1000.0, 5.0)
    part = slice(0, 100)
    short = type(motion)(
        motion.t[part], motion.q[part], motion.qd[part], motion.qdd[part], motion.tau[part],
        motion.moving[part], motion.warmth)
    marks = [np.zeros(each.q.shape, dtype=bool) for each in (motion, short)]
    _, motions, kept = narrowed(settings, 0.3, [motion, short], marks)
    assert len(motions) == len(kept) == 1
    assert kept[0].shape == motions[0].q.shape
