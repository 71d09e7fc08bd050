# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The buttons of one browser, which no other browser can press or remove."""

from __future__ import annotations

from threading import RLock
from typing import Any, TYPE_CHECKING

from dynid_ros.pages.report.templating import part
from dynid_ros.pages.viewer.server import is_token
from dynid_ros.pages.viewer.sources.commands import Command, Request
from dynid_ros.pages.viewer.sources.course import Course
from dynid_ros.pages.viewer.sources.live import IDENTIFIER, LiveState

if TYPE_CHECKING:
    import viser

    from dynid_ros.pages.viewer.live_page import LivePage

#: Places in the panel, which other elements come between.
STOP, STATE, START, QUESTION, FREEZE, SAVE = range(6)
VIEW_ONLY = ('<div style="padding:6px 12px;font-size:13px">View only. The buttons need the token '
             'that the command printed where it was started.</div>')


def open_panel(client: viser.ClientHandle, page: LivePage) -> None:
    """Give a browser its buttons, at once or when the token is typed."""
    def opened() -> None:
        page.buttons[client.client_id] = Buttons(client, page)

    def typed(_: Any) -> None:
        if is_token(entry.value, page.token):
            note.remove()
            entry.remove()
            opened()

    if page.token:
        note = client.gui.add_html(VIEW_ONLY, order=STOP)
        entry = client.gui.add_text('Token', '', order=STOP)
        entry.on_update(typed)
    else:
        opened()


class Buttons:
    """
    Stop, start with a confirmation, freeze and save.

    Parameters
    ----------
    client : ClientHandle
        The browser.
    page : LivePage
        The page.

    """

    def __init__(self, client: viser.ClientHandle, page: LivePage) -> None:
        from viser import Icon

        self._client, self._page = client, page
        self._asked: Course | None = None
        # Clicks and pictures come from other threads: a question must reach the browser before it
        # is closed.
        self._asking = RLock()
        self._frozen = False
        gui = client.gui
        gui.add_html(part('watch_stop.html'), order=STOP)
        gui.add_button(
            'STOP', color='red', icon=Icon.HAND_STOP, order=STOP,
            hint='Slows the arm down on its path, and holds it. It is no emergency stop.',
        ).on_click(self._on_stop)
        self._start = gui.add_button('Start…', disabled=True, order=START,
                                     hint='Shows first what will move.')
        self._start.on_click(lambda _: self._ask(self._page.course()))
        self._question = gui.add_folder(None, order=QUESTION, visible=False)
        with self._question:
            self._course = gui.add_html('')
            gui.add_button('Move the arm', color='green').on_click(self._on_yes)
            gui.add_button('Cancel', color='gray').on_click(lambda _: self._ask(None))
        self._freeze = gui.add_button('Freeze the estimates', color='gray', order=FREEZE)
        self._freeze.on_click(
            lambda _: self._give(Command.LEARN if self._frozen else Command.FREEZE))
        gui.add_button('Save the result', color='gray', order=SAVE).on_click(
            lambda _: self._give(Command.SAVE))

    def update(self, state: LiveState) -> None:
        """Update the buttons to the nodes: possible starts, and frozen estimates."""
        free = self._page.course() is not None and not state.moving
        with self._asking:
            self._start.disabled = not free or self._asked is not None
            if self._asked is not None and (
                    not free or state.motion is not self._asked.motion):
                self._ask(None)
        stream = state.reports.get(f'{IDENTIFIER}: stream')
        self._frozen = stream is not None and stream.values.get('frozen') == 'True'
        self._freeze.label = 'Go on learning' if self._frozen else 'Freeze the estimates'

    def _on_stop(self, _: Any) -> None:
        self._give(Command.STOP)
        self._ask(None)

    def _on_yes(self, _: Any) -> None:
        with self._asking:
            asked = self._asked
            self._ask(None)
        if asked is not None:
            self._give(Command.START)

    def _ask(self, course: Course | None) -> None:
        """Show the motion, and ask for confirmation; None withdraws the question."""
        with self._asking:
            self._asked = course
            if course is not None:
                self._course.content = self._page.question(course)
            self._page.show(course)
            self._question.visible = course is not None

    def _give(self, command: Command) -> None:
        def answered(done: bool, answer: str) -> None:
            name = command.name.lower()
            self._page.remark = f'{name}: {answer}'
            self._client.add_notification(
                name if done else f'{name}: not done', answer[:200],
                color='green' if done else 'red', auto_close_seconds=5.0 if done else 15.0)

        self._page.requests.append(Request(command, answered))
