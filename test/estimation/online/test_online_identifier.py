# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A live session against a replay of the same samples."""

from dataclasses import replace
from functools import cache

from estimates import estimated, without_suspects
import numpy as np
import pytest
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.arm.friction import FrictionShape
from dynid_ros.dynamics.arm_prior import arm_prior
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import RecordingError, ResultError
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.verdict_words import headline
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.estimation.online.replay import replay
from dynid_ros.estimation.result_files.result_file import read_result, write_result
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.motion.trajectory.motion_pair import MotionPair
from dynid_ros.pages.report.page import write_report
from dynid_ros.simulation.record import HOLD

EPOCH = 17 * 10**17


@cache
def recording():
    arm = load_arm('two_axis')
    return followed(arm, random_motion(arm, 5, tries=30), 250.0, seed=5).part(0, 3000)


def session(**settings):
    return OnlineIdentifier(
        load_arm('two_axis'), 'joint_states', cutoff_hz=5.0, delay=0.0, **settings)


def feed(to, log, first, last, portion=37):
    stamps = EPOCH + np.rint(log.t * 1e9).astype(np.int64)
    for start in range(first, last, portion):
        part = slice(start, min(start + portion, last))
        to.push_ns(stamps[part], log.q[part], log.u[part])


@pytest.mark.slow
@without_suspects()
def test_result_is_that_of_a_replay_and_asking_for_it_disturbs_nothing():
    log = recording()
    expected, _ = replay(load_arm('two_axis'), log, cutoff_hz=5.0)
    live = session()
    feed(live, log, 0, 1510)
    assert live.result().samples == 1510
    feed(live, log, 1510, len(log.t))
    result = live.result()
    # Stamps of whole nanoseconds are all that differs.
    scale = np.abs(expected.theta).max()
    np.testing.assert_allclose(result.theta, expected.theta, rtol=1e-6, atol=1e-8 * scale)
    assert result.validation.relative_error_percent == pytest.approx(
        expected.validation.relative_error_percent, rel=1e-5)
    assert result.verdict.trustworthy == expected.verdict.trustworthy


def possible_theta(result):
    grouping = base_parameters(result.arm).grouping
    return grouping @ result.standard_parameters().values


@pytest.mark.slow
@pytest.mark.parametrize('memory', [np.inf, 20.0])
def test_parameters_are_possible_unless_these_predict_worse(memory):
    log = recording()
    live, wrong = session(memory=memory), session(memory=memory)
    feed(live, log, 0, len(log.t))
    # Kinetic energy of this sign needs links of negative mass.
    feed(wrong, replace(log, u=-log.u), 0, len(log.t))
    good, bad = live.result(), wrong.result()
    assert good.possible and not bad.possible
    np.testing.assert_allclose(good.theta, possible_theta(good), rtol=1e-9, atol=1e-12)
    assert not np.allclose(bad.theta, possible_theta(bad), rtol=0.1)
    # Reversed signals are the cause, of which impossible bodies are the consequence.
    assert 'impossible' not in {each.code for each in good.verdict.findings}
    assert bad.verdict.findings[0].code in ('effort_sign', 'impossible')
    assert (good.std > 0).all() and good.from_data.all() and bad.from_data.all()


@without_suspects()
def test_information_of_a_result_is_that_of_its_samples_alone():
    log = recording().part(0, 1500)
    live = session()
    feed(live, log, 0, 1500)
    result = live.result()
    prior = arm_prior(result.arm)
    # Weak beside fifteen hundred samples, so that the samples alone give the estimate, too.
    alone = np.linalg.solve(result.root_information, result.root_torque)
    np.testing.assert_allclose(alone, live.estimate().theta, atol=0.02 * result.std.max())
    fresh = session().estimate()
    np.testing.assert_allclose(fresh.theta, prior.theta, atol=1e-12)
    np.testing.assert_allclose(fresh.std, np.sqrt(np.diag(prior.covariance)), rtol=1e-6)
    assert not fresh.root_information.any() and not fresh.from_data.any()


@without_suspects()
def test_restored_session_goes_on_to_the_last_bit():
    log = recording()
    whole, first, second = session(), session(), session()
    feed(whole, log, 0, len(log.t))
    feed(first, log, 0, 1250)
    second.restore(first.state())
    feed(second, log, 1250, len(log.t))
    np.testing.assert_array_equal(second.result().theta, whole.result().theta)
    np.testing.assert_array_equal(
        second.result().predictions[0].tau_hat, whole.result().predictions[0].tau_hat)
    assert second.samples == whole.samples


def test_state_of_other_settings_is_refused():
    with pytest.raises(ResultError, match='another'):
        session(memory=10.0).restore(session().state())


@cache
@without_suspects()
def batch():
    friction = ('viscous', 'coulomb_smooth', 'load')
    arm = replace(load_arm('two_axis'), friction_shape=FrictionShape(smooth_speed=0.05))
    return identify(arm, [recording()], friction=friction, holdout=0.0)


@without_suspects()
def test_session_that_starts_from_a_batch_has_its_friction_filters_and_load():
    log, first = recording(), batch()
    expected, _ = replay(first.arm, log, start=first)
    live = OnlineIdentifier(first.arm, start=first)
    feed(live, log, 0, len(log.t))
    result = live.result()
    # Stamps of whole nanoseconds are all that differs.
    np.testing.assert_allclose(result.theta, expected.theta, rtol=1e-5,
                               atol=1e-7 * np.abs(expected.theta).max())
    for each in (result, expected):
        assert each.arm.friction == ('viscous', 'coulomb_smooth', 'load')
        assert each.arm.friction_shape == FrictionShape(smooth_speed=0.05)
        assert each.treatment.cutoff_hz == first.treatment.cutoff_hz
        assert each.treatment.delay == first.treatment.delay
        off = np.abs(each.theta - first.theta)
        # Of the same samples, by other filters.
        assert (off < 3 * np.hypot(each.std, first.std)).all()


@pytest.mark.slow
@without_suspects()
def test_session_that_starts_from_a_result_keeps_its_friction_as_near_to_zero():
    log = recording()
    friction = ('viscous', 'coulomb', 'stribeck')
    arm = load_arm('two_axis').with_friction(friction)
    start = identify(arm, [log], friction=friction, holdout=0.0)
    ends = []
    for strength in (1e-6, 1e6):
        near = replace(start, friction_strength={'stribeck': strength})
        result, _ = replay(arm, log, start=near)
        ends.append(result)
        assert result.friction_strength == near.friction_strength
    names = base_parameters(arm).names
    own = [names.index(f'Fs{j}') for j in (1, 2)]
    assert np.abs(ends[0].theta[own]).max() < 1e-5 < np.abs(ends[1].theta[own]).min()
    assert ends[0].std[own].max() < 1e-4 < ends[1].std[own].min()
    plain, _ = replay(arm.with_friction(('viscous', 'coulomb')), log, start=start)
    np.testing.assert_allclose(
        np.delete(ends[0].theta, own), plain.theta, rtol=1e-3, atol=1e-4)


def test_state_of_a_session_with_another_start_is_refused():
    first = batch()
    other = replace(first, theta=1.1 * first.theta)
    settings = {'cutoff_hz': 5.0, 'delay': 0.0}
    state = OnlineIdentifier(first.arm, start=first, **settings).state()
    OnlineIdentifier(first.arm, start=first, **settings).restore(state)
    with pytest.raises(ResultError, match='another'):
        OnlineIdentifier(first.arm, start=other, **settings).restore(state)
    with pytest.raises(ResultError, match='another'):
        OnlineIdentifier(first.arm, **settings).restore(state)


def test_result_of_nothing_is_refused():
    with pytest.raises(RecordingError, match='no row was fitted'):
        session().result()


@without_suspects()
def test_reset_forgets_everything():
    log = recording()
    live, fresh = session(), session()
    feed(live, log, 0, 1500)
    live.reset()
    for each in (live, fresh):
        feed(each, log, 1500, len(log.t))
    np.testing.assert_array_equal(live.result().theta, fresh.result().theta)
    assert live.result().data_hash == fresh.result().data_hash


@without_suspects()
def test_replay_and_session_agree_at_the_same_delay():
    log, delay = recording().part(0, 1500), 0.01
    expected, _ = replay(load_arm('two_axis'), log, cutoff_hz=5.0, delay=delay)
    live = OnlineIdentifier(load_arm('two_axis'), 'joint_states', cutoff_hz=5.0, delay=delay)
    feed(live, log, 0, 1500)
    # Stamps are rounded to nanoseconds, nothing else differs.
    np.testing.assert_allclose(live.result().theta, expected.theta, rtol=1e-6)
    assert live.result().treatment.delay == delay


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('noise', [0.0, 1e-5])
def test_arm_that_stood_still_is_said_to_have_done_so(noise, tmp_path):
    live, rng = session(), np.random.default_rng(0)
    q = 0.3 + noise * rng.normal(size=(2000, 2))
    live.push_ns(EPOCH + np.arange(2000) * 2_000_000, q, np.full((2000, 2), 0.5))
    result = live.result()
    assert not result.verdict.trustworthy
    (reason,) = result.verdict.reasons
    assert 'the arm stood still' in reason
    assert result.verdict.undetermined_joints == load_arm('two_axis').joint_names
    assert np.isnan([result.fit.relative_error_percent,
                     result.validation.relative_error_percent]).all()
    write_result(result, tmp_path)
    write_report(read_result(tmp_path), tmp_path / 'report.html')


@pytest.mark.filterwarnings('error')
def test_joint_that_never_moved_has_no_figures_and_is_named():
    live, log = session(), recording().part(0, 1500)
    q = log.q.copy()
    q[:, 1] = 0.3
    live.push_ns(EPOCH + np.rint(log.t * 1e9).astype(np.int64), q, log.u)
    result = live.result()
    one, two = result.fit.joints
    assert np.isfinite([one.rmse, one.r2]).all() and np.isnan([two.rmse, two.r2]).all()
    assert log.joint_names[1] in result.verdict.undetermined_joints


@pytest.mark.parametrize('value', [0.0, 0.5])
def test_signal_that_nobody_measures_is_named_and_no_model_comes_of_it(value):
    """`dynid identify` refuses such a recording; a live session says it at its end."""
    log = recording()
    u = np.column_stack([log.u[:, 0], np.full(len(log.t), value)])
    live, resumed = session(), session()
    stamps = EPOCH + np.rint(log.t * 1e9).astype(np.int64)
    live.push_ns(stamps[:1500], log.q[:1500], u[:1500])
    resumed.restore(live.state())
    resumed.push_ns(stamps[1500:], log.q[1500:], u[1500:])
    reason = (f'pendulum_joint moves but its voltage is {value:g} throughout: the driver does not '
              'measure it')
    (dead,) = resumed.dead_signals
    assert (dead.code, dead.joints, dead.text) == ('effort_dead', ('pendulum_joint',), reason)
    verdict = resumed.result().verdict
    assert not verdict.trustworthy
    assert dead in verdict.findings


@pytest.mark.filterwarnings('error')
def test_no_signal_at_all_is_no_model_and_no_noise():
    log, live = recording(), session()
    live.push_ns(EPOCH + np.rint(log.t * 1e9).astype(np.int64), log.q, np.zeros_like(log.u))
    assert not live.result().verdict.trustworthy


def test_state_of_an_older_version_is_refused(monkeypatch):
    state = session().state()
    monkeypatch.setattr('dynid_ros.estimation.online.online_identifier.STATE_VERSION', 0)
    with pytest.raises(ResultError, match='or to an older version'):
        session().restore(state)


@pytest.mark.slow
def test_effort_without_gravity_gives_the_parameters_of_the_batch():
    arm = load_arm('hand_leg')
    arm = replace(arm, drive=replace(arm.drive, includes_gravity=False))
    log = followed(arm, random_motion(arm, 2, periods=2, tries=30), 200.0, seed=2)
    expected = estimated(arm, [log], friction=arm.friction)
    live = OnlineIdentifier(arm, cutoff_hz=5.0, delay=0.0)
    feed(live, log, 0, len(log.t), 500)
    for result in (live.result(), replay(arm, log, cutoff_hz=5.0, delay=0.0)[0]):
        assert list(result.parameters) == list(expected.parameters)
        assert result.verdict.trustworthy, result.verdict.reasons
        assert not result.arm.gravity.any()
        # Both know the truth to within their error bars.
        off = np.abs(result.theta - expected.theta)
        assert (off < 5 * np.hypot(result.std, expected.std)).all()


@pytest.mark.slow
@without_suspects()
def test_a_validation_motion_is_predicted_and_not_learned_from():
    arm = load_arm('two_axis')
    first, second = (random_motion(arm, seed, tries=30, periods=2) for seed in (0, 1))
    pair = MotionPair(first, second, 2.0)
    begin, end = HOLD + pair.excitation.duration, HOLD + pair.duration
    log = replace(followed(arm, pair, 200.0, seed=5), validation=((begin, end),))
    cut, last = np.searchsorted(log.t, [begin, end])
    live, before = session(), session()
    feed(live, log, 0, cut)
    feed(before, log, 0, cut)
    assert not live.validating
    live.validate(EPOCH * 1e-9 + begin)
    feed(live, log, cut, last)
    assert live.validating
    live.validate(EPOCH * 1e-9 + begin, EPOCH * 1e-9 + end)
    result, fitted = live.result(), before.result()
    words = 'Trustworthy: predicts torque on the last third of the samples before their use to '
    assert headline(fitted).startswith(words)
    # The rows of the last block before the mark are learned from; its noise sets the weights.
    feed(before, log, cut, last)
    learned = before.result()
    kept, changed = (np.abs(each.theta - fitted.theta) / fitted.std for each in (result, learned))
    assert kept.max() < 0.3 < 0.5 < changed.max()
    replayed, _ = replay(arm, log, cutoff_hz=5.0)
    for each in (result, replayed):
        assert each.validation.source.startswith('validation motion of')
        assert headline(each).startswith('Trustworthy: predicts torque on another motion to ')
        unseen = np.concatenate([part.t for part in each.predictions])
        assert each.validation.samples == ((unseen >= begin) & (unseen < end)).sum()
    assert replayed.validation.relative_error_percent == pytest.approx(
        result.validation.relative_error_percent, rel=0.01)
    again = session()
    again.restore(live.state())
    assert again.result().validation == result.validation


def test_a_motion_that_began_before_the_session_is_learned_from():
    log, live = recording(), session()
    live.validate(EPOCH * 1e-9)
    feed(live, log, 0, 500)
    live.validate(EPOCH * 1e-9 - 1.0)
    feed(live, log, 500, 1500)
    assert live.recursion.rows.all() and not live.validating
