# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The pages of files and of made-up nodes in a real browser."""

from importlib.util import find_spec
import time

from browsers import check_alone, chromium, visit
import numpy as np
import pytest
from viewer_rig import (
    ARM,
    arm_file,
    differing,
    MadeUp,
    motion,
    motion_file,
    picture_of,
    SECONDS,
    settled_picture,
)

from dynid_ros.arm import load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.pages.viewer.exported_page import exported_page
from dynid_ros.pages.viewer.file_page import FilePage
from dynid_ros.pages.viewer.scene.track_scene import TrackScene
from dynid_ros.pages.viewer.server import LOOPBACK, open_server, url_of
from dynid_ros.pages.viewer.sources.commands import Command, taken
from dynid_ros.pages.viewer.sources.file import motion_track
from dynid_ros.pages.viewer.sources.live import NODE_LOST_SECONDS, Report

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec('viser') is None, reason='viser is not installed')]
START, YES = 'Start…', 'Move the arm'
#: Time within which a loss is told, s. News take less than the second one on a machine that is
#: not busy, and a loss may take several times as much longer as they do.
TOLD, NEWS, LATE = 2.0, 0.3, 3
#: Sizes of pages with a scene that moves, px: the processor draws them.
SMALL, SMALLEST = (640, 400), (400, 300)


@pytest.fixture(scope='module')
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def visited(browser):
    """Open pages in tabs that are gone after the test: they draw as long as they are there."""
    tabs = []

    def visited(*where):
        tabs.append(visit(browser, *where))
        return tabs[-1]

    yield visited
    for tab in tabs:
        tab.close()


@pytest.fixture
def scene(tmp_path):
    """Return the server and the scene of an arm with hostile names."""
    source = arm_file(tmp_path)
    arm = load_arm(source)
    server = open_server(LOOPBACK, 0, 'test')
    yield server, TrackScene(
        server, motion_track(motion_file(tmp_path), arm), load_surroundings(source, arm))
    server.stop()


def button(tab, name):
    return tab.get_by_role('button', name=name)


def check_harmless(tab):
    """Make sure that a hostile name is there, as text, and that no browser ran it."""
    check_alone(tab)
    assert 'onerror' in tab.inner_text('body')
    assert not tab.locator('img[src="x"]').count()
    assert 'hacked' not in tab.title()


def test_time_bar_of_the_page_of_a_file_moves_the_arm(visited, scene):
    server, scene = scene
    page, tab = FilePage(server, scene), visited(url_of(server), *SMALL)
    canvas = tab.locator('canvas').first
    canvas.wait_for()
    rest = settled_picture(tab, canvas)
    tab.get_by_role('slider').first.focus()
    began = time.monotonic()
    while page._t < SECONDS / 3:
        tab.keyboard.press('ArrowRight')
        tab.wait_for_timeout(20)
        assert time.monotonic() - began < 120
    page.advance()
    swung = settled_picture(tab, canvas)
    assert differing(rest, swung) > 0.005
    button(tab, 'least clearance').click()
    moment = next(m for m in scene.track.moments if m.kind == 'clearance')
    while abs(page._t - moment.t) > 1e-9:
        tab.wait_for_timeout(50)
        assert time.monotonic() - began < 240
    check_harmless(tab)


def test_exported_file_shows_the_arm_beside_its_charts(visited, scene, tmp_path):
    path = tmp_path / 'page.html'
    path.write_bytes(exported_page(*scene))
    tab = visited(path.as_uri(), *SMALLEST)
    canvas = tab.frame_locator('iframe').locator('canvas').first
    canvas.wait_for()
    first = tab.locator('figure polyline').first
    assert first.evaluate('line => line.getTotalLength()') > 100
    # It plays by itself, on a canvas that is of one colour until the scene is there.
    pictures, began = [], time.monotonic()
    while len(pictures) < 2 or differing(pictures[0], pictures[-1]) < 0.005:
        tab.wait_for_timeout(200)
        pictures += [each for each in [picture_of(canvas)] if each.std() > 0.01]
        assert time.monotonic() - began < 120
    check_harmless(tab)


@pytest.fixture
def guarded():
    nodes = MadeUp(host='0.0.0.0')
    yield nodes
    nodes.page.close()


def test_buttons_need_the_token_where_others_reach_the_page(guarded, visited):
    nodes = guarded
    token, tab = nodes.page.token, visited(nodes.page.url)
    nodes.wait(tab, lambda: tab.get_by_text('View only').count(), 'the note')
    nodes.wait(tab, lambda: tab.get_by_text('idle', exact=True).count(), 'the phase')
    assert token not in tab.content()
    assert not button(tab, 'STOP').count()
    entry = tab.locator('input:visible').first
    entry.fill(token[:-1])
    tab.wait_for_timeout(500)
    assert not button(tab, 'STOP').count()
    entry.fill(token)
    nodes.wait(tab, lambda: button(tab, 'STOP').count(), 'the buttons')
    # Those of one browser are not those of another.
    other = visited(nodes.page.url)
    nodes.wait(other, lambda: other.get_by_text('View only').count(), 'the note')
    assert not button(other, 'STOP').count()


@pytest.fixture(scope='module')
def opened(browser):
    """Return a page of made-up nodes in a tab for all tests: to open one takes seconds."""
    nodes = MadeUp()
    tab = visit(browser, nodes.page.url)
    yield nodes, tab
    tab.close()
    nodes.page.close()


@pytest.fixture
def live(opened):
    """Return the same without anything that another test has left."""
    nodes, tab = opened
    nodes.forget()
    nodes.wait(tab, lambda: tab.get_by_text('waiting for joint_states').count(), 'nothing', True)
    nodes.wait(tab, lambda: tab.get_by_text('idle', exact=True).count(), 'the phase')
    yield nodes, tab
    check_alone(tab)


def test_page_needs_no_network_and_complains_of_nothing(live):
    nodes, tab = live
    nodes.wait(tab, lambda: tab.get_by_text('good').count(), 'the reports')
    check_alone(tab)


def asked_to_start(nodes, tab):
    """Press the start, and wait for the question."""
    nodes.state.motion = motion()
    nodes.wait(tab, lambda: button(tab, START).is_enabled(), 'a start that is possible')
    button(tab, START).click()
    nodes.wait(tab, lambda: button(tab, YES).count(), 'the question')


def requests_until(nodes, tab, command):
    """Let nodes speak until a command was given, and return all that were given until then."""
    asked = []
    nodes.wait(tab, lambda: asked.extend(taken(nodes.page.requests)) or command in [
        each.command for each in asked], f'the {command.name}')
    return asked


def test_start_asks_and_shows_what_will_move_and_stop_is_one_click(live):
    nodes, tab = live
    asked_to_start(nodes, tab)
    assert taken(nodes.page.requests) == []
    shown = tab.get_by_role('table').inner_text()
    assert all(name in shown for name in ARM.joint_names)
    assert tab.get_by_text('The arm will move').count() == 1
    # No question, dialog or tab stands between the user and the stop.
    button(tab, 'STOP').click()
    assert len(requests_until(nodes, tab, Command.STOP)) == 1
    nodes.wait(tab, lambda: not button(tab, YES).count(), 'the end of the question')
    asked_to_start(nodes, tab)
    button(tab, YES).click()
    request, = requests_until(nodes, tab, Command.START)
    request.answered(False, 'no <b>states</b> come')
    nodes.wait(tab, lambda: tab.get_by_text('no <b>states</b> come').count(), 'the answer')


def test_a_question_on_another_motion_does_not_stay(live):
    nodes, tab = live
    asked_to_start(nodes, tab)
    nodes.state.motion = motion()
    nodes.wait(tab, lambda: not button(tab, YES).count(), 'the end of the question')


def test_stop_stays_in_sight_when_the_panel_is_scrolled(live):
    nodes, tab = live
    for k in range(12):
        nodes.state.hear_report(f'node {k}', Report(1, 'much to say ' * 20, {}))
    nodes.wait(tab, lambda: tab.get_by_text('node 9').count(), 'the reports')
    tab.get_by_text('node 9').scroll_into_view_if_needed()
    tab.get_by_text('node 9').hover()
    tab.mouse.wheel(0, 3000)
    # Further than the button and the phase are high.
    nodes.wait(tab, lambda: tab.evaluate(
        "[...document.querySelectorAll('.mantine-ScrollArea-viewport')]"
        '.some(each => each.scrollTop > 200)'), 'scrolling')
    box = button(tab, 'STOP').bounding_box()
    assert 0 <= box['y'] < 200
    # The click goes to what is really on top there.
    tab.mouse.click(box['x'] + box['width'] / 2, box['y'] + box['height'] / 2)
    assert len(requests_until(nodes, tab, Command.STOP)) == 1


def test_lost_nodes_and_a_lost_server_are_told(live, monkeypatch):
    nodes, tab = live
    alarm, lost = tab.locator('.no-news'), tab.locator('.lost')
    # A slow machine may have taken long enough to open the page for both to be there.
    nodes.wait(tab, lambda: tab.get_by_text('idle', exact=True).count() and not lost.count()
               and not alarm.is_visible(), 'the phase, and no alarm')
    allowed = TOLD + LATE * max(0.0, slowest_news(nodes, tab) - NEWS)
    nodes.say()
    took = time_until(nodes, tab, lost.count, 'that the nodes are lost')
    assert NODE_LOST_SECONDS < took < allowed
    assert 'nothing from joint_states' in lost.inner_text()
    nodes.wait(tab, lambda: not lost.count(), 'that they are back')
    # A process that stands still closes no connection.
    with monkeypatch.context() as still:
        still.setattr(nodes.page._server, 'get_clients', dict)
        assert time_until(nodes, tab, alarm.is_visible, 'that the server is lost') < allowed
    nodes.wait(tab, lambda: not alarm.is_visible(), 'that it is back')


def slowest_news(nodes, tab):
    """Measure how long this machine takes to show a new phase, s: the longest of six times."""
    times = []
    for phase in 3 * ('running', 'idle'):
        shown = tab.get_by_text(phase, exact=True)
        began = time.monotonic()
        nodes.say(Report(0, phase, {'phase': phase}))
        nodes.wait(tab, shown.count, 'the phase', silent=True)
        times.append(time.monotonic() - began)
    return max(times)


def time_until(nodes, tab, condition, what):
    """Say nothing until something is so; return the time that it takes, s."""
    began = time.monotonic()
    nodes.wait(tab, condition, what, silent=True)
    return time.monotonic() - began


def test_hostile_names_do_nothing(live):
    nodes, tab = live
    evil = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>'
    for text in (evil, f'"\'>{evil}', f'</style>{evil}'):
        nodes.state.hear_report(text, Report(2, text, {'remedy': text}))
    for t in range(3):
        nodes.state.hear_estimates(float(t), [evil, 'b'], np.ones(2), np.ones(2), np.ones(2))
    nodes.wait(tab, lambda: tab.get_by_text('window.hurt').count() > 3, 'the names')
    nodes.state.hear_publisher(Report(2, evil, {'phase': evil}))
    tab.wait_for_timeout(600)
    assert tab.evaluate('window.hurt') is None
    assert tab.locator('img[src=x]').count() == 0
