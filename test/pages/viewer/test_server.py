# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The server of pages: who reaches it, who may command, and that it draws for nobody."""

from importlib.util import find_spec
from threading import Event

import pytest

from dynid_ros.pages.viewer import server as module
from dynid_ros.pages.viewer.server import (
    draw_while_seen,
    is_own,
    is_token,
    open_server,
    token_for,
    url_of,
)


@pytest.mark.skipif(find_spec('viser') is None, reason='viser is not installed')
def test_pages_of_other_web_sites_are_refused():
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    server = open_server('127.0.0.1', 0, 'test')
    try:
        here = f'127.0.0.1:{server.get_port()}'

        def answer(origin):
            import viser

            with connect(f'ws://{here}', origin=origin,
                         subprotocols=[f'viser-v{viser.__version__}']) as page:
                return page.recv(timeout=60)

        assert answer(f'http://{here}')
        with pytest.raises(ConnectionClosed):
            answer('http://example.com')
    finally:
        server.stop()
    assert not is_own('http://example.com:80', 'example.com:80', '127.0.0.1')
    assert is_own('http://localhost:80', 'localhost:80', '127.0.0.1')


@pytest.mark.parametrize(('host', 'alone'), [
    ('127.0.0.1', True), ('127.3.2.1', True), ('::1', True), ('localhost', True),
    ('0.0.0.0', False), ('::', False), ('192.168.1.5', False), ('robot', False), ('', False)])
def test_only_loopback_does_without_a_token(host, alone):
    token = token_for(host)
    assert bool(token) != alone
    assert token == '' or token != token_for(host)


def test_who_knows_the_token_has_the_buttons():
    token = token_for('0.0.0.0')
    assert is_token(f' {token} ', token)
    assert not is_token(token + 'x', token)
    assert not is_token(token[:-1], token)
    assert not is_token('', token)


class Seen:
    """A server that browsers look at in some of the rounds of its page."""

    def __init__(self, rounds, host='127.0.0.1'):
        self.rounds, self.host, self.ending = iter(rounds), host, Event()

    def get_clients(self):
        seen = next(self.rounds, None)
        if seen is None:
            self.ending.set()
        return {0: 'a browser'} if seen else {}

    def get_host(self):
        return self.host

    def get_port(self):
        return 8080


def test_a_page_is_drawn_while_it_is_seen_and_anew_after_a_pause(monkeypatch):
    monkeypatch.setattr(module, 'IDLE', 0.0)
    server, drawn = Seen([False, True, True, True, True, False, True, True]), []
    draw_while_seen(server, ((1, lambda: drawn.append('arm')), (3, lambda: drawn.append('text'))),
                    1e6, server.ending)
    arm, both = ['arm'], ['arm', 'text']
    assert drawn == [*both, *arm, *arm, *both, *both, *arm]


@pytest.mark.parametrize(('host', 'name'), [
    ('127.0.0.1', '127.0.0.1'), ('0.0.0.0', 'localhost'), ('::', 'localhost'), ('::1', '[::1]'),
    ('robot', 'robot')])
def test_the_address_is_one_that_a_browser_of_this_computer_opens(host, name):
    assert url_of(Seen([], host)) == f'http://{name}:8080'
