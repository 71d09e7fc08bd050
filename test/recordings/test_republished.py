"""Streams that are published at another rate than they are measured at."""

from dataclasses import replace

import numpy as np
import pytest

from dynid_ros.recordings.quality import check_recording, clean
from dynid_ros.recordings.recording import Recording
from dynid_ros.recordings.republished import as_measured

JOINTS = ('j1', 'j2', 'j3')


def measured(t):
    """Positions and efforts at some times: those of a motion without noise."""
    phase = np.arange(3)
    q = np.sin(2 * np.pi * 0.4 * t[:, None] + phase) + 0.3 * np.sin(5 * t[:, None] + 2 * phase)
    return q, 20 * np.cos(3 * t[:, None] + phase)


def republished(rate, source_rate, seconds=30.0, jitter=0.0):
    """Publish the newest sample of a driver, with the stamps of the publisher."""
    t = np.arange(0.0, seconds, 1 / rate)
    stamps = t + jitter / rate * np.random.default_rng(3).uniform(-1, 1, len(t))
    newest = np.floor(t * source_rate + 0.3) / source_rate
    q, u = measured(newest)
    return Recording(stamps, q, u, JOINTS), newest


@pytest.mark.parametrize(
    ('rate', 'source_rate'), [(30, 29.4), (100, 98.3), (500, 317), (1000, 125)])
def test_stamps_become_those_of_the_measurement_but_for_one_delay(rate, source_rate):
    log, newest = republished(rate, source_rate)
    found = as_measured(log)
    truth = np.unique(newest)
    assert len(found.t) == len(truth)
    away = found.t - truth
    # The even stamps are a fit to stamps that are one period of the publisher apart.
    assert np.ptp(away) < 0.15 / rate
    (defect,) = found.defects
    assert defect.code == 'samples_republished'
    assert defect.count == len(log.t) - len(truth)
    assert f'measures at {source_rate:.4g} Hz' in defect.message


def test_jitter_of_the_publisher_does_not_matter():
    log, newest = republished(100, 97, jitter=0.1)
    away = as_measured(log).t - np.unique(newest)
    assert np.ptp(away) < 0.15 / 100


def test_velocities_no_longer_jump():
    log, _ = republished(30, 29.4)

    def roughest(recording):
        speed = np.diff(recording.q, axis=0) / np.diff(recording.t)[:, None]
        return np.abs(np.diff(speed, axis=0)).max()

    assert roughest(as_measured(log)) < 0.3 * roughest(log)


def test_samples_that_came_late_keep_their_stamps():
    """After a late message the next one shows the motion of two periods."""
    t = np.arange(0.0, 20.0, 0.01)
    index = np.arange(len(t))
    index[50::50] -= 1
    q, u = measured(t[index])
    log = Recording(t, q, u, JOINTS)
    assert as_measured(log) is log


def test_rests_are_no_repetition():
    t = np.arange(0.0, 20.0, 0.01)
    q, u = measured(np.clip(t, 5.0, 12.0))
    log = Recording(t, q, u, JOINTS)
    assert as_measured(log) is log


def test_efforts_that_differ_show_samples_of_their_own():
    log, _ = republished(30, 29.4)
    log = replace(log, u=log.u + 1e-9 * np.random.default_rng(0).normal(size=log.u.shape))
    assert as_measured(log) is log


def test_a_check_reports_it_and_a_clean_recording_is_as_measured():
    from dynid_ros.arm import load_arm

    arm = load_arm('two_axis')
    log, _ = republished(30, 29.4, seconds=60.0)
    log = Recording(log.t, log.q[:, :2], log.u[:, :2], arm.joint_names)
    assert [d.code for d in check_recording(log, arm) if d.code.startswith('samples')] == [
        'samples_republished']
    assert len(clean(log, arm).t) == len(np.unique(log.q[:, 0]))
