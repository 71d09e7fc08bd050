# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""States that jump and are back cost their own samples; a jump that stays is an error."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.data.recordings.quality import check_recording, clean
from dynid_ros.data.recordings.recording import Recording

RATE, SAMPLES, NAMES = 100.0, 3000, ('j1', 'j2', 'j3')


@pytest.fixture(scope='module')
def arm():
    made = random_arm(np.random.default_rng(0), 3, prismatic=False)
    return replace(made, limits=replace(made.limits, velocity=np.full(3, 4.0)))


def recorded(rate=RATE):
    t = np.arange(0.0, 30.0, 1 / rate)
    q = np.sin(t[:, None] * [1.1, 1.7, 2.3])
    return Recording(t, q, np.random.default_rng(0).normal(size=q.shape), NAMES)


def found(log, arm):
    return {d.code: d for d in check_recording(log, arm)}


@settings(max_examples=40, deadline=None)
@given(st.integers(3, SAMPLES - 5), st.integers(1, 2), st.integers(0, 2),
       st.floats(0.3, 2.0), st.booleans())
def test_a_state_that_jumps_and_is_back_costs_its_samples(arm, place, length, joint, size, up):
    log = recorded()
    q, wrong = log.q.copy(), slice(place, place + length)
    q[wrong, joint] += size if up else -size
    defects = found(replace(log, q=q), arm)
    spike = defects.pop('position_spike')
    assert not defects.keys() - {'position_quantised', 'stamps_gap'}
    assert (spike.severity, spike.count) == ('warning', length)
    assert spike.first_stamp == pytest.approx(place / RATE)
    assert f'after {place / RATE:.6g} s' in spike.message
    assert f'{NAMES[joint]} jumps by' in spike.message
    assert f'to {q[place, joint]:.4g}.' in spike.message
    np.testing.assert_array_equal(
        clean(replace(log, q=q), arm).q, np.delete(log.q, wrong, axis=0))


def test_a_wrong_state_that_a_faster_logger_repeats_costs_all_its_samples(arm):
    log = recorded()
    log.q[1000, 1] += 0.6
    number = np.arange(4 * SAMPLES) // 4
    faster = Recording(np.arange(4 * SAMPLES) / (4 * RATE), log.q[number], log.u[number], NAMES)
    defects = found(faster, arm)
    assert defects['position_spike'].count == 4 and 'position_jump' not in defects


@pytest.mark.parametrize('length', [3, 10, 2000])
def test_a_jump_that_stays_is_an_error_that_states_where(arm, length):
    log = recorded()
    log.q[1000:1000 + length, 1] += 0.6
    defects = found(log, arm)
    jump = defects['position_jump']
    assert 'position_spike' not in defects
    assert (jump.severity, jump.joint, jump.count) == ('error', 'j2', 1 if length > 1999 else 2)
    assert (f'first after 10 s of the recording, from {log.q[999, 1]:.4g} to '
            f'{log.q[1000, 1]:.4g}') in jump.message


def test_a_joint_that_goes_on_jumping_the_same_way_is_an_error(arm):
    """Two jumps on within three samples are no way back."""
    log = recorded()
    log.q[1000:, 1] += 0.25
    log.q[1002:, 1] += 0.25
    assert found(log, arm)['position_jump'].count == 2


def test_a_joint_that_jumps_back_half_the_way_is_an_error(arm):
    log = recorded()
    log.q[1000, 1] += 1.5
    log.q[1001:, 1] += 0.7
    assert found(log, arm)['position_jump'].count == 2


def test_an_encoder_that_often_fails_is_an_error(arm):
    log = recorded()
    log.q[10::30, 1] += 0.6
    assert 'position_spike' not in found(log, arm)
    assert found(log, arm)['position_jump'].count == 2 * 100
