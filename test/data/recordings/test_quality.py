# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Every defect of a recording is named; a good recording gives none."""

from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import random_arm
import pytest

from dynid_ros.arm.description.tree import JointLimits
from dynid_ros.data.recordings.quality import check_recording, clean
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.interface.answers.recording import defect_notes
from dynid_ros.utilities.text import several

N = 3
NAMES = ('j1', 'j2', 'j3')


@pytest.fixture(scope='module')
def arm():
    return random_arm(np.random.default_rng(0), N, prismatic=False)


def recording(rate=100.0, seconds=20.0, seed=0, noise=1e-5, amplitude=1.2):
    """Make a good recording: smooth motion, measured torque and velocity with sensor noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(rate * seconds)) / rate
    w = np.array([1.1, 1.7, 2.3])
    q = amplitude * np.sin(w * t[:, None])
    qd = amplitude * w * np.cos(w * t[:, None])
    u = -10 * q + 2 * np.sign(qd) + rng.normal(scale=0.1, size=q.shape)
    return Recording(
        t,
        q + noise * rng.normal(size=q.shape),
        u,
        NAMES,
        'effort',
        'made',
        qd + 0.01 * rng.normal(size=q.shape),
    )


def defects(log, arm, code=None):
    found = check_recording(log, arm)
    return [d for d in found if code is None or d.code == code]


def only(log, arm, code):
    """Return the one defect there is."""
    (defect,) = check_recording(log, arm)
    assert defect.code == code
    return defect


@pytest.mark.parametrize('rate', [30.0, 125.0, 500.0, 1000.0])
@pytest.mark.parametrize('velocity', [False, True])
def test_a_good_recording_gives_no_defect(arm, rate, velocity):
    log = recording(rate)
    log = log if velocity else replace(log, qd=None)
    assert check_recording(log, arm) == ()
    assert clean(log, arm) is log


def test_a_noise_free_simulation_that_starts_and_ends_at_rest_gives_no_defect(arm):
    log = recording(noise=0.0)
    ramp = np.clip(np.minimum(log.t - 2, 18 - log.t), 0, 1)[:, None]
    # The position follows a smooth ramp, so its velocity is not the one of the motion.
    q = log.q * (3 * ramp**2 - 2 * ramp**3)
    assert check_recording(replace(log, q=q, u=-10 * q, qd=None), arm) == ()


def test_recordings_of_real_arms_give_no_errors(shared_data):
    from dynid_ros.data.files.bags import read_joint_states

    for name, joints in (('ur10', 6), ('panda', 7)):
        states = read_joint_states(shared_data / name / f'{name}_exciting_trajectory.db3')
        (block,) = states.blocks
        t = (block.stamp - block.stamp[0]) * 1e-9
        made = random_arm(np.random.default_rng(0), joints, prismatic=False)
        arm = made.with_tree(joint_names=block.names)
        log = Recording(
            t, block.position, block.effort, block.names, 'effort', name, block.velocity
        )
        found = {(d.code, d.severity) for d in check_recording(log, arm)}
        # The Panda's recording was taken at 30 Hz from a source of some 29.4 Hz.
        assert found == (set() if name == 'ur10' else {('samples_republished', 'info')})


def test_repeated_stamps_are_dropped_and_the_first_is_kept(arm):
    log = recording()
    index = np.sort(np.concatenate([np.arange(2000), [50, 50, 900]]))
    doubled = replace(log, t=log.t[index], q=log.q[index], u=log.u[index], qd=log.qd[index])
    cleaned = clean(doubled, arm)
    np.testing.assert_array_equal(cleaned.t, log.t)
    np.testing.assert_array_equal(cleaned.q, log.q)
    defect = only(doubled, arm, 'stamps_repeated')
    assert (defect.severity, defect.count, defect.first_stamp) == ('warning', 3, 0.5)
    assert 'other values' not in defect.message


def test_coarse_stamps_are_told_from_doubled_messages(arm):
    log = recording()
    coarse = replace(log, t=np.floor(log.t * 50 + 1e-9) / 50)
    (defect,) = defects(coarse, arm, 'stamps_repeated')
    assert defect.count == 1000
    assert '1000 hold other values' in defect.message


def test_a_few_late_stamps_are_dropped_with_a_warning(arm):
    log = recording()
    t = log.t.copy()
    t[[300, 700]] -= 0.5
    cleaned = clean(replace(log, t=t), arm)
    np.testing.assert_array_equal(cleaned.t, np.delete(log.t, [300, 700]))
    np.testing.assert_array_equal(cleaned.q, np.delete(log.q, [300, 700], axis=0))
    (defect,) = defects(replace(log, t=t), arm, 'stamps_backwards')
    assert (defect.severity, defect.count) == ('warning', 2)


@settings(max_examples=100)
@example([-1.0, 0.0, -1.0, 0.5])
@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, np.nan]), min_size=4, max_size=40))
def test_cleaned_stamps_always_increase_and_cleaning_twice_changes_nothing(steps):
    arm = random_arm(np.random.default_rng(0), N, prismatic=False)
    t = 100 + np.cumsum(np.nan_to_num(steps))
    t[np.isnan(steps)] = np.nan
    values = np.random.default_rng(0).normal(size=(len(t), N))
    log = Recording(t, values, values, NAMES, 'effort', 'made', as_logged=True)
    cleaned = clean(log, arm)
    if len(np.unique(t[np.isfinite(t)])) > 1:
        assert (np.diff(cleaned.t) > 0).all()
        assert len(cleaned.t) >= 1
        dropped = [d.count for d in cleaned.defects if d.code.startswith('stamps')]
        assert len(cleaned.t) + sum(dropped) == len(t)
    again = clean(cleaned, arm)
    assert again.defects == cleaned.defects
    np.testing.assert_array_equal(again.q, cleaned.q)


def test_stamps_that_stand_still_are_an_error(arm):
    log = recording()
    assert only(replace(log, t=np.zeros(2000)), arm, 'stamps_constant').severity == 'error'


@pytest.mark.parametrize(('lost', 'severity'), [(3, 'info'), (50, 'warning')])
def test_gaps_are_counted_and_long_ones_warned_of(arm, lost, severity):
    log = recording()
    keep = np.r_[0:500, 500 + lost:2000]
    gap = replace(log, t=log.t[keep], q=log.q[keep], u=log.u[keep], qd=log.qd[keep])
    defect = only(gap, arm, 'stamps_gap')
    assert (defect.severity, defect.count) == (severity, 1)
    assert defect.value == pytest.approx((lost + 1) / 100)
    assert defect.first_stamp == pytest.approx(4.99)
    assert defect.message.startswith(f'1 gap with about {lost} samples lost')


def test_trembling_stamps_are_warned_of_and_become_even(arm):
    log = recording()
    t = np.sort(log.t + np.random.default_rng(1).uniform(0, 0.012, len(log.t)))
    assert [d.severity for d in defects(replace(log, t=t), arm, 'stamps_late')] == ['warning']
    assert np.ptp(np.diff(clean(replace(log, t=t), arm).t)) < 1e-9
    # A tenth of the step is what a real-time loop shows.
    t = log.t + np.random.default_rng(1).uniform(0, 0.001, len(log.t))
    assert {d.severity for d in defects(replace(log, t=t), arm, 'stamps_late')} <= {'info'}


def test_low_rates_and_stamps_in_another_unit_are_named(arm):
    assert only(recording(rate=12.0, seconds=60.0), arm, 'rate_low').value == pytest.approx(12.0)
    assert not defects(recording(rate=19.999, seconds=60.0), arm, 'rate_low')
    log = recording()
    for scale in (1e3, 1e9):
        found = defects(replace(log, t=log.t * scale, qd=None), arm, 'rate_implausible')
        assert [d.severity for d in found] == ['error']


@pytest.mark.parametrize(('every', 'run'), [(50, 1), (100, 3), (100, 20)])
def test_samples_repeated_in_motion_are_left_out(arm, every, run):
    log = recording()
    index = np.arange(2000)
    for start in range(every, 2000 - every, every):
        index[start:start + run] = start - 1
    stale = replace(log, q=log.q[index], u=log.u[index], qd=None)
    (defect,) = defects(stale, arm, 'samples_republished')
    assert defect.count == run * len(range(every, 2000 - every, every))
    assert defect.first_stamp == pytest.approx(every / 100)
    kept = np.unique(index)
    np.testing.assert_array_equal(clean(stale, arm).q, log.q[kept])
    np.testing.assert_array_equal(clean(stale, arm).t, log.t[kept])


@pytest.mark.parametrize(('value', 'code'), [(0.0, 'effort_zero'), (3.5, 'effort_constant')])
def test_an_effort_that_never_changes_is_an_error_for_a_joint_that_moves(arm, value, code):
    log = recording()
    u = log.u.copy()
    u[:, 1] = value
    defect = only(replace(log, u=u), arm, code)
    assert (defect.severity, defect.joint, defect.count) == ('error', 'j2', 2000)
    # Squares of such numbers underflow.
    u[:, 1] += 1e-300 * log.u[:, 1]
    assert only(replace(log, u=u), arm, code).value == value
    # Lost values are no change, and are reported beside it.
    u[40:42, 1] = np.nan
    assert {each.code for each in check_recording(replace(log, u=u), arm)} == {code, 'effort_nan'}


@pytest.mark.parametrize('way', [1, -1])
def test_signals_without_a_sign_are_an_error(arm, way):
    log = recording()
    assert not defects(log, arm, 'effort_unsigned')
    magnitudes = np.abs(log.u)
    if way < 0:
        # One joint with a sign is enough.
        magnitudes[:, 0] = log.u[:, 0]
    found = defects(replace(log, u=magnitudes), arm, 'effort_unsigned')
    assert [each.severity for each in found] == (['error'] if way > 0 else [])


@pytest.mark.parametrize('field', ['q', 'u'])
def test_absurd_values_are_an_error(arm, field):
    log = recording()
    values = getattr(log, field).copy()
    values[7, 2] = 1e224
    code = 'position_absurd' if field == 'q' else 'effort_absurd'
    (defect,) = defects(replace(log, **{field: values}), arm, code)
    assert (defect.severity, defect.joint, defect.count, defect.value) == (
        'error', 'j3', 1, 1e224
    )


def spoil_nan(qd):
    qd[:, 1] = np.nan


def spoil_one(qd):
    qd[3, 1] = 1e224


def spoil_zero(qd):
    qd[:, 1] = 0


def spoil_degrees(qd):
    qd[:, 1] *= 180 / np.pi


def spoil_sign(qd):
    qd[:, 1] *= -1


def spoil_other_joint(qd):
    qd[:, 1] = qd[:, 2]


@pytest.mark.parametrize(
    ('spoil', 'code'),
    [
        (spoil_nan, 'velocity_nan'),
        (spoil_one, 'velocity_nan'),
        (spoil_zero, 'velocity_zero'),
        (spoil_degrees, 'velocity_inconsistent'),
        (spoil_sign, 'velocity_inconsistent'),
        (spoil_other_joint, 'velocity_inconsistent'),
    ],
)
def test_unusable_velocities_are_left_out_with_a_warning(arm, spoil, code):
    log = recording()
    qd = log.qd.copy()
    spoil(qd)
    cleaned = clean(replace(log, qd=qd), arm)
    assert cleaned.qd is None
    np.testing.assert_array_equal(cleaned.q, log.q)
    defect = only(replace(log, qd=qd), arm, code)
    assert (defect.severity, defect.joint) == ('warning', 'j2')
    if spoil is spoil_degrees:
        assert '0.0175' in defect.message


@pytest.mark.parametrize(('factor', 'severity'), [
    (0.5, 'error'), (0.9, 'warning'), (1.1, 'warning'), (1.5, 'error'), (3.0, 'error')])
def test_velocities_of_all_joints_tell_a_wrong_time_axis(arm, factor, severity):
    log = recording()
    defect = only(replace(log, t=log.t / factor), arm, 'stamps_scaled')
    assert (defect.severity, defect.joint) == (severity, None)
    assert f'{factor:.3g} times the recorded velocities' in defect.message
    # The joint that alone has the time of the others is at fault itself; one that differs by a
    # tenth has a filter or a gain.
    qd = log.qd.copy()
    qd[:, 1:] /= factor
    assert {each.joint for each in defects(replace(log, qd=qd), arm)} == (
        {'j2', 'j3'} if severity == 'error' else set())
    # Degrees are another unit, and no other time.
    assert {each.code for each in defects(replace(log, qd=np.degrees(log.qd)), arm)} == {
        'velocity_inconsistent'}


@pytest.mark.parametrize('factor', [0.8, 1.25])
def test_time_that_is_too_long_is_as_wrong_as_time_that_is_too_short(arm, factor):
    log = recording()
    assert only(replace(log, t=log.t / factor), arm, 'stamps_scaled').severity == 'error'


def test_velocities_delayed_by_a_filter_are_still_used(arm):
    log = recording()
    # A first-order filter of 5 Hz, as drives have, delays by 32 ms.
    qd = log.qd.copy()
    for i in range(1, len(qd)):
        qd[i] = qd[i - 1] + (log.qd[i] - qd[i - 1]) * (1 - np.exp(-2 * np.pi * 5 * 0.01))
    assert check_recording(replace(log, qd=qd), arm) == ()


@settings(max_examples=25)
@given(st.floats(0, 2 * np.pi), st.floats(2.0, 6.0), st.sampled_from([30.0, 125.0, 1000.0]))
def test_wrapped_positions_are_unwrapped(phase, amplitude, rate):
    arm = random_arm(np.random.default_rng(0), N, prismatic=False)
    log = replace(recording(rate, amplitude=amplitude), qd=None)
    q = log.q + phase
    wrapped = (q + np.pi) % (2 * np.pi) - np.pi
    cleaned = clean(replace(log, q=wrapped), arm)
    turns = (cleaned.q - q) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.tile(np.rint(turns[0]), (len(q), 1)), atol=1e-9)
    found = defects(replace(log, q=wrapped), arm)
    jumps = (np.abs(np.diff(wrapped, axis=0)) > np.pi).sum(axis=0)
    assert {d.joint: d.count for d in found} == {
        name: count for name, count in zip(NAMES, jumps, strict=True) if count
    }
    assert all((d.code, d.severity) == ('position_wrapped', 'warning') for d in found)


def test_prismatic_joints_are_never_unwrapped(arm):
    arm = arm.with_tree(prismatic=np.array([True, False, False]))
    log = replace(recording(), qd=None)
    q = log.q.copy()
    q[500:, 0] += 2 * np.pi
    cleaned = clean(replace(log, q=q), arm)
    np.testing.assert_array_equal(cleaned.q, q)
    assert [d.joint for d in defects(replace(log, q=q), arm, 'position_jump')] == ['j1']


def test_a_jump_that_is_no_whole_turn_is_an_error(arm):
    log = replace(recording(), qd=None)
    q = log.q.copy()
    q[500:, 1] += 4.0
    defect = only(replace(log, q=q), arm, 'position_jump')
    assert (defect.severity, defect.joint, defect.count) == ('error', 'j2', 1)
    assert defect.first_stamp == pytest.approx(5.0)


def test_motion_over_a_gap_is_no_jump(arm):
    log = recording(amplitude=3.0)
    keep = np.r_[0:500, 640:2000]
    gap = replace(log, t=log.t[keep], q=log.q[keep], u=log.u[keep], qd=log.qd[keep])
    assert np.abs(np.diff(gap.q, axis=0)).max() > np.pi
    only(gap, arm, 'stamps_gap')


def test_motion_beyond_the_limit_of_a_slow_mode_over_a_gap_is_no_jump(arm):
    log = recording(amplitude=3.0)
    keep = np.r_[0:500, 512:2000]
    gap = replace(log, t=log.t[keep], q=log.q[keep], u=log.u[keep], qd=log.qd[keep])
    assert np.abs(np.diff(gap.q, axis=0)).max() > 0.1
    slow = replace(arm, limits=replace(arm.limits, velocity=np.full(arm.n, 0.1)))
    assert not defects(gap, slow, 'position_jump')


def test_a_joint_that_does_not_move_is_named_and_its_dead_effort_is_not(arm):
    log = recording()
    q, u, qd = log.q.copy(), log.u.copy(), log.qd.copy()
    q[:, 2], u[:, 2], qd[:, 2] = 0.3, 0.0, 0.0
    defect = only(replace(log, q=q, u=u, qd=qd), arm, 'joint_constant')
    assert (defect.severity, defect.joint) == ('warning', 'j3')


def test_an_arm_that_does_not_move_at_all_is_an_error(arm):
    log = recording()
    still = replace(log, q=np.zeros_like(log.q) + 1e-4 * log.u, qd=None)
    assert {(d.code, d.severity) for d in defects(still, arm)} == {('joint_constant', 'error')}


def limited(arm, **values):
    unknown = JointLimits.unknown(N)
    return replace(arm, limits=replace(unknown, **{k: np.full(N, v) for k, v in values.items()}))


def test_limits_beyond_touched_and_far(arm):
    log = recording()
    beyond = {d.severity for d in defects(log, limited(arm, upper=1.0), 'position_limit')}
    touched = {d.severity for d in defects(log, limited(arm, upper=1.199), 'position_limit')}
    assert (beyond, touched) == ({'warning'}, {'info'})
    far = limited(arm, lower=-2.0, upper=2.0, velocity=5.0, effort=100.0)
    assert check_recording(log, far) == ()
    slow = limited(arm, velocity=0.1)
    fast = defects(log, slow, 'velocity_limit')
    assert {d.severity for d in fast} == {'warning'} and len(fast) == N
    # What holds of all joints is one line.
    assert defect_notes(fast) == [
        f'Warning velocity_limit [{several(arm.joint_names)}]: Each is faster than its velocity '
        'limit: check units and limits.']


def test_efforts_cut_off_at_the_limit_are_counted_in_torque(arm):
    log = recording()
    half = replace(arm, drive=replace(arm.drive, gain=np.full(N, 0.5)))
    cut = replace(log, u=np.clip(log.u, -10, 10))
    beyond = replace(log, u=np.clip(log.u, -12, 12))
    defect = defects(cut, limited(half, effort=5.0), 'effort_saturated')[0]
    assert defect.severity == 'warning'
    assert defect.count == (np.abs(cut.u[:, 0]) >= 9.9).sum()
    assert defects(cut, limited(half, effort=10.0)) == []
    # A limit that the signal exceeds is not the one at which the drive cuts off.
    assert defects(beyond, limited(half, effort=5.0)) == []
    assert defects(cut, limited(half, effort=np.inf, velocity=np.inf)) == []


@pytest.mark.parametrize('step', [1e-3, 2 * np.pi / 4096])
def test_encoder_steps_are_measured(arm, step):
    log = recording()
    found = defects(replace(log, q=np.rint(log.q / step) * step), arm)
    assert {(d.code, d.severity, d.joint) for d in found} == {
        ('position_quantised', 'info', name) for name in NAMES
    }
    assert [d.value for d in found] == pytest.approx([step] * N, rel=1e-6)


def test_fine_encoders_are_not_mentioned(arm):
    log = recording(noise=0.0)
    step = 2 * np.pi / 2**23
    assert check_recording(replace(log, q=np.rint(log.q / step) * step), arm) == ()


@pytest.mark.parametrize('samples', [0, 1, 2, 20])
def test_recordings_too_short_for_the_parameters_are_an_error(arm, samples):
    found = defects(recording().part(0, samples), arm, 'too_short')
    assert [(d.severity, d.count) for d in found] == [('error', samples)]


def test_half_a_second_is_too_short_at_any_rate(arm):
    defect = only(recording(rate=1000.0, seconds=0.5), arm, 'too_short')
    assert defect.severity == 'error'


def test_defects_found_while_reading_are_kept_and_nothing_is_said_twice(arm):
    log = recording()
    t = log.t.copy()
    t[300] -= 0.5
    cleaned = clean(replace(log, t=t), arm)
    assert check_recording(cleaned, arm) == check_recording(replace(log, t=t), arm)


def test_messages_are_one_sentence_for_people(arm):
    log = recording()
    u = log.u.copy()
    u[:, 0] = np.nan
    t = log.t.copy()
    t[300] -= 0.5
    for defect in check_recording(replace(log, t=t, u=u), arm):
        assert defect.message.endswith('.')
        assert '{' not in defect.message
        assert '\n' not in defect.message


def test_positions_in_degrees_are_named_and_large_ones_in_radians_are_not(arm):
    log = recording()
    limited = replace(arm, limits=replace(
        arm.limits, lower=np.full(arm.n, -2.5), upper=np.full(arm.n, 2.5)))
    (defect,) = defects(
        replace(log, q=np.degrees(log.q), qd=None), limited, 'position_degrees')
    assert defect.severity == 'error' and 'convert them to rad' in defect.message
    assert 'as rad, too' not in defect.message
    assert not defects(replace(log, q=log.q + 2.0, qd=None), limited, 'position_degrees')


def test_one_joint_in_degrees_leaves_the_unit_of_the_others_open(arm):
    limited = replace(arm, limits=replace(
        arm.limits, lower=np.full(arm.n, -2.5), upper=np.full(arm.n, 2.5)))
    log = recording()
    q = log.q.copy()
    q[:, 0] = np.degrees(q[:, 0])
    (defect,) = defects(replace(log, q=q, qd=None), limited, 'position_degrees')
    first, *others = log.joint_names
    assert f'{first} reaches' in defect.message
    assert f'({several(others)} as rad, too: look which are in degrees)' in defect.message


def test_degrees_that_jump_where_no_radians_would_are_named_without_position_limits(arm):
    unlimited = replace(arm, limits=replace(
        arm.limits, lower=np.full(arm.n, -np.inf), upper=np.full(arm.n, np.inf),
        velocity=np.full(arm.n, 2.0)))
    log = replace(recording(), qd=None)
    in_degrees = replace(log, q=np.degrees(log.q))
    defect = only(in_degrees, unlimited, 'position_degrees')
    assert defect.severity == 'error' and 'convert them to rad' in defect.message
    # An encoder fault is rare, whatever its size.
    for size in (0.7, 100.0):
        once = log.q.copy()
        once[500:505, 1] += size
        assert only(replace(log, q=once), unlimited, 'position_jump').joint == 'j2'
