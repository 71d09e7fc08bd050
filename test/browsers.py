"""A Chromium without a screen, for the tests of pages."""

from contextlib import contextmanager
import shutil
from typing import Any

import pytest

#: Options by which it draws without a graphics card.
OPTIONS = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']


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
