"""What the page knows: the newest only, in bounded memory, and who has fallen silent."""

import numpy as np
from pages.watch.live_rig import motion
import pytest

from dynid_ros.arm import load_arm
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.pages.watch.buttons import Access, is_loopback
from dynid_ros.pages.watch.commands import Command, Commands, Request
from dynid_ros.pages.watch.live_state import (
    History,
    IDENTIFIER,
    LiveState,
    LOST,
    PUBLISHER,
    Report,
    STATES,
)
from dynid_ros.pages.watch.planned_motion import Course

NAMES = ('shoulder', 'elbow')


class Time:
    """A clock in the hands of a test."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Time()


@pytest.fixture
def state(clock):
    return LiveState(NAMES, clock)


def report(text='good', level=0, **values):
    return Report(level, text, values)


def test_nothing_counts_as_lost_that_was_never_there(state, clock):
    clock.now += 1000
    assert (state.lost, state.q, state.publisher) == ((), None, None)


def test_each_source_is_lost_after_its_own_silence_and_comes_back(state, clock):
    for k in range(100):
        clock.now += 0.02
        state.hear_state(np.zeros(2))
        if k % 25 == 0:
            state.hear_publisher(report())
            state.hear_report(f'{IDENTIFIER}: stream', report())
    assert state.lost == ()
    clock.now += LOST + 0.1
    assert STATES in state.lost
    # Those that report every half second, as by default: with a quarter of one for the drawing.
    clock.now += 1.75 - LOST - 0.1
    assert set(state.lost) == {STATES, PUBLISHER, IDENTIFIER}
    state.hear_state(np.zeros(2))
    assert STATES not in state.lost


def test_a_node_that_reports_seldom_is_not_lost_between_two_reports(state, clock):
    for _ in range(40):
        clock.now += 5.0
        state.hear_publisher(report())
    clock.now += 5.0
    assert state.lost == ()


def test_an_old_reference_is_not_shown(state, clock):
    state.hear_reference(np.ones(2))
    assert state.reference is not None
    clock.now += LOST + 0.1
    assert state.reference is None


def test_names_without_end_do_not_fill_the_memory(state):
    for k in range(1000):
        state.hear_report(f'stranger {k}', report())
        state.hear_percent({f'stranger {k}': 1.0, 'elbow': 2.0, '': 3.0})
    assert len(state.reports) < 20
    assert state.errors == {'elbow': 2.0, '': 3.0}


def test_history_is_bounded_ordered_and_ends_with_the_newest_row():
    history = History(50)
    assert len(history.series(20)[0]) == 0
    for k in range(10_001):
        history.add(float(k), [2.0 * k])
    t, values = history.series(50)
    np.testing.assert_array_equal(t, np.arange(10_001 - 50, 10_001))
    np.testing.assert_array_equal(values[:, 0], 2 * t)
    few, _ = history.series(20)
    assert len(few) == 20 and few[0] == t[0] and few[-1] == t[-1] and (np.diff(few) > 0).all()


def test_a_clock_that_was_set_back_begins_the_history_anew():
    history = History(50)
    for t in (5.0, 6.0, 1.0, 2.0):
        history.add(t, [0.0])
    assert history.series(9)[0].tolist() == [1.0, 2.0]


def test_other_parameters_begin_their_history_anew(state):
    state.hear_estimates(0.0, ['a'], np.ones(1), np.ones(1), np.array([True]))
    state.hear_estimates(1.0, ['b', 'c'], np.ones(2), 2 * np.ones(2), np.array([True, False]))
    names, t, theta, std, from_data = state.estimate_series()
    assert names == ('b', 'c')
    assert (t.tolist(), theta.tolist(), std.tolist()) == ([1.0], [[1.0, 1.0]], [[2.0, 2.0]])
    assert from_data.tolist() == [True, False]


def test_a_stop_overtakes_all_and_revokes_starts():
    commands, said = Commands(), []
    for command in (Command.SAVE, Command.START, Command.STOP):
        commands.give(Request(command, lambda done, _, command=command: said.append(
            (command, done))))
    assert [each.command for each in commands.take()] == [Command.STOP, Command.SAVE]
    assert said == [(Command.START, False)]
    assert commands.take() == []


def test_course_holds_the_way_to_the_start_and_the_motion():
    arm = load_arm('two_axis')
    allowed, there = planning_limits(arm), motion(arm)
    begin = there.q[0] + np.array([0.3, -0.05])
    found = Course(there, begin, allowed, 0.2)
    np.testing.assert_allclose(found.at(0.0), begin)
    np.testing.assert_allclose(found.at(found.duration), there.q[-1])
    positions = np.array([found.at(t) for t in np.linspace(0, found.duration, 2000)])
    np.testing.assert_allclose(positions.max(axis=0), found.upper, atol=1e-3)
    np.testing.assert_allclose(positions.min(axis=0), found.lower, atol=1e-3)
    speed = np.abs(np.diff(positions, axis=0)).max(axis=0) / (found.duration / 1999)
    np.testing.assert_allclose(speed, found.velocity, rtol=0.02)


@pytest.mark.parametrize(('host', 'alone'), [
    ('127.0.0.1', True), ('127.3.2.1', True), ('::1', True), ('localhost', True),
    ('0.0.0.0', False), ('::', False), ('192.168.1.5', False), ('robot', False), ('', False)])
def test_only_loopback_does_without_a_token(host, alone):
    assert is_loopback(host) == alone
    access = Access(host)
    assert bool(access.token) != alone
    assert access.opened_by('') == alone
    assert access.opened_by(f' {access.token} ')
    assert access.opened_by(access.token + 'x') == alone
    assert access.token == '' or access.token != Access(host).token
