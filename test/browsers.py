# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A Chromium without a screen, for the tests of pages."""

from contextlib import contextmanager
import shutil
from typing import Any

import pytest

#: Options by which it draws without a graphics card.
OPTIONS = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']
#: Time that a busy machine is given for what takes a moment, s.
PATIENCE = 120.0


@contextmanager
def chromium():
    """Start a browser, which is gone after the block; skip the test where there is none."""
    api = pytest.importorskip('playwright.sync_api', reason='playwright is not installed')
    found = next(filter(None, map(shutil.which, (
        'chromium', 'chromium-browser', 'google-chrome'))), None)
    with api.sync_playwright() as playwright:
        try:
            # By default, the one that playwright installs.
            browser = playwright.chromium.launch(executable_path=found, args=OPTIONS)
        except api.Error as error:
            pytest.skip(f'no Chromium: {str(error).splitlines()[0]}')
        try:
            yield browser
        finally:
            browser.close()


class FewFrames:
    """
    A browser that draws two pictures a second.

    Drawn by the processor, a scene takes as much of it as there is, from the nodes that are shown.
    """

    def __init__(self, browser: Any) -> None:
        self._browser = browser

    def new_page(self, **options: Any) -> Any:
        """Open a page."""
        tab = self._browser.new_page(**options)
        tab.add_init_script(
            'window.requestAnimationFrame ='
            ' draw => setTimeout(() => draw(performance.now()), 500);'
            'window.cancelAnimationFrame = clearTimeout')
        return tab


def visit(browser, url, width=900, height=500):
    """Open a page, and keep what it complains of and whom it asks."""
    tab = browser.new_page(viewport={'width': width, 'height': height})
    tab.complaints, tab.asked = [], []
    tab.on('console', lambda said: tab.complaints.append(said.text)
           if said.type == 'error' else None)
    tab.on('pageerror', lambda error: tab.complaints.append(str(error)))
    tab.on('request', lambda request: tab.asked.append(request.url))
    tab.set_default_timeout(1000 * PATIENCE)
    tab.goto(url)
    return tab


def check_alone(tab):
    """Make sure that a page has asked nobody but its own server, and complained of nothing."""
    own = tab.url.partition('//')[2].rstrip('/')
    assert [url for url in tab.asked
            if own not in url and not url.startswith(('data:', 'blob:'))] == []
    assert tab.complaints == []
