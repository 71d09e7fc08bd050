"""A live session against a replay of the same samples."""

from functools import cache

import numpy as np
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.errors import RecordingError, ResultError
from dynid_ros.estimation.replay import replay
from dynid_ros.estimation.session import Session
from dynid_ros.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate

EPOCH = 17 * 10**17


@cache
def recording():
    arm = load_arm('two_axis')
    return simulate(arm, random_motion(arm, 5), seed=5).log.part(0, 6000)


def session(**settings):
    return Session(load_arm('two_axis'), 'joint_states', cutoff_hz=5.0, delay=0.0, **settings)


def feed(to, log, first, last, portion=37):
    stamps = EPOCH + np.rint(log.t * 1e9).astype(np.int64)
    for start in range(first, last, portion):
        part = slice(start, min(start + portion, last))
        to.push(stamps[part], log.q[part], log.u[part])


def test_result_is_that_of_a_replay_and_asking_for_it_disturbs_nothing():
    log = recording()
    expected, _ = replay(load_arm('two_axis'), log, cutoff_hz=5.0)
    live = session()
    feed(live, log, 0, 3010)
    assert live.result().samples == 3010
    feed(live, log, 3010, len(log.t))
    result = live.result()
    # Stamps of whole nanoseconds are all that differs.
    scale = np.abs(expected.theta).max()
    np.testing.assert_allclose(result.theta, expected.theta, rtol=1e-6, atol=1e-8 * scale)
    assert result.validation.relative_error_percent == pytest.approx(
        expected.validation.relative_error_percent, rel=1e-5)
    assert result.verdict.trustworthy == expected.verdict.trustworthy


def test_restored_session_goes_on_to_the_last_bit():
    log = recording()
    whole, first, second = session(), session(), session()
    feed(whole, log, 0, len(log.t))
    feed(first, log, 0, 2500)
    second.restore(first.state())
    feed(second, log, 2500, len(log.t))
    np.testing.assert_array_equal(second.result().theta, whole.result().theta)
    np.testing.assert_array_equal(
        second.result().predictions[0].tau_hat, whole.result().predictions[0].tau_hat)
    assert second.samples == whole.samples


def test_state_of_other_settings_is_refused():
    with pytest.raises(ResultError, match='another'):
        session(memory=10.0).restore(session().state())


def test_result_of_nothing_is_refused():
    with pytest.raises(RecordingError, match='nothing was learned'):
        session().result()


def test_reset_forgets_everything():
    log = recording()
    live, fresh = session(), session()
    feed(live, log, 0, 3000)
    live.reset()
    for each in (live, fresh):
        feed(each, log, 3000, len(log.t))
    np.testing.assert_array_equal(live.result().theta, fresh.result().theta)
    assert live.result().data_hash == fresh.result().data_hash
