# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The first seconds of a stream give its band, whatever the portions in which they come."""

from concurrent.futures import Executor, Future
from dataclasses import replace

from estimates import without_suspects
import numpy as np
import pytest
from synthetic_recordings import recording, Waves

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.load import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.online.first_band import FIRST_SECONDS, HELD_SECONDS
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.estimation.online.replay import replay
from dynid_ros.estimation.online.row_pipeline import HELD_TOGETHER

RATE = 100.0


@pytest.fixture(autouse=True, scope='module')
def figures_alone():
    with without_suspects():
        yield


@pytest.fixture(scope='module')
def arm():
    made = load_arm('two_axis')
    return replace(made, drive=Drive.joint_torque(made.n))


def log_of(arm, seconds=20.0, delay=0.0, noise=0.0):
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    made = recording(arm, Waves.random(arm, seed=2), theta,
                     np.zeros((int(seconds * RATE), arm.n)), rate=RATE, delay=delay)
    random = np.random.default_rng(0)
    return replace(made, q=made.q + random.normal(0, 1, made.q.shape) * noise,
                   u=made.u + random.normal(0, 1e-3, made.u.shape))


class Later(Executor):
    """Does its work when it is told to, as a thread that is as slow as the test wants it."""

    def __init__(self):
        self.asked = []

    def submit(self, function, /, *arguments, **named):
        """Take note of the work."""
        future = Future()
        self.asked.append((future, function, arguments, named))
        return future

    def work(self):
        """Do the work."""
        for future, function, arguments, named in self.asked:
            future.set_result(function(*arguments, **named))


def pushed(arm, log, portion, executor=None):
    """Push a log in portions; return the session, and after how many samples it began."""
    session, began = OnlineIdentifier(arm, executor=executor), None
    for k in range(0, len(log.t), portion):
        part = slice(k, k + portion)
        session.push(log.t[part], log.q[part], log.u[part])
        if began is None and not session.holding:
            began = k + portion
    return session, began


def learned(session):
    """Return what a session learned to its end, whose result would be searched for faults, too."""
    session.flush()
    return session.estimate().theta


@pytest.fixture(scope='module')
def late(arm):
    """Return a log whose signals are late, and what a stream learns of it."""
    log = log_of(arm, delay=0.05)
    session, _ = pushed(arm, log, 50)
    return log, session.pipeline.delay, session.result()


@pytest.fixture(scope='module')
def replayed(arm, late):
    return replay(arm, late[0])[0]


def test_samples_are_held_for_some_seconds_of_motion(arm):
    log = log_of(arm)
    _, began = pushed(arm, log, 1)
    assert FIRST_SECONDS * RATE < began <= (FIRST_SECONDS + 2.0) * RATE


@pytest.mark.parametrize('portion', [1, 18, 700, 5000])
def test_the_result_does_not_depend_on_the_portions(arm, late, replayed, portion):
    session, _ = pushed(arm, late[0], portion)
    assert session.pipeline.delay == replayed.treatment.delay == pytest.approx(0.05, abs=2e-3)
    # Stamps of a session are whole nanoseconds.
    np.testing.assert_allclose(session.result().theta, replayed.theta, rtol=1e-6, atol=1e-8)


def test_noise_of_the_positions_gives_a_lower_cut_off(arm):
    clean, noisy = (pushed(arm, log_of(arm, noise=noise), 50)[0] for noise in (0.0, 0.02))
    assert clean.pipeline.cutoff_hz == 5.0 > noisy.pipeline.cutoff_hz


def test_a_saved_session_that_holds_goes_on(arm):
    log = log_of(arm)
    whole, _ = pushed(arm, log, 50)
    for stop in (500, 1500):
        first, second = OnlineIdentifier(arm), OnlineIdentifier(arm)
        first.push(log.t[:stop], log.q[:stop], log.u[:stop])
        assert first.holding == (stop == 500)
        second.restore(first.state())
        second.push(log.t[stop:], log.q[stop:], log.u[stop:])
        np.testing.assert_allclose(
            learned(second), learned(whole), rtol=1e-9, atol=1e-12)


def test_a_stream_that_ends_while_it_holds_has_a_result(arm):
    session, began = pushed(arm, log_of(arm, seconds=6.0), 50)
    assert began is None and session.holding
    assert session.result().fit.relative_error_percent < 1.0
    # The copy that gives the result leaves the session as it is.
    assert session.holding


def test_a_rest_before_the_motion_is_not_held_and_decides_nothing(arm):
    # As from a node that is started, and waits for more than a minute until somebody starts the
    # motion, whose recording begins shortly before it.
    log, rest = log_of(arm, delay=0.05), int((HELD_SECONDS + 15.0) * RATE)
    random = np.random.default_rng(1)
    still = log.q[0] + random.normal(0, 1e-5, (rest, arm.n))
    waited = replace(
        log, t=np.arange(rest + len(log.t)) / RATE, q=np.vstack([still, log.q]),
        u=np.vstack([log.u[0] + random.normal(0, 1e-3, still.shape), log.u]))
    session = OnlineIdentifier(arm)
    for k in range(0, rest, 50):
        session.push(*(each[k:k + 50] for each in (waited.t, waited.q, waited.u)))
        assert len(session.pipeline.held) <= (HELD_SECONDS + 2.0) * RATE
    assert session.holding
    session.push(waited.t[rest:], waited.q[rest:], waited.u[rest:])
    alone, _ = pushed(arm, log, 50)
    assert session.pipeline.cutoff_hz == alone.pipeline.cutoff_hz
    assert session.pipeline.delay == pytest.approx(alone.pipeline.delay, abs=2e-3)
    assert alone.pipeline.delay == pytest.approx(0.05, abs=2e-3)


def test_an_arm_that_hardly_moves_is_not_held_for_ever(arm):
    log = log_of(arm, seconds=HELD_SECONDS + 5.0)
    after = log.t[:, None] > 3.0
    still = replace(log, q=np.where(after, log.q[300], log.q))
    session, began = pushed(arm, still, 50)
    assert began == pytest.approx(HELD_SECONDS * RATE, abs=2 * RATE)
    assert session.pipeline.cutoff_hz > 0


def test_a_given_cut_off_holds_nothing(arm):
    assert not OnlineIdentifier(arm, cutoff_hz=4.0).holding


@pytest.mark.parametrize('portion', [7, 700])
def test_the_result_does_not_depend_on_the_end_of_the_search(arm, late, portion):
    log, delay, expected = late
    for count in (0, 1, 300):
        executor = Later()
        session = OnlineIdentifier(arm, executor=executor)
        waited, most = 0, 0
        for k in range(0, len(log.t), portion):
            part = slice(k, k + portion)
            learned = session.push(log.t[part], log.q[part], log.u[part])
            if executor.asked and waited <= count:
                # The search has not ended: the stream goes on, and nothing is learned yet.
                assert not learned and session.holding
                waited += len(log.t[part])
                if waited > count:
                    executor.work()
            most = max(most, sum(len(block.t) for block, _ in learned))
        assert len(executor.asked) == 1
        # A portion of samples and a block that was begun before, at the rate of the rows.
        assert 0 < most <= (HELD_TOGETHER + 50) / session.pipeline.settings.decimation + 1
        assert session.pipeline.delay == delay
        result = session.result()
        np.testing.assert_array_equal(result.theta, expected.theta)
        assert result.data_hash == expected.data_hash


def test_samples_that_waited_are_learned_without_further_ones(arm):
    log, executor = log_of(arm), Later()
    session, _ = pushed(arm, log, 50, executor)
    executor.work()
    pushes = 0
    while session.holding:
        session.push([], [], [])
        pushes += 1
    assert pushes == -(-len(log.t) // HELD_TOGETHER)
    np.testing.assert_array_equal(
        session.recursion.theta, pushed(arm, log, 50)[0].recursion.theta)


def test_copies_wait_for_the_same_search_and_a_saved_session_searches_again(arm):
    log, executor, half = log_of(arm), Later(), 1500
    expected = learned(pushed(arm, log, 50)[0])
    session, _ = pushed(arm, log.part(0, half), 50, executor)
    copied, resumed = session.copy(), OnlineIdentifier(arm, executor=(own := Later()))
    resumed.restore(session.state())
    for each, search in ((session, executor), (copied, executor), (resumed, own)):
        for k in range(half, len(log.t), 50):
            part = slice(k, k + 50)
            assert not each.push(log.t[part], log.q[part], log.u[part])
        assert each.holding and len(search.asked) == 1
    executor.work()
    own.work()
    for each in (session, copied, resumed):
        np.testing.assert_array_equal(learned(each), expected)


def test_friction_by_load_does_not_depend_on_the_portions(arm):
    loaded = replace(arm, friction=('viscous', 'coulomb', 'load'))
    log = log_of(arm)
    first, second = (learned(pushed(loaded, log, portion)[0]) for portion in (50, 700))
    np.testing.assert_array_equal(first, second)
