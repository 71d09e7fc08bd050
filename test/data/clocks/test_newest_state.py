# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The newest state of a source with its own clock: found where there is one, and only there."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from dynid_ros.data.recordings.measured_times import as_measured
from dynid_ros.data.recordings.recording import Recording

JOINTS = ('j1', 'j2', 'j3')
#: Noise of an encoder of 20 bits, rad.
NOISE = 3e-6


def measured(t):
    """Positions and efforts of a smooth motion at some times."""
    phase = np.arange(3)
    q = np.sin(2 * np.pi * 0.4 * t[:, None] + phase) + 0.3 * np.sin(5 * t[:, None] + 2 * phase)
    return q, 20 * np.cos(3 * t[:, None] + phase)


def log_of(times, stamps, seed=0):
    """Log what was measured at some times, with other stamps."""
    source, of = np.unique(times, return_inverse=True)
    q, u = measured(source)
    random = np.random.default_rng(seed)
    q += random.normal(0, NOISE, q.shape)
    u += random.normal(0, 0.05, u.shape)
    return Recording(stamps, q[of], u[of], JOINTS)


def newest(stamps, rate, phase=0.3):
    return (np.floor(stamps * rate + phase) - phase) / rate


def polled(seconds, seed=0):
    """When a loop of about 1 kHz without a real-time system comes by, s."""
    random = np.random.default_rng(seed)
    steps = 0.7e-3 + random.gamma(1.2, 0.26e-3, int(1000 * seconds))
    steps[random.random(len(steps)) < 0.003] += 7e-3
    return np.cumsum(steps)


def away(found, stamps, truth):
    """Error of the times of a cleaned log, but for one delay, root mean square, s."""
    same = np.searchsorted(truth, found.t - np.median(stamps - truth))
    nearest = truth[np.clip(same, 0, len(truth) - 1)]
    return float(np.std(found.t - nearest))


@pytest.mark.parametrize(('logger', 'source'), [
    # The beat of a faster source is 46 Hz, 1 Hz, and that of a multiple of its rate.
    (200.0, 246.0), (100.0, 101.0), (125.0, 333.0), (200.0, 905.0)])
def test_the_states_get_the_times_of_their_source(logger, source):
    stamps = np.arange(0.0, 30.0, 1 / logger)
    truth = newest(stamps, source)
    found = as_measured(log_of(truth, stamps))
    assert found.clock.kind == 'newest'
    # A beat is the difference of both rates, which a slip of a tenth of a period would show.
    assert found.clock.rate_hz == pytest.approx(source, abs=0.1 / 30)
    assert len(found.t) == len(truth)
    # Some states beside the change from one to the next may be taken for their neighbours.
    assert np.std(found.t - truth) < 0.05 / source
    assert [defect.code for defect in found.defects] == ['state_age']
    assert f'{source:.5g} Hz' in found.defects[0].message


def test_a_polled_controller_gets_its_even_times():
    stamps = polled(15.0)
    truth = newest(stamps, 1000.0)
    found = as_measured(log_of(truth, stamps))
    assert found.clock.kind == 'newest'
    assert [defect.code for defect in found.defects] == ['samples_republished', 'state_age']
    steps = np.diff(found.t) * 1000.0
    # But for the window in which the clock is followed, steps are whole periods.
    assert np.mean(np.abs(steps - np.round(steps)) < 0.01) > 0.999
    assert len(found.t) == pytest.approx(len(np.unique(truth)), rel=1e-3)


def test_a_clock_is_followed_over_a_long_log():
    """The crystals of two computers drift apart by some 1e-5, which is many periods in minutes."""
    stamps = polled(200.0)
    drift = stamps + 2e-5 * stamps**2 / stamps[-1]
    truth = newest(drift, 1000.0)
    log = log_of(truth, stamps)
    steps = np.diff(as_measured(log).t) * 1000.0
    assert np.mean(np.abs(steps - np.round(steps)) < 0.02) > 0.99


@settings(max_examples=10)
@given(st.floats(100.0, 900.0), st.floats(0.0, 1.0), st.integers(0, 1000))
def test_states_of_any_source_are_never_rougher_than_before(source, phase, seed):
    stamps = np.arange(0.0, 12.0, 0.005)
    truth = newest(stamps, source, phase)
    found = as_measured(log_of(truth, stamps, seed))
    if found.clock is None:
        # Nothing to gain: the state is as old each time, or repeats.
        return
    keep = np.append(True, np.diff(truth) > 0)
    if len(found.t) == keep.sum():
        assert np.std(found.t - truth[keep]) <= np.std(stamps[keep] - truth[keep])


@pytest.mark.parametrize('seed', range(20))
def test_good_stamps_are_kept(seed):
    """Of twenty logs with true stamps, even or not, none gets another clock."""
    random = np.random.default_rng(seed)
    steps = np.full(3000, 0.005) if seed % 2 else random.uniform(0.004, 0.006, 3000)
    stamps = np.cumsum(steps)
    log = log_of(stamps, stamps, seed)
    assert as_measured(log).clock is None
    # Nor does the noise of a poor encoder show a clock.
    rough = replace(log, q=log.q + random.normal(0, 1e-3, log.q.shape))
    assert as_measured(rough).clock is None


def test_an_arm_at_rest_shows_no_clock():
    stamps = polled(10.0)
    log = log_of(np.full_like(stamps, 3.0), stamps)
    random = np.random.default_rng(1)
    still = replace(log, q=log.q + random.normal(0, NOISE, log.q.shape))
    assert as_measured(still) is still


def test_the_error_of_stamps_that_no_clock_explains_is_reported():
    """Stamps of a logger that writes even ones, while it reads when it can."""
    random = np.random.default_rng(2)
    stamps = np.arange(0.0, 20.0, 0.005)
    truth = stamps + random.normal(0, 0.0008, len(stamps))
    found = as_measured(log_of(truth, stamps))
    (defect,) = found.defects
    assert (defect.code, found.clock) == ('stamps_scatter', None)
    assert defect.value == pytest.approx(0.0008, rel=0.1)
