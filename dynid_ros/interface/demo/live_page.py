# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The live page beside the nodes of the demonstration."""

from __future__ import annotations

from collections.abc import Callable
import os
import re
import sys
import time
import webbrowser

from dynid_ros.errors import DynidError
from dynid_ros.interface.demo.processes import Processes

#: Longest time until the page is served, s: the first start compiles kernels.
PAGE_SECONDS = 120.0
NODE = 'watch'


def start_page(nodes: Processes, arm: str, say: Callable[[str], None]) -> None:
    """
    Start the live page, wait until it is served, and open it if there is a screen.

    Parameters
    ----------
    nodes : Processes
        Takes the process.
    arm : str
        Shipped arm, or path of an arm.yaml.
    say : callable
        Takes the address of the page.

    Raises
    ------
    DynidError
        The page could not be opened.

    """
    nodes.start(NODE, arm=arm, port=0)
    log, end, url = nodes.logs / f'{NODE}.log', time.monotonic() + PAGE_SECONDS, None
    while url is None:
        nodes.check()
        if time.monotonic() > end:
            raise DynidError(f'the live page is not there after {PAGE_SECONDS:.0f} s')
        time.sleep(0.1)
        url = re.search(r'http://[\w.:]+(?=\s)', log.read_text())
    say(f'the live page: {url[0]}')
    if has_screen():
        webbrowser.open(url[0])


def wait_for_reader(say: Callable[[str], None]) -> None:
    """Leave the page open until somebody at a terminal has read it."""
    if sys.stdin is not None and sys.stdin.isatty():
        say('the live page stays open until you press Enter')
        sys.stdin.readline()


def has_screen() -> bool:
    """Whether there is a screen for a browser; one in the terminal would occupy that."""
    return sys.platform != 'linux' or bool(
        os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY'))
