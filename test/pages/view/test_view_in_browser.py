"""The pages of ``dynid view`` in a real browser."""

import time

import pytest
from view_rig import (
    arm_file,
    browser_page,
    differing,
    motion_file,
    picture_of,
    SECONDS,
    settled_picture,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def content(tmp_path):
    pytest.importorskip('viser')
    from dynid_ros.arm import load_arm
    from dynid_ros.arm.surroundings import load_surroundings
    from dynid_ros.pages.view.link_visuals import link_visuals
    from dynid_ros.pages.view.track import motion_track

    source = arm_file(tmp_path)
    arm = load_arm(source)
    around = load_surroundings(source, arm)
    return motion_track(motion_file(tmp_path), arm), around, link_visuals(around, arm)


@pytest.fixture
def server():
    pytest.importorskip('viser')
    from dynid_ros.pages.view.server import LOOPBACK, open_server

    server = open_server(LOOPBACK, 0, 'test')
    yield server
    server.stop()


def test_time_bar_of_the_live_page_moves_the_arm(server, content):
    from dynid_ros.pages.view.player import Player
    from dynid_ros.pages.view.stage import Stage

    stage = Stage(server, *content)
    player = Player(server, stage)
    with browser_page() as page:
        page.goto(f'http://127.0.0.1:{server.get_port()}')
        canvas = page.locator('canvas').first
        canvas.wait_for()
        rest = settled_picture(page, canvas)
        bar = page.get_by_role('slider').first
        bar.focus()
        began = time.monotonic()
        while player._t < SECONDS / 3:
            page.keyboard.press('ArrowRight')
            page.wait_for_timeout(20)
            assert time.monotonic() - began < 120
        player.advance(0.0)
        swung = settled_picture(page, canvas)
        assert differing(rest, swung) > 0.005
        page.get_by_role('button', name='least clearance').click()
        moment = next(m for m in stage.track.moments if m.kind == 'clearance')
        while abs(player._t - moment.t) > 1e-9:
            page.wait_for_timeout(50)
            assert time.monotonic() - began < 240
        # The name is there, as text.
        assert 'onerror' in page.inner_text('body')
        assert not page.locator('img[src="x"]').count()


def test_exported_file_shows_the_arm_beside_its_charts(server, content, tmp_path):
    from dynid_ros.pages.view.exported_page import exported_page
    from dynid_ros.pages.view.stage import Stage

    path = tmp_path / 'page.html'
    path.write_bytes(exported_page(server, Stage(server, *content)))
    with browser_page() as page:
        page.goto(path.as_uri())
        canvas = page.frame_locator('iframe').locator('canvas').first
        canvas.wait_for()
        first = page.locator('figure polyline').first
        assert first.evaluate('line => line.getTotalLength()') > 100
        # It plays by itself, on a canvas that is of one colour until the scene is there.
        pictures, began = [], time.monotonic()
        while len(pictures) < 2 or differing(pictures[0], pictures[-1]) < 0.005:
            pictures += [each for each in [picture_of(canvas)] if each.std() > 0.01]
            assert time.monotonic() - began < 120
        assert 'onerror' in page.inner_text('main')
        assert not page.locator('img[src="x"]').count()
