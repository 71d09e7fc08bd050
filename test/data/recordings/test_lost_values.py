# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Lost values are bridged as lost samples are, reported, and fatal where an interface is dead."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.data.recordings.quality import check_recording, clean
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.data.signals.segments import sample_rate, uniform_segments

RATE, SAMPLES = 100.0, 2000
W = np.array([1.1, 1.7, 2.3])
CODES = {'q': ('position_nan', 'positions'), 'u': ('effort_nan', 'values of effort')}
# A cubic spline is off by 5/384 h^4 times the fourth derivative of the motion, which is 28 rad/s^4
# in q and ten times as much in u; over the six steps of the longest loss that is interpolated.
ERROR = {'q': 5e-6, 'u': 5e-5}


@pytest.fixture(scope='module')
def arm():
    return random_arm(np.random.default_rng(0), 3, prismatic=False)


def recording(keep=slice(None)):
    t = np.arange(SAMPLES)[keep] / RATE
    q = np.sin(W * t[:, None])
    return Recording(t, q, -10 * q + np.cos(W * t[:, None]), ('j1', 'j2', 'j3'))


def without(log, field, places, joint=1, value=np.nan):
    x = getattr(log, field).copy()
    x[places, joint] = value
    return replace(log, **{field: x})


def told(log, arm, field):
    return [d for d in check_recording(log, arm) if d.code == CODES[field][0]]


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('field', ['q', 'u'])
def test_values_lost_for_a_short_time_are_interpolated_in_their_column(arm, field, value):
    log = recording()
    # Four lost samples leave a step of 0.05 s, the longest that is bridged.
    places = [40, 41, 900, *range(1000, 1004)]
    cleaned = clean(without(log, field, places, value=value), arm)
    for other in ('t', 'q', 'u'):
        expected = getattr(log, other)
        np.testing.assert_allclose(
            getattr(cleaned, other), expected, rtol=0, atol=ERROR.get(other, 0))
        kept = np.delete(expected, places, axis=0)
        np.testing.assert_array_equal(np.delete(getattr(cleaned, other), places, axis=0), kept)
    (defect,) = told(without(log, field, places, value=value), arm, field)
    assert (defect.severity, defect.joint, defect.count) == ('warning', 'j2', 7)
    assert defect.first_stamp == pytest.approx(0.4) and defect.value == 7 / SAMPLES
    assert defect.message == (
        f'j2: 7 of 2000 {CODES[field][1]} (0.35 %) are NaN or infinite, for up to 0.05 s in a '
        'row; they are interpolated.')


@pytest.mark.parametrize('field', ['q', 'u'])
def test_samples_within_a_longer_loss_are_left_out_and_cut_the_recording(arm, field):
    log = without(recording(), field, slice(1000, 1030))
    cleaned = clean(log, arm)
    np.testing.assert_array_equal(cleaned.t, np.delete(log.t, np.s_[1000:1030]))
    ends = [(s.t[0], s.t[-1]) for s in uniform_segments(cleaned, sample_rate(cleaned))]
    assert ends == [(0, pytest.approx(9.99)), (pytest.approx(10.3), pytest.approx(19.99))]
    (defect,) = told(log, arm, field)
    assert 'for up to 0.31 s in a row; their samples are left out.' in defect.message
    (defect,) = told(without(log, field, 50), arm, field)
    assert 'losses of up to 0.05 s are interpolated, samples within others' in defect.message


def test_nothing_is_extrapolated_at_the_ends(arm):
    log = without(without(recording(), 'u', [0, 1]), 'q', SAMPLES - 1, joint=0)
    np.testing.assert_array_equal(clean(log, arm).t, log.t[2:-1])
    assert [d.joint for d in check_recording(log, arm) if d.code.endswith('nan')] == ['j1', 'j2']


def test_lost_values_beside_lost_samples_count_as_one_loss(arm):
    keep = np.delete(np.arange(SAMPLES), np.s_[1000:1040])
    # The first sample after the gap has no value within 0.05 s before it.
    log = without(recording(keep), 'u', [200, 1000])
    cleaned = clean(log, arm)
    np.testing.assert_array_equal(cleaned.t, np.delete(log.t, 1000))
    assert np.isfinite(cleaned.u).all()


def test_losses_in_several_columns_are_bridged_each_by_its_own_values(arm):
    log = recording()
    rng = np.random.default_rng(3)
    lost = rng.random((2, SAMPLES, 3)) < 0.03
    lost[:, [0, -1]] = False
    spoiled = replace(log, q=np.where(lost[0], np.nan, log.q), u=np.where(lost[1], np.nan, log.u))
    # A row in six lacks a value, but no loss of a column is a long one.
    cleaned = clean(spoiled, arm)
    for field in ('q', 'u'):
        np.testing.assert_allclose(
            getattr(cleaned, field), getattr(log, field), rtol=0, atol=ERROR[field])
    found = [d for d in check_recording(spoiled, arm) if d.code.endswith('nan')]
    assert [(d.joint, d.severity) for d in found] == 2 * [(f'j{k}', 'warning') for k in (1, 2, 3)]


def test_a_wrap_within_a_loss_is_still_undone(arm):
    log = recording()
    q = np.stack([3 * log.t + np.sin(log.t), *log.q.T[1:]], axis=1)
    wrapped = replace(log, q=np.stack([(q[:, 0] + np.pi) % (2 * np.pi) - np.pi, *q.T[1:]], axis=1))
    at = np.flatnonzero(np.abs(np.diff(wrapped.q[:, 0])) > 3)
    spoiled = without(wrapped, 'q', at, joint=0)
    np.testing.assert_allclose(clean(spoiled, arm).q, q, atol=ERROR['q'])
    assert {d.code: d.count for d in check_recording(spoiled, arm)} == {
        'position_wrapped': len(at), 'position_nan': len(at)}


@pytest.mark.parametrize('value', [np.nan, np.inf])
@pytest.mark.parametrize('field', ['q', 'u'])
@pytest.mark.parametrize('lost', [slice(0, 1001), slice(None)])
def test_a_dead_interface_is_an_error(arm, field, value, lost):
    log = without(recording(), field, lost, joint=0, value=value)
    (defect,) = told(log, arm, field)
    count = len(range(SAMPLES)[lost])
    assert (defect.severity, defect.joint, defect.count) == ('error', 'j1', count)
    assert 'record again' in defect.message


def test_what_is_left_is_judged_by_the_usual_rules(arm):
    # Each second value of a joint is lost, and none beside it is.
    log = without(recording(), 'u', np.s_[1:-1:2])
    assert {d.severity for d in check_recording(log, arm)} == {'warning'}
    # Half a second remains.
    short = without(without(recording(), 'u', slice(0, 975)), 'q', slice(1025, SAMPLES))
    assert 'too_short' in [d.code for d in check_recording(short, arm) if d.severity == 'error']
    ends = without(without(recording(), 'u', slice(0, 1000)), 'q', slice(1000, SAMPLES))
    assert 'too_short' in [d.code for d in check_recording(ends, arm) if d.severity == 'error']


@settings(max_examples=50)
@given(st.lists(st.tuples(
    st.sampled_from(['q', 'u']), st.integers(0, 199), st.integers(1, 60), st.integers(0, 2)),
    max_size=8))
def test_whatever_is_lost_nothing_lost_remains_but_in_dead_columns(losses):
    arm = random_arm(np.random.default_rng(0), 3, prismatic=False)
    log = recording(slice(0, 200))
    for field, first, count, joint in losses:
        log = without(log, field, slice(first, first + count), joint)
    cleaned = clean(log, arm)
    dead = {field: np.isnan(getattr(log, field)).mean(axis=0) > 0.5 for field in ('q', 'u')}
    for field, those in dead.items():
        assert np.isfinite(getattr(cleaned, field)[:, ~those]).all()
    # Samples that are left out beside a dead column change its share.
    if not any(those.any() for those in dead.values()):
        assert clean(cleaned, arm) is cleaned
