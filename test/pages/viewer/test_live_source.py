# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What the live page knows: the newest only, in bounded memory, and who has fallen silent."""

from collections import deque
from importlib.util import find_spec
from threading import Thread

import numpy as np
import pytest
from viewer_rig import ARM, arm_file, HOSTILE, MadeUp, motion

from dynid_ros.arm import load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.pages.viewer.live_buttons import Buttons
from dynid_ros.pages.viewer.scene.arm_body import node_name
from dynid_ros.pages.viewer.sources.commands import Command, Request, taken
from dynid_ros.pages.viewer.sources.course import Course
from dynid_ros.pages.viewer.sources.live import (
    History,
    IDENTIFIER,
    LiveState,
    NODE_LOST_SECONDS,
    PUBLISHER,
    Report,
    STATES,
)

WITH_VISER = pytest.mark.skipif(find_spec('viser') is None, reason='viser is not installed')
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
    clock.now += NODE_LOST_SECONDS + 0.1
    assert STATES in state.lost
    # Those that report every half second, as by default: with a quarter of one for the drawing.
    clock.now += 1.75 - NODE_LOST_SECONDS - 0.1
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
    clock.now += NODE_LOST_SECONDS + 0.1
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
    waiting, said = deque(), []
    for command in (Command.SAVE, Command.START, Command.STOP):
        waiting.append(Request(command, lambda done, _, command=command: said.append(
            (command, done))))
    assert [each.command for each in taken(waiting)] == [Command.STOP, Command.SAVE]
    assert said == [(Command.START, False)]
    assert taken(waiting) == []


def test_course_holds_the_way_to_the_start_and_the_motion():
    allowed, there = planning_limits(ARM), motion()
    begin = there.q[0] + np.array([0.3, -0.05])
    found = Course(there, begin, allowed, 0.2)
    np.testing.assert_allclose(found.at(0.0), begin)
    np.testing.assert_allclose(found.at(found.duration), there.q[-1])
    positions = np.array([found.at(t) for t in np.linspace(0, found.duration, 2000)])
    np.testing.assert_allclose(positions.max(axis=0), found.upper, atol=1e-3)
    np.testing.assert_allclose(positions.min(axis=0), found.lower, atol=1e-3)
    speed = np.abs(np.diff(positions, axis=0)).max(axis=0) / (found.duration / 1999)
    np.testing.assert_allclose(speed, found.velocity, rtol=0.02)


@pytest.fixture(scope='module')
def page():
    nodes = MadeUp()
    yield nodes
    nodes.page.close()


@pytest.fixture
def nodes(page):
    """Return a page that no browser sees, and whose nodes have said nothing."""
    page.forget()
    return page


@WITH_VISER
def test_arm_and_reference_follow_the_nodes(nodes, monkeypatch):
    placed = {'_body': [], '_ghost': []}
    for name, heard in placed.items():
        monkeypatch.setattr(getattr(nodes.page, name), 'place', heard.append)
    nodes.page._place()
    assert placed == {'_body': [], '_ghost': []}
    assert not nodes.page._ghost.base.visible
    nodes.say()
    nodes.state.hear_reference(nodes.middle + 0.1)
    nodes.page._place()
    np.testing.assert_array_equal(placed['_body'], [nodes.middle])
    np.testing.assert_array_equal(placed['_ghost'], [nodes.middle + 0.1])
    assert nodes.page._ghost.base.visible


@WITH_VISER
def test_a_question_that_is_on_its_way_is_closed_when_it_is_there(nodes):
    nodes.state.motion = motion()
    nodes.say()
    page, following = nodes.page, []
    buttons = Buttons(page._server, page)

    class Slow:
        """The page, which draws another motion while the question goes to the browser."""

        course, question = page.course, page.question

        def show(self, course):
            if course is not None:
                nodes.state.motion = motion()
                following.append(Thread(target=buttons.update, args=(nodes.state,)))
                following[0].start()
                following[0].join(0.5)

    buttons._page = Slow()
    buttons._ask(page.course())
    following[0].join()
    assert not buttons._question.visible


@WITH_VISER
def test_the_arm_stands_in_its_surroundings_or_else_on_a_plain_floor(nodes, tmp_path):
    source = arm_file(tmp_path)
    arm = load_arm(source)
    other = MadeUp(arm, around=load_surroundings(source, arm))
    try:
        plain, furnished = (
            each.page._server.scene.get_handle_by_name for each in (nodes, other))
        assert furnished(f'/arm/box_0_{node_name(HOSTILE)}')
        assert furnished('/arm/wall_0_floor')
        assert not furnished('/floor')
        assert plain('/floor')
    finally:
        other.page.close()
