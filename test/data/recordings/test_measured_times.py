# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The clocks of logs: repeats, late stamps, and the newest state of another loop."""

from dataclasses import replace

from estimates import estimated
import numpy as np
from oracles import random_arm
import pytest
from synthetic_recordings import recording, Waves

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import Drive
from dynid_ros.arm.friction import PLAIN_TERMS
from dynid_ros.data.recordings.measured_times import as_measured
from dynid_ros.data.recordings.quality import check_recording, clean
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters

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
    # The first sample may have been published before the log began.
    away = (found.t - truth)[1:]
    # The even stamps are a fit to stamps that are one period of the publisher apart.
    assert np.ptp(away) < 0.15 / rate
    (defect,) = found.defects
    assert defect.code == 'samples_republished'
    assert defect.count == len(log.t) - len(truth)
    assert f'measures at {source_rate:.4g} Hz' in defect.message


def test_the_states_of_a_source_whose_rate_wanders_keep_the_stamps_of_their_reader():
    # Even times would be off by 0.14 s, though the motion is smoother over a few samples.
    steps = 0.0128 * (1 + 0.05 * np.sin(np.arange(4000) / 300))
    steps[2000] = 0.4
    times = np.cumsum(steps)
    t = np.arange(times[0], times[-1], 0.01)
    newest = times[np.searchsorted(times, t, side='right') - 1]
    q, u = measured(newest)
    arm = load_arm('two_axis')
    log = Recording(t, q[:, :2], u[:, :2], arm.joint_names)
    assert np.isin(as_measured(log).t, t).all()
    assert 'the driver gave no new ones' in ' '.join(
        d.message for d in check_recording(log, arm) if d.code == 'stamps_gap')


def test_the_states_of_a_source_whose_clock_drifts_get_even_stamps():
    # By 20 ms, twice the period, in a quarter of a minute.
    even = np.arange(0.0, 60.0, 0.01)
    times = even + 0.02 * np.sin(2 * np.pi * even / 60)
    t = np.arange(0.5, 59.0, 0.001)
    q, u = measured(times[np.searchsorted(times, t, side='right') - 1])
    late = 0.004 * np.random.default_rng(2).uniform(size=len(t))
    found = as_measured(Recording(np.sort(t + late), q, u, JOINTS))
    assert found.clock.kind == 'even'
    assert np.ptp(np.diff(found.t)) < 1e-9


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
    found = as_measured(Recording(t, q, u, JOINTS))
    np.testing.assert_array_equal(found.t, t[np.unique(index)])


def test_rests_are_no_repetition():
    t = np.arange(0.0, 20.0, 0.01)
    q, u = measured(np.clip(t, 5.0, 12.0))
    log = Recording(t, q, u, JOINTS)
    assert as_measured(log) is log


def test_rests_between_repetitions_stay_at_the_rate_of_the_measurement():
    t = np.arange(0.0, 20.0, 0.006)
    q, u = measured(np.clip(t, 5.0, 12.0))
    log = Recording(0.002 * np.arange(3 * len(t)), *np.repeat([q, u], 3, axis=1), JOINTS)
    found = as_measured(log.part(1, len(log.t)))
    np.testing.assert_allclose(np.diff(found.t), 0.006, atol=0.0021)
    np.testing.assert_array_equal(found.q, q)


def test_an_arm_that_mostly_rests_keeps_its_rate():
    """At rest only a few digits of the signals flicker now and then."""
    t = np.arange(0.0, 40.0, 0.01)
    q, u = measured(np.clip(t, 5.0, 9.0))
    u[::37, 1] += 0.01
    for size in (3, 1):
        log = Recording(size * t, np.round(q, 4), np.round(u, 2), JOINTS)
        found = as_measured(log)
        assert np.median(np.diff(found.t)) == pytest.approx(size * 0.01)
        assert len(found.t) > 0.9 * len(t)


def test_a_rest_is_never_thinned():
    t = np.arange(0.0, 20.0, 0.01)
    q, u = measured(np.full_like(t, 5.0))
    u[::37, 1] += 0.01
    log = Recording(t, q, u, JOINTS)
    assert as_measured(log) is log


def arrived(lost=(), jitter=0.0008, seconds=20.0):
    """State of 100 Hz that a logger of 1 kHz reads, some of which never arrives."""
    random = np.random.default_rng(1)
    t = np.delete(np.arange(0.0, seconds, 0.01), lost)
    q, u = measured(t)
    q += random.normal(0, 1e-5, q.shape)
    arrival = np.maximum.accumulate(t + np.abs(random.normal(0, jitter, len(t))))
    stamps = np.arange(0.005, seconds - 0.01, 0.001)
    newest = np.searchsorted(arrival, stamps, side='right') - 1
    return Recording(stamps, q[newest], u[newest], JOINTS), t[np.unique(newest)]


@pytest.mark.parametrize('lost', [(), (300, 800, 801, 1500)])
def test_a_logger_that_is_faster_gives_the_stamps_of_the_measurement(lost):
    log, truth = arrived(lost)
    found = as_measured(log)
    assert len(found.t) == len(truth)
    assert np.ptp(found.t - truth) < 1e-4


def test_even_stamps_that_cannot_be_told_from_the_motion_stay_as_they_are():
    log, truth = arrived(jitter=0.003)
    found = as_measured(replace(log, q=log.q + 0.05 * np.sin(1e4 * log.q)))
    assert len(found.t) == len(truth)
    assert np.isin(found.t, log.t).all()


@pytest.fixture(scope='module')
def driver():
    """Arm, what its driver measures, and the estimate from that."""
    arm = load_arm('two_axis')
    arm = replace(arm, drive=Drive.joint_torque(arm.n))
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    noise = 0.002 * np.random.default_rng(0).normal(size=(3000, arm.n))
    source = recording(arm, Waves.random(arm), theta, noise, rate=500 / 3)
    return arm, source, estimated(arm, [source], friction=PLAIN_TERMS)


@pytest.mark.slow
@pytest.mark.parametrize('first', [0, 1, 2])
@pytest.mark.parametrize('missing', [(), (500, 501), (500, 501, 502, 503, 504)])
def test_the_model_does_not_depend_on_where_a_log_of_repeats_begins(driver, first, missing):
    arm, source, whole = driver
    log = replace(source, t=0.002 * np.arange(3 * len(source.t)),
                  **{name: np.repeat(getattr(source, name), 3, axis=0) for name in 'qu'})
    keep = np.delete(np.arange(first, len(log.t)), missing)
    log = replace(log, t=log.t[keep], q=log.q[keep], u=log.u[keep])
    model = estimated(arm, [log], friction=PLAIN_TERMS)
    assert model.treatment.rate_hz == pytest.approx(500 / 3, rel=1e-3)
    assert model.treatment.cutoff_hz == pytest.approx(whole.treatment.cutoff_hz, rel=0.05)
    assert model.validation.relative_error_percent < (
        1.1 * whole.validation.relative_error_percent)


def test_efforts_that_differ_show_samples_of_their_own():
    log, _ = republished(30, 29.4)
    log = replace(log, u=log.u + 1e-9 * np.random.default_rng(0).normal(size=log.u.shape))
    assert as_measured(log) is log


def test_a_check_reports_it_and_a_clean_recording_is_as_measured():
    arm = load_arm('two_axis')
    log, _ = republished(30, 29.4, seconds=60.0)
    log = Recording(log.t, log.q[:, :2], log.u[:, :2], arm.joint_names)
    assert [d.code for d in check_recording(log, arm) if d.code.startswith('samples')] == [
        'samples_republished']
    assert len(clean(log, arm).t) == len(np.unique(log.q[:, 0]))


def stalled(log, start, samples):
    """Repeat the positions of a sample, while drive signals go on."""
    q = log.q.copy()
    q[start + 1:start + 1 + samples] = q[start]
    return replace(log, q=q)


def turning(rate=100.0, seconds=20.0):
    """Record joints that are fast enough to jump after a stall."""
    t = np.arange(0.0, seconds, 1 / rate)
    q = 0.8 * np.sin(2.5 * t[:, None] + np.arange(3))
    rng = np.random.default_rng(0)
    return Recording(t, q + 1e-5 * rng.normal(size=q.shape), rng.normal(size=q.shape), JOINTS)


@pytest.mark.parametrize('rate', [100.0, 500.0])
@pytest.mark.parametrize('stall', [0.08, 0.1, 0.2])
def test_positions_that_stall_are_cut_out(limited, rate, stall):
    log, samples = turning(rate), round(stall * rate)
    # The first joint is fastest where its phase is a multiple of π.
    starts = np.rint(rate * (np.pi * np.array([3, 10]) / 2.5 - stall / 2)).astype(int).tolist()
    bad, lost = log, []
    for start in starts:
        bad = stalled(bad, start, samples)
        lost += range(start + 1, start + 1 + samples)
    found = {d.code: d for d in check_recording(bad, limited)}
    assert set(found) <= {'position_stalled', 'stamps_gap'}
    assert (found['position_stalled'].severity, found['position_stalled'].count) == (
        'warning', len(lost))
    np.testing.assert_array_equal(clean(bad, limited).q, np.delete(log.q, lost, axis=0))
    assert not check_recording(log, limited)


def test_positions_that_stall_without_a_jump_are_cut_out(limited):
    """Of an arm of unknown limits, 0.3 rad in a sample of 10 ms are none."""
    arm = replace(limited, limits=replace(limited.limits, velocity=np.full(3, np.inf)))
    log = stalled(turning(), 370, 12)
    found = {d.code: d for d in check_recording(log, arm)}
    assert found['position_stalled'].count == 12 and 'position_jump' not in found


def polled(stall, rate=100.0, source=250.0, fault=0.0):
    """
    Log the newest state of a source that stalls at 7.6 s, where the first joint is fast.

    The first state after the stall is one from its beginning, read before the newest one, with
    which an encoder may fail.
    """
    log = turning(source)
    t = np.arange(0.1, 19.0, 1 / rate)
    newest = np.floor(t * source + 1e-6).astype(int)
    begin = int(np.argmin(np.abs(t - 7.54)))
    last = begin + round(stall * rate)
    newest[begin:last] = newest[begin]
    newest[last] = newest[begin] + 2
    q = log.q[newest]
    q[last + 1:] += fault * np.sign(q[last + 1] - q[begin])
    return Recording(t, q, log.u[newest], JOINTS), last


@pytest.mark.parametrize('stall', [0.08, 0.1, 0.2])
def test_a_late_state_after_a_stall_of_its_source_costs_its_sample(limited, stall):
    log, late = polled(stall)
    slow = replace(limited, limits=replace(limited.limits, velocity=np.full(3, 0.1)))
    found = {d.code: d for d in check_recording(log, slow)}
    assert found['stamps_misplaced'].count == 1 and 'position_jump' not in found
    assert log.t[late] not in clean(log, slow).t


@pytest.mark.parametrize('stall', [0.02, 0.08, 0.2])
def test_an_encoder_that_fails_after_a_stall_jumps(limited, stall):
    """Its way adds to that of the motion, which alone would be none, or a late state."""
    log, _ = polled(stall, fault=0.6)
    assert 'position_jump' in {d.code for d in check_recording(log, limited)}


@pytest.mark.parametrize('step', [1e-4, 2e-3, 0.02])
def test_a_coarse_encoder_does_not_stall(limited, step):
    """Slow joints stand still for many samples, all at the same time."""
    t = np.arange(0.0, 60.0, 0.01)
    q = step * np.rint((0.3 * np.sin(0.4 * t[:, None]) + 0.02 * np.sin(3 * t[:, None])) / step)
    slow = Recording(t, np.repeat(q, 3, axis=1),
                     np.random.default_rng(0).normal(size=(len(t), 3)), JOINTS)
    assert 'position_stalled' not in {d.code for d in check_recording(slow, limited)}


def test_positions_of_a_slower_sensor_do_not_stall(limited):
    """Each stands in ten samples of the drive signals."""
    log = turning(1000.0)
    slower = replace(log, q=log.q[10 * (np.arange(len(log.t)) // 10)])
    assert 'position_stalled' not in {d.code for d in check_recording(slower, limited)}


@pytest.mark.parametrize('dwell', [0.06, 0.1, 0.3])
@pytest.mark.parametrize('step', [1e-5, 1e-3])
def test_a_motion_that_stops_and_goes_on_does_not_stall(limited, step, dwell):
    t = np.arange(0.0, 20.0, 0.01)
    number, phase = np.divmod(t, 1.0 + dwell)
    share = np.clip(phase, 0.0, 1.0)
    way = number + np.where(share < 0.5, 2 * share**2, 1 - 2 * (1 - share)**2)
    q = step * np.rint(0.1 * way[:, None] * np.array([1.0, 0.6, 0.3]) / step)
    log = Recording(t, q, np.random.default_rng(0).normal(size=q.shape), JOINTS)
    assert 'position_stalled' not in {d.code for d in check_recording(log, limited)}


def test_a_jump_after_a_rest_is_no_stall(limited):
    log = turning()
    q = log.q.copy()
    # At rest from bit to bit, as with coarse encoders, before the encoder fails.
    q[1000:1100] = q[1000]
    q[1100:] += q[1000] - q[1100]
    q[1060:1100] += 0.7
    q[1100:] += 0.7
    found = [d.code for d in check_recording(replace(log, q=q), limited)]
    assert 'position_stalled' not in found and 'position_jump' in found


@pytest.fixture(scope='module')
def limited():
    """Joints of 2 rad/s, as of an arm."""
    made = random_arm(np.random.default_rng(0), 3, prismatic=False)
    return replace(made, limits=replace(made.limits, velocity=np.full(3, 2.0)))
