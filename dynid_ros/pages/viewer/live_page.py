# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The page of live topics: an arm, its motion and its estimate, at the rate of a display."""

from __future__ import annotations

from collections import deque
from itertools import count
from threading import Event, Thread
import time
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.arm.surroundings import Surroundings
from dynid_ros.errors import written_down
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.pages.viewer import live_texts
from dynid_ros.pages.viewer.live_buttons import Buttons, open_panel, SAVE, STATE
from dynid_ros.pages.viewer.live_charts import error_strips, estimate_tiles
from dynid_ros.pages.viewer.scene.arm_body import ArmBody, link_frames
from dynid_ros.pages.viewer.scene.link_visuals import link_visuals
from dynid_ros.pages.viewer.scene.surroundings import add_surroundings
from dynid_ros.pages.viewer.server import draw_while_seen, open_server, token_for, url_of
from dynid_ros.pages.viewer.sources.commands import Request
from dynid_ros.pages.viewer.sources.course import Course
from dynid_ros.pages.viewer.sources.live import ERROR_POINTS, LiveState

if TYPE_CHECKING:
    import viser


#: Frames a second, and frames from one drawing of the texts and of the charts to the next.
FRAMES = 15
TEXTS, ERROR_CHARTS, ESTIMATE_CHARTS = 3, 7, 15
#: Most waiting requests.
MOST_REQUESTS = 100
#: Opacity and colour of the arm that shows the reference or a motion.
GHOST, GHOST_COLOUR = 0.35, (11, 92, 173)
#: Share of the limits on the way to the start where the publisher does not report it.
START_SPEED = 0.2
#: Space around the joints, m.
AROUND = 0.3


class LivePage:
    """
    A page in a thread of its own, which draws the newest only.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    around : Surroundings
        Its surroundings.
    host : str
        Address on which the page is served.
    port : int
        Its port; zero for any that is free.
    state : LiveState
        State of the nodes.

    Attributes
    ----------
    url : str
        Address for a browser of this computer.
    token : str
        Secret for the buttons; empty if only this computer reaches the page.
    requests : deque of Request
        Requests of the buttons.
    remark : str
        The last command and its answer, which all browsers show.
    buttons : dict of int to Buttons
        Of the browsers that have them, by the number of the browser.
    note : str
        One line on meshes that are missing, or empty.
    fault : str
        Reason why drawing has stopped; empty for none.

    Raises
    ------
    InputError
        viser is not installed, or there is no such address, or its port is taken.

    """

    def __init__(
        self, arm: ArmModel, around: Surroundings, host: str, port: int, state: LiveState,
    ) -> None:
        self._arm, self._state, self._allowed = arm, state, planning_limits(arm)
        self.requests: deque[Request] = deque(maxlen=MOST_REQUESTS)
        self.buttons: dict[int, Buttons] = {}
        self.remark = self.fault = ''
        self._shown: tuple[Course, float] | None = None
        self._beats, self._ending = count(), Event()
        self._server = open_server(host, port, f'dynid watch: {arm.name}')
        self.token, self.url = token_for(host), url_of(self._server)
        self._add_scene(around)
        self._add_panels()
        self._server.on_client_connect(lambda client: open_panel(client, self))
        self._server.on_client_disconnect(self._forget)
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving the page."""
        self._ending.set()
        self._thread.join()
        self._server.stop()

    def course(self) -> Course | None:
        """Return the course of a start now, if known."""
        state = self._state
        if state.motion is None or state.q is None or state.publisher is None:
            return None
        try:
            speed = float(state.publisher.values.get('start_speed', START_SPEED))
        except ValueError:
            speed = START_SPEED
        return Course(state.motion, state.q, self._allowed, speed)

    def question(self, course: Course) -> str:
        """Describe the motion of a course."""
        return live_texts.course_text(
            course, self._arm.joint_names, self._arm.prismatic, self._allowed,
            self._state.publisher)

    def show(self, course: Course | None) -> None:
        """Let the translucent arm show a course, or the reference."""
        self._shown = None if course is None else (course, time.monotonic())

    def _add_scene(self, around: Surroundings) -> None:
        arm, scene = self._arm, self._server.scene
        visuals, self.note = link_visuals(around, arm)
        self._body = ArmBody(scene, arm, visuals)
        self._ghost = ArmBody(scene, arm, visuals, 'reference', GHOST, GHOST_COLOUR)
        joints = link_frames(arm, self._allowed.middle[None])[1][0]
        reach = AROUND + float(np.linalg.norm(joints, axis=1).max())
        add_surroundings(self._server, self._body, around,
                         joints.mean(axis=0) + reach / 2 * np.array([[-1.0], [1.0]]))
        if not around.walls:
            scene.add_grid('/floor', width=4 * reach, height=4 * reach)

    def _add_panels(self) -> None:
        from viser import Icon

        gui = self._server.gui
        gui.main_panel.dock_right()
        gui.main_panel.set_width(380)
        self._text, self._reports, self._strips = (
            gui.add_html('', order=order) for order in (STATE, SAVE + 1, SAVE + 2))
        side = gui.add_panel()
        side.dock_left()
        side.set_width(430)
        with side.add_tab('Estimates, ± 95 %', Icon.CHART_AREA_LINE):
            self._tiles = gui.add_html('')

    def _forget(self, client: viser.ClientHandle) -> None:
        self.buttons.pop(client.client_id, None)
        self._shown = None

    def _run(self) -> None:
        """Draw until the page is closed."""
        try:
            draw_while_seen(self._server, (
                (1, self._place), (TEXTS, self._tell), (ERROR_CHARTS, self._report),
                (ESTIMATE_CHARTS, self._estimate)), FRAMES, self._ending)
        except Exception as error:
            # The page reports that its data are old, and its buttons still work.
            self.fault = written_down(error)

    def _place(self) -> None:
        """Move both arms."""
        q, wanted, shown = self._state.q, self._state.reference, self._shown
        if shown is not None:
            course, began = shown
            wanted = course.at((time.monotonic() - began) % course.duration)
        with self._server.atomic():
            if q is not None:
                self._body.place(q)
            if wanted is not None:
                self._ghost.place(wanted)
            self._ghost.base.visible = wanted is not None

    def _tell(self) -> None:
        self._text.content = live_texts.state_text(self._state, next(self._beats), self.remark)
        for buttons in tuple(self.buttons.values()):
            buttons.update(self._state)

    def _report(self) -> None:
        state = self._state
        self._reports.content = live_texts.report_text(state.reports, state.errors)
        self._strips.content = error_strips(
            state.joint_names, torque_units(self._arm), *state.residuals.series(ERROR_POINTS),
            state.errors)

    def _estimate(self) -> None:
        self._tiles.content = estimate_tiles(*self._state.estimate_series())
