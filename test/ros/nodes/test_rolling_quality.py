# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Checks of the last seconds of a stream, which cost the recorder time to take samples in."""

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.ros.nodes.recording import rolling_quality
from dynid_ros.ros.nodes.recording.rolling_quality import RollingQuality

ARM, RATE = load_arm('two_axis'), 100


@pytest.fixture
def checked(monkeypatch):
    """Return a list of the samples in each check."""
    counts, check = [], rolling_quality.check_recording

    def counted(recording, arm):
        counts.append(len(recording.t))
        return check(recording, arm)

    monkeypatch.setattr(rolling_quality, 'check_recording', counted)
    return counts


def fed(quality, start, seconds, lost=()):
    """Feed ten samples at a time; return the codes that each report after them names."""
    reported = []
    for first in range(round(start * RATE), round((start + seconds) * RATE), 10):
        k = np.arange(first, first + 10)
        p = np.sin(0.02 * k[:, None] + [0.0, 1.0])
        u = np.cos(0.03 * k[:, None] + [0.0, 1.0])
        u[np.isin(k, lost), 1] = np.nan
        quality.add(10**18 + k * (10**9 // RATE), p, u)
        reported.append({defect.code for defect in quality.defects()})
    return reported


def test_a_stream_is_checked_each_second_however_often_there_are_reports(checked):
    quality = RollingQuality(ARM, 'states')
    reported = fed(quality, 0.0, 5.0, lost=(130, 131))
    # Of its last three seconds, and of a whole first one.
    assert checked == [100, 200, 300, 301, 301]
    named = ['effort_nan' in codes for codes in reported]
    # The second in which they are ends after the twentieth report.
    assert named.index(True) == 19 and all(named[19:40])
    assert 'effort_nan' not in fed(quality, 5.0, 1.0)[-1]


def test_a_pause_shows_the_defects_of_the_last_samples_and_is_checked_once(checked):
    quality = RollingQuality(ARM, 'states')
    assert not any(fed(quality, 0.0, 0.5, lost=(45,)))
    assert checked == []
    for _ in range(3):
        assert {defect.code for defect in quality.defects()} == {'effort_nan'}
    assert checked == [50]


def test_samples_that_all_have_one_stamp_are_checked_each_time(checked):
    quality = RollingQuality(ARM, 'states')
    for _ in range(3):
        quality.add(np.full(10, 10**18), np.zeros((10, 2)), np.zeros((10, 2)))
        quality.defects()
    assert checked == [10, 20, 30]
