"""The page in a real browser, with made-up nodes."""

from importlib.util import find_spec
from threading import Thread
import time

from browsers import chromium
import numpy as np
from pages.watch.live_rig import ARM, IDLE, MadeUp, motion, visit
import pytest

from dynid_ros.pages.watch.buttons import Buttons
from dynid_ros.pages.watch.commands import Command
from dynid_ros.pages.watch.live_state import LOST, Report

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec('viser') is None, reason='viser is not installed')]
START, YES = 'Start…', 'Move the arm'
#: Time within which a loss is told, s. News take less than the second one on a machine that is
#: not busy, and a loss may take several times as much longer as they do.
TOLD, NEWS, LATE = 2.0, 0.3, 3


@pytest.fixture(scope='module')
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def made_up():
    pages = []

    def make(**given):
        pages.append(MadeUp(**given))
        return pages[-1]

    yield make
    for each in pages:
        each.page.close()


def button(tab, name):
    return tab.get_by_role('button', name=name)


def asked_to_start(nodes, browser):
    """Open the page, press the start, and wait for the question."""
    nodes.state.motion = motion()
    tab = visit(browser, nodes.page.url)
    nodes.wait(tab, lambda: button(tab, START).count() and button(tab, START).is_enabled(),
               'a start that is possible')
    button(tab, START).click()
    nodes.wait(tab, lambda: button(tab, YES).count(), 'the question')
    return nodes, tab


def test_page_needs_no_network_and_complains_of_nothing(made_up, browser):
    nodes = made_up()
    tab = visit(browser, nodes.page.url)
    nodes.wait(tab, lambda: tab.get_by_text('idle', exact=True).count(), 'the phase')
    assert tab.complaints == []
    own = nodes.page.url.replace('http', '')
    assert [url for url in tab.asked if own not in url and not url.startswith(
        ('data:', 'blob:'))] == []
    # Where no browser is, nothing is drawn.
    tab.close()


def test_start_asks_and_shows_what_will_move_and_stop_is_one_click(made_up, browser):
    nodes, tab = asked_to_start(made_up(), browser)
    assert nodes.commands.take() == []
    shown = tab.get_by_role('table').inner_text()
    assert all(name in shown for name in ARM.joint_names)
    assert tab.get_by_text('The arm will move').count() == 1
    # No question, dialog or tab stands between the user and the stop.
    button(tab, 'STOP').click()
    asked = []
    nodes.wait(tab, lambda: asked.extend(nodes.commands.take()) or asked, 'the stop')
    assert [each.command for each in asked] == [Command.STOP]
    nodes.wait(tab, lambda: not button(tab, YES).count(), 'the end of the question')
    button(tab, START).click()
    nodes.wait(tab, lambda: button(tab, YES).count(), 'the question')
    button(tab, YES).click()
    nodes.wait(tab, lambda: asked.extend(nodes.commands.take()) or len(asked) > 1, 'the start')
    assert asked[-1].command is Command.START
    asked[-1].answered(False, 'no <b>states</b> come')
    nodes.wait(tab, lambda: tab.get_by_text('no <b>states</b> come').count(), 'the answer')
    tab.close()


def test_a_question_on_another_motion_does_not_stay(made_up, browser):
    nodes, tab = asked_to_start(made_up(), browser)
    nodes.state.motion = motion()
    nodes.wait(tab, lambda: not button(tab, YES).count(), 'the end of the question')
    tab.close()


def test_a_question_that_is_on_its_way_is_closed_when_it_is_there(made_up):
    nodes = made_up()
    nodes.state.motion = motion()
    nodes.say()
    page, following = nodes.page, []
    buttons = Buttons(page._server, page)

    class Slow:
        """The page, which draws another motion while the question goes to the browser."""

        give, course, question = page.give, page.course, page.question

        def show(self, course):
            if course is not None:
                nodes.state.motion = motion()
                following.append(Thread(target=buttons.update, args=(nodes.state,)))
                following[0].start()
                following[0].join(0.5)

    buttons._page = Slow()
    buttons._ask(page.course())
    following[0].join()
    assert not buttons._yes.visible


def test_stop_stays_in_sight_when_the_panel_is_scrolled(made_up, browser):
    nodes = made_up()
    for k in range(12):
        nodes.state.hear_report(f'node {k}', Report(1, 'much to say ' * 20, {}))
    tab = visit(browser, nodes.page.url)
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
    asked = []
    nodes.wait(tab, lambda: asked.extend(nodes.commands.take()) or asked, 'the stop')
    assert asked[0].command is Command.STOP
    tab.close()


def test_lost_nodes_and_a_lost_server_are_told(made_up, browser):
    nodes = made_up()
    tab = visit(browser, nodes.page.url)
    alarm, lost = tab.locator('.no-news'), tab.locator('.lost')
    # A slow machine may have taken long enough to open the page for both to be there.
    nodes.wait(tab, lambda: tab.get_by_text('idle', exact=True).count() and not lost.count()
               and not alarm.is_visible(), 'the phase, and no alarm')
    allowed = TOLD + LATE * max(0.0, slowest_news(nodes, tab) - NEWS)
    nodes.say()
    took = time_until(nodes, tab, lost.count, 'that the nodes are lost')
    assert LOST < took < allowed
    assert 'nothing from joint_states' in lost.inner_text()
    nodes.wait(tab, lambda: not lost.count(), 'that they are back')
    # A process that stands still closes no connection.
    nodes.page._ending.set()
    assert time_until(nodes, tab, alarm.is_visible, 'that the server is lost') < allowed
    tab.close()


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


def test_hostile_names_do_nothing(made_up, browser):
    nodes = made_up()
    evil = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>'
    for text in (evil, f'"\'>{evil}', f'</style>{evil}'):
        nodes.state.hear_report(text, Report(2, text, {'remedy': text}))
    for t in range(3):
        nodes.state.hear_estimates(float(t), [evil, 'b'], np.ones(2), np.ones(2), np.ones(2))
    tab = visit(browser, nodes.page.url)
    nodes.wait(tab, lambda: tab.get_by_text('window.hurt').count() > 3, 'the names')
    nodes.state.hear_publisher(Report(2, evil, {'phase': evil}))
    tab.wait_for_timeout(600)
    assert tab.evaluate('window.hurt') is None
    assert tab.locator('img[src=x]').count() == 0
    assert tab.complaints == []
    tab.close()


def test_buttons_need_the_token_where_others_reach_the_page(made_up, browser):
    nodes = made_up(host='0.0.0.0')
    token = nodes.page.access.token
    tab = visit(browser, nodes.page.url)
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
    other = visit(browser, nodes.page.url)
    nodes.wait(other, lambda: other.get_by_text('View only').count(), 'the note')
    assert not button(other, 'STOP').count()
    other.close()
    tab.close()


def test_arm_and_reference_follow_the_nodes(made_up):
    nodes = made_up()
    placed = {'_body': [], '_ghost': []}
    for name, heard in placed.items():
        getattr(nodes.page, name).place = heard.append
    nodes.page._draw()
    assert placed == {'_body': [], '_ghost': []}
    nodes.say(IDLE)
    nodes.state.hear_reference(nodes.middle + 0.1)
    began = time.monotonic()
    nodes.page._draw()
    assert time.monotonic() - began < LOST
    np.testing.assert_array_equal(placed['_body'][-1], nodes.middle)
    np.testing.assert_array_equal(placed['_ghost'][-1], nodes.middle + 0.1)
