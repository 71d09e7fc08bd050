# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""From recordings to models: true parameters come back, and real arms are predicted."""

from dataclasses import replace
from weakref import ref

from estimates import estimated, without_suspects
import numpy as np
import pytest
from synthetic_recordings import coloured, followed, recording, true_torque, Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.load import load_arm
from dynid_ros.arm.model import Conditioning
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.errors import RecordingError
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.blocks import preparation
from dynid_ros.estimation.blocks.preparation import (
    condition_recording,
    condition_recordings,
    released,
)
from dynid_ros.estimation.identification import identify as identify_module
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.train_test_split import divide, split
from dynid_ros.estimation.identification.validation import validate
from dynid_ros.estimation.model.verdict_words import headline, notes
from dynid_ros.motion.excitation.random_motion import random_motion

RATE = 100.0
PLAIN = ('viscous', 'coulomb', 'offset')


def arm_named(name, **conditioning):
    arm = load_arm(name)
    return replace(arm, drive=Drive.joint_torque(arm.n), conditioning=Conditioning(**conditioning))


def log_of(arm, seconds=40.0, noise_share=0.01, seed=0, rate=RATE, waves=None):
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    waves = Waves.random(arm, seed=1) if waves is None else waves
    samples = round(seconds * rate)
    clean = true_torque(arm, waves, np.arange(samples) / rate, theta)
    rng, memory = np.random.default_rng(seed), np.exp(-10 / rate)
    noise = coloured(rng, samples, noise_share * clean.std(axis=0), memory)
    return recording(arm, waves, theta, noise, rate=rate, source=f'walk_{seed}.npz')


def truth(arm):
    return base_parameters(arm).grouping @ nominal_parameters(arm)


def close_to_truth(result, arm):
    error = np.abs(result.theta - truth(arm))
    # Five standard deviations, and a thousandth for what filters do to the sign of the velocity.
    close = (error < 5 * result.std + 1e-3 * np.abs(truth(arm)).max()).all()
    # Error bars that are too wide would hold anything: of a dozen normal values or more, the mean
    # square is below 0.09 less often than once in 10 000 times.
    return close and np.mean((error / result.std) ** 2) > 0.09


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'kind'), [
    *((name, 'butterworth') for name in ('two_axis', 'gluon_6l3', 'panda', 'tx40')),
    *((name, kind) for name in ('two_axis', 'panda') for kind in ('fir', 'periodic'))])
def test_true_base_parameters_come_back_within_their_error_bars(name, kind):
    arm = arm_named(name, filter=kind, delay=0.0)
    # The cut-off of the FIR filter goes with the rate: at 100 Hz it would weaken the motion.
    log = log_of(arm, rate=500.0 if kind == 'fir' else RATE)
    result = estimated(arm, [log], friction=arm.friction, holdout=0.0)
    assert close_to_truth(result, arm)
    assert result.treatment.filter == kind
    assert result.treatment.period == (pytest.approx(10, abs=1e-3) if kind == 'periodic' else None)


def test_estimates_are_those_that_are_judged():
    arm = arm_named('two_axis')
    judged, found = (each(arm, [log_of(arm, 20.0)]) for each in (identify, estimated))
    for name in ('theta', 'covariance', 'std_white', 'from_data'):
        np.testing.assert_array_equal(getattr(found, name), getattr(judged, name))
    for name in ('parameters', 'friction_strength', 'fit', 'validation'):
        assert getattr(found, name) == getattr(judged, name)


@without_suspects()
def test_several_recordings_of_different_rates_with_gaps_are_fitted_together():
    arm = arm_named('two_axis', delay=0.0)
    first, second = log_of(arm, seed=1), log_of(arm, seed=2, rate=250.0)
    keep = np.ones(len(first.t), dtype=bool)
    keep[1500:1600] = False
    first = replace(first, t=first.t[keep], q=first.q[keep], u=first.u[keep])
    together = identify(arm, [first, second], friction=arm.friction, holdout=0.0)
    alone = identify(arm, [second], friction=arm.friction, holdout=0.0)
    assert close_to_truth(together, arm)
    assert together.treatment.rate_hz == pytest.approx(100)
    assert together.samples == len(first.t) + len(second.t)
    # Two recordings of one length: error bars shrink by about the root of two.
    assert np.median(together.std / alone.std) == pytest.approx(1 / np.sqrt(2), rel=0.2)


@without_suspects()
def test_a_recording_at_another_rate_is_predicted_with_the_same_cutoff():
    arm = arm_named('two_axis')
    result = identify(arm, [log_of(arm)], friction=arm.friction)
    seen, _ = validate(result, log_of(arm, seed=3, rate=400.0))
    assert seen.held_out
    assert seen.relative_error_percent < 1.5 * result.validation.relative_error_percent
    slow = log_of(arm, seed=3, rate=4.0, seconds=240.0)
    with pytest.raises(RecordingError, match=(
            r'walk_3.npz: its rate of 4 Hz is too low for the cut-off of .* Hz that the model was '
            r'identified with; record faster, or identify with a cut-off of 1\.6 Hz at most')):
        validate(result, slow)


def test_a_validation_recording_of_a_low_rate_is_refused_before_there_is_a_model():
    arm = arm_named('two_axis', cutoff_hz=5.0)
    slow = log_of(arm, seed=3, rate=4.0, seconds=240.0)
    quick = log_of(arm, waves=Waves.random(arm, seed=2, lowest_hz=0.3))
    origin = r'that --cutoff \(cutoff_hz in Python\) or arm\.yaml gives'
    with pytest.raises(RecordingError, match=f'Hz {origin}; give a cut-off ') as caught:
        identify(arm, [quick], friction=arm.friction, validation=[slow])
    assert str(caught.value).startswith('walk_3.npz: its rate of 4 Hz is too low for the cut-off')
    assert 'or leave this recording out' in str(caught.value)
    assert 'model' not in str(caught.value)


@without_suspects()
def test_defects_name_the_file_where_there_are_several():
    arm = arm_named('two_axis')
    logs = [log_of(arm, seed=seed) for seed in (0, 1)]
    u = logs[1].u.copy()
    u[500, 0] = np.nan
    logs[1] = replace(logs[1], u=u)
    (alone,) = identify(arm, logs[1:], friction=arm.friction, holdout=0.0).defects
    for first, second in (logs[:1], logs[1:]), (logs[1:], logs[:1]), (logs, []):
        (defect,) = divide(arm, first, second, 0.0, arm.friction).defects
        assert defect == replace(alone, message=f'walk_1.npz: {alone.message}')


@without_suspects()
def test_validation_recordings_replace_the_held_out_part():
    arm = arm_named('two_axis')
    log, other = log_of(arm), log_of(arm, seed=5, waves=Waves.random(arm, seed=8))
    result = identify(arm, [log], friction=arm.friction, validation=[other])
    assert result.samples == len(log.t)
    assert result.validation.source == 'walk_5.npz'
    assert result.validation.relative_error_percent < 1.5
    assert {p.held_out for p in result.predictions} == {False, True}
    assert identify(arm, [log], friction=arm.friction, holdout=0.0).validation is None


@without_suspects()
def test_in_sample_and_held_out_samples_do_not_overlap():
    arm = arm_named('two_axis')
    result = identify(arm, [log_of(arm)], friction=arm.friction, holdout=0.25)
    fitted, unseen = result.predictions
    assert fitted.t[-1] < 30 <= unseen.t[0]
    assert result.seconds == pytest.approx(30, abs=0.02)
    assert (result.fit.held_out, result.validation.held_out) == (False, True)
    assert (result.fit.source, result.validation.source) == (
        'first 75 % of walk_0.npz',
        'last 25 % of walk_0.npz (30.0 to 40.0 s) (repeats the fitted motion)')


def waiting(log, before, after, rate=125.0):
    """Let the arm of a recording hold still before and after its motion."""
    ahead, behind = (round(rest * rate) for rest in (before, after))
    q, u = (np.pad(x, ((ahead, behind), (0, 0)), mode='edge') for x in (log.q, log.u))
    noise = np.random.default_rng(0).normal(size=(2, *q.shape))
    noise[:, ahead:len(q) - behind] = 0
    return replace(
        log, t=np.arange(len(q)) / rate, q=q + 1e-5 * noise[0], u=u + 0.02 * noise[1], qd=None)


@pytest.fixture(scope='module')
def moved():
    """Record a leg for 20 s."""
    arm = load_arm('hand_leg')
    return followed(arm, random_motion(arm, 0, tries=5, periods=2), 125.0)


@pytest.fixture(scope='module')
def at_once(moved):
    return identify(load_arm('hand_leg'), [moved], friction=PLAIN)


@pytest.mark.slow
@pytest.mark.parametrize(('before', 'after'), [(0, 30), (30, 0), (15, 15)])
def test_a_recording_that_was_ended_late_is_validated_on_its_motion(
        moved, at_once, before, after):
    arm = load_arm('hand_leg')
    late = identify(arm, [waiting(moved, before, after)], friction=PLAIN)
    assert (late.verdict.trustworthy, late.verdict.reasons) == (True, ())
    # The same motion, with a cut-off and a cut that are not quite the same.
    assert late.validation.relative_error_percent == pytest.approx(
        at_once.validation.relative_error_percent, rel=0.3)
    told = late.validation.source.split('(')[1].split(' s)')[0].split(' to ')
    # Two equal periods, however long the arm waits.
    assert late.repeats and at_once.repeats
    # It stands still for half a second at either end, and nearly so for a while before.
    assert [float(x) for x in told] == pytest.approx([before + 13.9, before + 20.5], abs=0.5)


def test_a_model_is_not_trusted_where_nothing_moves_in_what_is_held_out():
    arm = arm_named('two_axis')
    log = log_of(arm)
    # It sinks by 0.02 rad within 40 s.
    still = replace(log, q=np.linspace(0, 0.02, len(log.t))[:, None] * np.ones(2))
    result = identify(arm, [log], friction=arm.friction, validation=[still])
    assert not result.verdict.trustworthy
    (reason,) = result.verdict.reasons
    assert 'nothing validates the model' in reason and 'walk_0.npz' in reason
    assert 'the arm stands still in the held-out set' in headline(result)


def test_a_joint_that_rests_in_what_is_held_out_is_named_as_not_validated():
    arm = arm_named('two_axis')
    log = log_of(arm)
    q = log.q.copy()
    q[2600:, 1] = q[2600, 1]
    told = notes(identify(arm, [replace(log, q=q)], friction=arm.friction))
    assert 'Not validated, at rest in the held-out set: pendulum_joint.' in told


@pytest.mark.parametrize(('change', 'message'), [
    ({'holdout': 0.001}, 'leaves a part of only'),
    ({'holdout': 0.99}, 'leaves a part of only'),
    ({'holdout': 0.04}, 'too short for a cut-off'),
])
def test_a_share_that_leaves_too_little_is_said(change, message):
    arm = arm_named('two_axis', cutoff_hz=1.0)
    with pytest.raises(RecordingError, match=message):
        identify(arm, [log_of(arm)], friction=arm.friction, **change)


@without_suspects()
def test_a_cutoff_that_leaves_no_row_is_said_and_few_rows_give_a_wide_result():
    arm = arm_named('panda', cutoff_hz=0.05)
    for friction in (arm.friction, None):
        with pytest.raises(RecordingError, match=r'^walk_0\.npz, walk_1\.npz: no row is left'):
            identify(arm, [log_of(arm), log_of(arm, seed=1)], friction=friction, holdout=0.0)
    with pytest.raises(RecordingError, match=r'^walk_0\.npz: no row is left'):
        identify(arm, [log_of(arm)], friction=arm.friction, holdout=0.0, joint_offsets=True)
    arm = arm_named('panda', cutoff_hz=0.12)
    few = identify(arm, [log_of(arm)], friction=arm.friction, holdout=0.0)
    assert not few.verdict.trustworthy
    assert np.isfinite(few.theta).all() and (few.std > 0).all() and np.isfinite(few.std).all()
    assert not few.from_data.all()
    arm = arm_named('panda', cutoff_hz=60.0)
    with pytest.raises(RecordingError, match='not below half the sample rate'):
        identify(arm, [log_of(arm)])


# Bounds of the tests on real arms: what is measured today, with some 15 % on top, so that a loss
# of accuracy is seen long before the promised bound (in the names) is reached.
@pytest.mark.slow
@pytest.mark.parametrize(('friction', 'promised', 'bound'), [
    (PLAIN, 8.4, 8.0), (None, 5.0, 3.2)], ids=['plain', 'auto'])
def test_ur10_is_predicted_on_its_last_third(shared_data, friction, promised, bound):
    arm = load_arm('ur10')
    log = read_recording(shared_data / 'ur10' / 'ur10_exciting_trajectory.db3', arm)
    # Without given friction, test_planted_faults.py asks for the verdict.
    result = (identify if friction else estimated)(arm, [log], friction=friction, holdout=1 / 3)
    assert result.validation.relative_error_percent <= bound < promised
    if friction:
        assert result.verdict.trustworthy


@pytest.mark.slow
def test_panda_is_predicted_on_its_last_third(shared_data):
    arm = load_arm('panda')
    log = read_recording(shared_data / 'panda' / 'panda_exciting_trajectory.db3', arm)
    for friction in (PLAIN, None):
        result = (identify if friction else estimated)(
            arm, [log], friction=friction, holdout=1 / 3)
        # Measured: 2.1 %, which leaves no room for more below the promised 2.2 %.
        assert result.validation.relative_error_percent <= 2.2
        if friction:
            assert result.verdict.trustworthy


@pytest.fixture(scope='module')
def tx40(shared_data):
    arm = load_arm('tx40')
    return arm, read_recording(shared_data / 'tx40' / 'pos_read_data.csv', arm)


@pytest.mark.slow
@pytest.mark.parametrize(('friction', 'bound'), [(PLAIN, 8.8), (None, 4.6)], ids=['plain', 'auto'])
def test_tx40_is_predicted_from_half_to_half_and_fitted_as_a_whole(tx40, friction, bound):
    arm, log = tx40
    half = estimated(arm, [log], friction=friction, holdout=0.5)
    assert half.validation.relative_error_percent <= bound < 17.5
    whole = estimated(arm, [log], friction=friction, holdout=0.0)
    # Measured 5.5 % with the plain terms.
    assert whole.fit.relative_error_percent <= 6.4 < 10.4
    if friction:
        assert len(whole.theta) == 61


@pytest.mark.slow
def test_friction_stays_plain_where_few_rows_show_no_more(tx40):
    """Below 2 Hz few rows are left of 4 s: other terms look better, and predict worse."""
    arm, log = tx40
    slow = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=2.0))
    result = estimated(slow, [log], holdout=0.5)
    # Measured 5.6 %, and 11.3 % with the terms of the least error in cross-validation.
    assert result.validation.relative_error_percent <= 6.4
    assert result.arm.friction == PLAIN


def test_raw_samples_need_not_stay_in_memory_once_they_are_divided_and_conditioned():
    arm = arm_named('two_axis')
    log = log_of(arm)
    # Positions of their own, which nothing but the recordings holds.
    log = replace(log, q=log.q.copy())
    positions = ref(log.q)
    first, last = split(log, 0.25)
    for name in ('t', 'q', 'u'):
        assert all(np.shares_memory(getattr(log, name), getattr(part, name))
                   for part in (first, last))
    del log
    treatment = choose_conditioning(arm, [first])
    (one,) = condition_recording(arm, first, treatment)
    logs = released([first, last])
    del first, last
    taken = condition_recordings(arm, logs, treatment)
    assert positions() is None
    np.testing.assert_array_equal(taken[0].qdd, one.qdd)
    assert len(taken) == 2


def test_a_list_of_the_caller_stays_as_it_is():
    arm = arm_named('two_axis')
    logs = [log_of(arm)]
    treatment = choose_conditioning(arm, logs)
    first, second = (condition_recordings(arm, logs, treatment) for _ in range(2))
    np.testing.assert_array_equal(first[0].qdd, second[0].qdd)
    assert len(logs) == 1


@without_suspects()
def test_each_recording_is_released_before_it_is_conditioned(monkeypatch):
    arm, alive, left = arm_named('two_axis', delay=0.0), [], []
    real_division, real_condition = identify_module.divide, preparation.condition

    def divide(*given):
        data = real_division(*given)
        alive.extend(ref(log) for log in (*data.train, *(log for _, log in data.unseen)))
        return data

    def condition(*given):
        left.append(sum(log() is not None for log in alive))
        return real_condition(*given)

    monkeypatch.setattr(identify_module, 'divide', divide)
    monkeypatch.setattr(preparation, 'condition', condition)
    identify(arm, (log_of(arm, seed=seed) for seed in (1, 2)), friction=arm.friction,
             validation=(log_of(arm, seed=seed) for seed in (3, 4)))
    assert left[:4] == [3, 2, 1, 0]
