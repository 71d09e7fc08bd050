# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Wrong stamps cost their own samples only, and a clock that is set costs none."""

from dataclasses import replace
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.data.recordings.clock import with_one_clock
from dynid_ros.data.recordings.quality import check_recording, clean
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.recordings.stamp_checks import only_increasing
from dynid_ros.data.signals.segments import uniform_segments
from dynid_ros.data.signals.standstill import time_in_motion

N, RATE, SAMPLES = 3, 100.0, 2000
T = np.arange(SAMPLES) / RATE
HOUR = 3600.0
NAMES = ('j1', 'j2', 'j3')


@pytest.fixture(scope='module')
def arm():
    return random_arm(np.random.default_rng(0), N, prismatic=False)


def recording(t, rate=RATE, velocities=False):
    """Make a good recording, but for its stamps."""
    rng = np.random.default_rng(0)
    w = np.array([1.1, 1.7, 2.3])
    phase = w * np.arange(len(t))[:, None] / rate
    q = 1.2 * np.sin(phase) + 1e-5 * rng.normal(size=phase.shape)
    qd = 1.2 * w * np.cos(phase)
    u = -10 * q + 2 * np.sign(qd) + rng.normal(scale=0.1, size=q.shape)
    return Recording(t, q, u, NAMES, 'effort', 'made', qd if velocities else None,
                     as_logged=True)


def changed(place, value):
    t = T.copy()
    t[place] = value
    return t


def moved(place, step):
    t = T.copy()
    t[place] += step
    return t


def codes(log, arm):
    return {(d.code, d.severity): d.count for d in check_recording(log, arm)}


@pytest.mark.parametrize(('t', 'bad'), [
    (changed(-1, 1e9), [1999]), (changed(-1, 1e18), [1999]), (changed(0, 1e6), [0]),
    (moved(700, HOUR), [700]), (moved(700, -1e5), [700]), (changed([5, 9], np.inf), [5, 9]),
    (changed([0, 800, -1], np.nan), [0, 800, 1999]), (changed(0, -np.inf), [0]),
    (moved(slice(700, 703), 1e7), [700, 701, 702]),
    (changed([4, 90], [1e308, -1e308]), [4, 90]),
    (moved(slice(-20, None), 1e6), range(1980, 2000))])
def test_wrong_stamps_cost_their_own_samples_and_are_counted(arm, t, bad):
    log = recording(t)
    cleaned = clean(log, arm)
    np.testing.assert_array_equal(cleaned.q, np.delete(log.q, bad, axis=0))
    np.testing.assert_array_equal(cleaned.u, np.delete(log.u, bad, axis=0))
    # Time counts from the first good sample on.
    good = np.delete(T, bad)
    np.testing.assert_allclose(cleaned.t, good - (good[0] if bad[0] == 0 else 0), atol=1e-9)
    assert codes(log, arm)['stamps_far_off', 'warning'] == len(bad)


@settings(max_examples=60)
@given(st.dictionaries(
    st.integers(0, SAMPLES - 1),
    st.floats(min_value=-1e12, max_value=1e12).filter(lambda x: not -1000 < x < 1000)
    | st.just(np.nan) | st.just(np.inf), min_size=1, max_size=12))
def test_any_few_wrong_stamps_leave_all_other_samples(wrong):
    log = recording(changed(list(wrong), list(wrong.values())))
    kept = with_one_clock(log)
    np.testing.assert_array_equal(kept.q, np.delete(log.q, list(wrong), axis=0))
    (defect,) = kept.defects
    assert (defect.code, defect.count) == ('stamps_far_off', len(wrong))
    again = with_one_clock(kept)
    assert again is kept


@pytest.mark.parametrize('step', [2 * HOUR, -2 * HOUR, 3e8, -1.7e9, -15.0, -0.5])
def test_a_clock_that_is_set_cuts_the_recording_and_costs_no_sample(arm, step):
    log = recording(moved(slice(1200, None), step))
    (defect,) = check_recording(log, arm)
    assert (defect.code, defect.severity) == ('clock_set', 'warning')
    assert defect.first_stamp == pytest.approx(11.99)
    assert defect.value == pytest.approx(step, rel=1e-9)
    how = f'set back by {-step:.6g} s' if step < 0 else f'set forward by {step:.6g} s'
    assert how in defect.message and 'after 11.99 s' in defect.message
    assert 'gap' not in defect.message
    cleaned = clean(log, arm)
    np.testing.assert_array_equal(cleaned.q, log.q)
    first, second = uniform_segments(cleaned, RATE)
    # Stamps of 1e9 s have a resolution of 1e-7 s.
    np.testing.assert_allclose(first.q, log.q[:1200], atol=1e-5)
    np.testing.assert_allclose(second.q, log.q[1200:], atol=1e-5)
    assert cleaned.seconds < 30


def test_a_clock_that_is_set_at_the_start_of_a_short_recording_costs_no_sample(arm):
    t = np.arange(3000) / 2000.0
    t[400:] += 1e6
    log = recording(t, 2000.0)
    assert codes(log, arm) == {('clock_set', 'warning'): 1}
    np.testing.assert_array_equal(clean(log, arm).q, log.q)


@pytest.mark.parametrize('value', [np.nan, 1e12])
def test_many_wrong_stamps_are_an_error(arm, value):
    t = T.copy()
    t[5::15] = value
    defect = next(d for d in check_recording(recording(t), arm) if d.severity == 'error')
    assert defect.count >= 133
    assert 'record again' in defect.message


def test_a_clock_that_is_set_and_set_right_again_gives_two_defects(arm):
    log = recording(moved(slice(800, None), HOUR) - np.where(T >= 15, HOUR, 0))
    found = check_recording(log, arm)
    assert [(d.code, np.sign(d.value)) for d in found] == [('clock_set', 1), ('clock_set', -1)]
    assert len(uniform_segments(clean(log, arm), RATE)) == 3


def test_a_pause_is_a_gap_and_keeps_its_length(arm):
    log = recording(moved(slice(1200, None), 300.0))
    assert codes(log, arm) == {('stamps_gap', 'warning'): 1}
    np.testing.assert_array_equal(clean(log, arm).t, log.t)


def test_a_real_gap_is_still_reported_beside_a_clock_that_was_set(arm):
    t = moved(slice(1200, None), -2 * HOUR)
    t[1600:] += 0.3
    found = {d.code: d for d in check_recording(recording(t), arm)}
    assert set(found) == {'clock_set', 'stamps_gap'}
    assert found['stamps_gap'].value == pytest.approx(0.31)


def test_messages_that_come_late_are_left_out_without_a_step_of_the_clock(arm):
    order = np.r_[0:100, 111:121, 100:111, 121:SAMPLES]
    log = recording(T)
    late = replace(log, t=log.t[order], q=log.q[order], u=log.u[order])
    # The fewest: the 10 that came before the 11.
    assert codes(late, arm)['stamps_backwards', 'warning'] == 10
    swapped = np.r_[0:100, 101, 100, 102:SAMPLES]
    assert codes(replace(log, t=log.t[swapped]), arm) == {('stamps_backwards', 'warning'): 1}


@pytest.mark.parametrize('ahead', [0.055, 3.0, 200.0])
def test_a_stamp_that_runs_ahead_costs_its_own_sample_and_none_that_follow(arm, ahead):
    log = recording(T)
    t = T.copy()
    t[1000] += ahead
    assert codes(replace(log, t=t), arm) == {('stamps_backwards', 'warning'): 1}
    np.testing.assert_array_equal(
        clean(replace(log, t=t), arm).t, np.delete(T, 1000))


@settings(max_examples=200)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_the_fewest_stamps_are_left_out_and_of_several_choices_the_earliest_stay(stamps):
    t = np.array(stamps, dtype=float)
    count = len(t)
    # Every set of samples whose stamps increase, the largest first.
    kept = next(chosen for size in range(count, 0, -1)
                for chosen in combinations(range(count), size)
                if (np.diff(t[list(chosen)]) > 0).all())
    log = Recording(t, np.arange(count)[:, None], np.zeros((count, 1)), ('j',), as_logged=True)
    expected = kept if len(set(stamps)) > 1 else range(count)
    assert only_increasing(log).q[:, 0].tolist() == list(expected)


def pendulum(t=T):
    """Record a fast pendulum, of 15 rad/s: 0.15 rad a sample are no jump, but in 1 ms they are."""
    q = 15 / 9 * np.sin(9 * T[:, None] + np.arange(N))
    return Recording(t, q, -q, NAMES)


#: Samples at which the first joint of the pendulum is fastest.
FASTEST = np.rint(RATE * np.pi / 9 * np.array([9, 30])).astype(int)


@pytest.mark.parametrize('shift', [0.009, -0.009])
def test_a_stamp_that_makes_a_fast_joint_jump_costs_its_sample(arm, shift):
    t = moved(FASTEST, shift)
    assert not codes(pendulum(), arm)
    assert codes(pendulum(t), arm)['stamps_misplaced', 'warning'] == 2
    np.testing.assert_array_equal(clean(pendulum(t), arm).t, np.delete(T, FASTEST))


def test_a_burst_of_late_stamps_costs_its_samples_but_for_the_last(arm):
    last, t = FASTEST[1] + 3, T.copy()
    # Six messages wait for the next one.
    t[last - 6:last] = t[last] - 1e-4 * np.arange(6, 0, -1)
    assert codes(pendulum(t), arm)['stamps_misplaced', 'warning'] == 6
    np.testing.assert_array_equal(
        clean(pendulum(t), arm).t, np.delete(T, np.arange(last - 6, last)))


def test_a_jump_in_the_usual_time_is_none_of_the_stamps(arm):
    log = pendulum()
    log.q[1000:, 1] += 0.8
    assert codes(log, arm) == {('position_jump', 'error'): 1}


@pytest.mark.parametrize('t', [np.where(np.arange(SAMPLES) % 2, T, T - 60), T[::-1].copy()])
def test_two_clocks_mixed_and_a_clock_that_runs_backwards_are_errors(arm, t):
    found = check_recording(recording(t), arm)
    assert any(d.code == 'stamps_backwards' and d.severity == 'error' for d in found)


def test_the_time_in_motion_does_not_depend_on_the_span_of_the_stamps():
    q = np.sin(T)[:, None]
    t = np.where(T < 10, T, T + 1e15)
    # As many windows of a quarter of a second would fill any memory.
    assert time_in_motion(t, q)[999] == pytest.approx(time_in_motion(T, q)[999], abs=0.5)


@pytest.mark.parametrize(('unit', 'scale'), [('ms', 1e3), ('µs', 1e6), ('ns', 1e9)])
@pytest.mark.parametrize('rate', [100.0, 1000.0])
def test_stamps_in_another_unit_are_named_with_both_rates(arm, unit, scale, rate):
    t = np.arange(SAMPLES) / rate * scale
    found = [d for d in check_recording(recording(t, rate), arm) if d.severity == 'error']
    (defect,) = found
    assert defect.code == 'rate_implausible'
    assert f'{rate / scale:.4g} Hz if they are in s' in defect.message
    assert f'{rate:.4g} Hz if they are in {unit}' in defect.message
    # Neither a gap nor a wrong stamp hides it.
    t[1500:] += 0.9 * scale
    t[700] = 1e25
    found = check_recording(recording(t, rate), arm)
    assert {d.code: d.severity for d in found} == {
        'rate_implausible': 'error', 'stamps_far_off': 'warning', 'stamps_gap': 'warning'}
