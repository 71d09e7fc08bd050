# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The web server of 3D pages: quiet, without the network, closed to other web sites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import hmac
from ipaddress import ip_address, IPv4Address, IPv6Address
import logging
import secrets
import socket
from threading import Event
import time
from typing import Any, TYPE_CHECKING
from urllib.parse import urlsplit

from dynid_ros.errors import InputError, reason_of

if TYPE_CHECKING:
    import viser

#: Address of this machine that no other machine reaches.
LOOPBACK = '127.0.0.1'
#: Colour of buttons and bars, as of the curves of the report.
BRAND = (11, 92, 173)
#: Bytes of a token: more than can be tried.
TOKEN_BYTES = 16
#: Time between checks while no browser is connected, s.
IDLE = 0.5


def open_server(host: str, port: int, title: str) -> viser.ViserServer:
    """
    Open a web server with an empty 3D scene and an empty panel.

    Browsers reach it from its own pages only: another web site that a user visits can neither
    read the page nor press its buttons.

    Parameters
    ----------
    host : str
        Address to listen on; `LOOPBACK` for this machine alone.
    port : int
        Port; zero for any that is free (`get_port` of the result returns it).
    title : str
        Heading of the panel.

    Raises
    ------
    InputError
        viser is not installed, the address is not one of this machine, or the port is taken.

    """
    try:
        import viser
    except ImportError as error:
        raise InputError(
            '3D pages need viser, which is not installed; install it (pip install viser)'
        ) from error
    import rich

    _check_address(host, port)
    # viser prints a banner and each connection on the console that rich shares.
    rich.get_console().quiet = True
    logging.getLogger('websockets.server').setLevel(logging.CRITICAL)
    server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    # Allow no tunnel to a public address.
    server.request_share_url = lambda *_, **__: None
    _refuse_other_sites(server, host)
    # Without a graphics card, shadows and reflections take three quarters of the drawing time.
    server.scene.configure_default_lights(cast_shadow=False)
    server.scene.configure_environment_map(None)
    server.scene.add_light_ambient('/ambient', intensity=1.2)
    server.gui.configure_theme(
        show_logo=False, show_share_button=False, brand_color=BRAND)
    return server


def url_of(server: viser.ViserServer) -> str:
    """Return the address of a page for a browser of this computer."""
    host = server.get_host()
    name = 'localhost' if host in ('', '0.0.0.0', '::') else f'[{host}]' if ':' in host else host
    return f'http://{name}:{server.get_port()}'


def draw_while_seen(
    server: viser.ViserServer, drawings: Sequence[tuple[int, Callable[[], object]]],
    frames_hz: float, ending: Event,
) -> None:
    """
    Draw until the end, except while no browser is connected.

    Parameters
    ----------
    server : viser.ViserServer
        Server of the page.
    drawings : sequence of (int, callable)
        Drawing functions, with the number of frames between calls.
    frames_hz : float
        Frames a second.
    ending : Event
        Set at the end.

    """
    frame = 0
    while not ending.is_set():
        began = time.monotonic()
        seen = bool(server.get_clients())
        if seen:
            for frames, draw in drawings:
                if frame % frames == 0:
                    draw()
        # A browser that connects after a pause gets all drawings at once.
        frame = frame + 1 if seen else 0
        ending.wait(max(0.0, (1 / frames_hz if seen else IDLE) - (time.monotonic() - began)))


def token_for(host: str) -> str:
    """Make a token for commands; empty if only this computer reaches a host."""
    address = address_of(host)
    alone = host == 'localhost' or (address is not None and address.is_loopback)
    return '' if alone else secrets.token_urlsafe(TOKEN_BYTES)


def is_token(typed: str, token: str) -> bool:
    """Compare a typed token in constant time."""
    return hmac.compare_digest(typed.strip().encode(), token.encode())


def _check_address(host: str, port: int) -> None:
    """Bind once: viser takes the next port if one is taken, and hangs on a wrong address."""
    try:
        for family, *_, address in socket.getaddrinfo(
                host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE):
            socket.create_server((address[0], port, *address[2:]), family=family).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise InputError(
            f'cannot listen on port {port} of {host} ({reason_of(error)}): it is taken, or no '
            'address of this machine; give another --host, or a --port from 1024 to '
            '65535, or 0 for any that is free') from error


def _refuse_other_sites(server: viser.ViserServer, host: str) -> None:
    """Close connections that pages of other web sites open."""
    from websockets.exceptions import ConnectionClosedError

    live = server._websock_server._live_connections

    async def refuse(client: Any) -> None:
        connection = live[client.client_id]
        headers = connection.request.headers
        if not is_own(headers.get('Origin'), headers.get('Host', ''), host):
            await connection.close(1008, 'pages of other web sites are refused')
            # This keeps viser from reading data that the page has sent already.
            raise ConnectionClosedError(None, None)

    server._websock_server.on_client_connect(refuse)
    # Connections from before.
    server._websock_server.disconnect_all_clients()


def is_own(origin: str | None, host: str, listening: str) -> bool:
    """
    Whether a page comes from this server itself.

    The host must be an address, or a name that only this machine has: a foreign name could be made
    to point here.
    """
    # Programs other than browsers send no origin, or a false one.
    if origin is None:
        return True
    own = {'localhost', listening, socket.gethostname(), socket.getfqdn()}
    name = urlsplit(f'//{host}').hostname or ''
    return urlsplit(origin).netloc == host and (name in own or address_of(name) is not None)


def address_of(name: str) -> IPv4Address | IPv6Address | None:
    """Read an address; None for a name."""
    try:
        return ip_address(name)
    except ValueError:
        return None
