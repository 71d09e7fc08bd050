"""The page: an arm, what moves it and its estimate, drawn as often as eyes need."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
import time
from typing import TYPE_CHECKING

import numpy as np

from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import torque_units
from dynid_ros.dynamics.external_force import link_poses
from dynid_ros.errors import written_down
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.pages.view.arm_body import ArmBody, upright
from dynid_ros.pages.view.link_visuals import LinkVisuals
from dynid_ros.pages.view.scenery import look_at
from dynid_ros.pages.view.server import open_server
from dynid_ros.pages.watch import panels
from dynid_ros.pages.watch.buttons import Access, Buttons, open_panel, SAVE, STATE
from dynid_ros.pages.watch.charts import error_strips, estimate_tiles
from dynid_ros.pages.watch.commands import Command, Commands, Request
from dynid_ros.pages.watch.live_state import ERROR_POINTS, LiveState
from dynid_ros.pages.watch.planned_motion import Course

if TYPE_CHECKING:
    import viser


#: Frames a second, and frames from one drawing of the texts and of the charts to the next.
FRAMES = 15
TEXTS, ERRORS, ESTIMATES = 3, 7, 15
#: Time between looks while no browser is there, s.
IDLE = 0.5
#: Opacity and colour of the arm that shows the reference or a motion.
GHOST, GHOST_COLOUR = 0.35, (11, 92, 173)
#: Share of the limits on the way to the start where the publisher does not report it.
START_SPEED = 0.2


class Page:
    """
    A page in a thread of its own, which draws the newest only.

    Parameters
    ----------
    arm : ArmModel
        The arm.
    visuals : LinkVisuals
        What its links look like.
    host : str
        Address on which the page is served.
    port : int
        Its port; zero for any that is free.
    state : LiveState
        What the nodes say.
    commands : Commands
        Takes what the buttons ask for.

    Attributes
    ----------
    access : Access
        Who may give commands.
    buttons : dict of int to Buttons
        Of the browsers that have them, by the number of the browser.
    frames : int
        Pictures that were drawn.
    fault : str
        Why no more are drawn, or empty.

    Raises
    ------
    InputError
        viser is not installed, or there is no such address, or its port is taken.

    """

    def __init__(
        self, arm: ArmModel, visuals: LinkVisuals, host: str, port: int, state: LiveState,
        commands: Commands,
    ) -> None:
        self._arm, self._state, self._commands = arm, state, commands
        self._allowed = planning_limits(arm)
        self.access = Access(host)
        self.frames = 0
        self.fault = ''
        self._host = host
        self._server = open_server(host, port, f'dynid watch: {arm.name}')
        self._body = ArmBody(self._server.scene, arm, 'arm', visuals=visuals)
        self._ghost = ArmBody(
            self._server.scene, arm, 'reference', GHOST, GHOST_COLOUR, visuals=visuals)
        self.buttons: dict[int, Buttons] = {}
        self._shown: tuple[Course, float] | None = None
        self._remark = ''
        self._lay_out()
        self._round = 0
        self._ending = Event()
        self._server.on_client_connect(self._connected)
        self._server.on_client_disconnect(self._forget)
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Return the address for a browser of this computer."""
        host = 'localhost' if self._host in ('', '0.0.0.0', '::') else self._host
        bracketed = f'[{host}]' if ':' in host else host
        return f'http://{bracketed}:{self._server.get_port()}'

    def close(self) -> None:
        """Serve the page no longer."""
        self._ending.set()
        self._thread.join()
        self._server.stop()

    def give(self, command: Command, done: Callable[[bool, str], None]) -> None:
        """Send a command to the nodes, and show its answer to all browsers."""
        def answered(well: bool, said: str) -> None:
            self._remark = f'{command.value}: {said}'
            done(well, said)

        self._commands.give(Request(command, answered))

    def course(self) -> Course | None:
        """Return what a start would move now, if that is known."""
        state = self._state
        if state.motion is None or state.q is None or state.publisher is None:
            return None
        try:
            speed = float(state.publisher.values.get('start_speed', START_SPEED))
        except ValueError:
            speed = START_SPEED
        return Course(state.motion, state.q, self._allowed, speed)

    def question(self, course: Course) -> str:
        """Say what a course would move."""
        return panels.course_text(
            course, self._arm.joint_names, self._arm.prismatic, self._allowed,
            self._state.publisher)

    def show(self, course: Course | None) -> None:
        """Let the translucent arm show a course, or the reference."""
        self._shown = None if course is None else (course, time.monotonic())

    def _lay_out(self) -> None:
        from viser import Icon

        joints = link_poses(self._arm, self._allowed.middle[None])[0][:, 9:] @ upright(self._arm).T
        reach = 0.3 + float(np.linalg.norm(joints, axis=1).max())
        self._server.scene.add_grid('/floor', width=4 * reach, height=4 * reach)
        look_at(self._server, joints.mean(axis=0) + reach / 2 * np.array([[-1.0], [1.0]]))
        gui = self._server.gui
        gui.main_panel.dock_right()
        gui.main_panel.set_width(380)
        self._text = gui.add_html('', order=STATE)
        self._reports = gui.add_html('', order=SAVE + 1)
        self._strips = gui.add_html('', order=SAVE + 2)
        side = gui.add_panel()
        side.dock_left()
        side.set_width(430)
        with side.add_tab('Estimates, ± 95 %', Icon.CHART_AREA_LINE):
            self._tiles = gui.add_html('')

    def _connected(self, client: viser.ClientHandle) -> None:
        # Texts and charts are old: nobody was there to see them.
        self._round = 0
        open_panel(client, self)

    def _forget(self, client: viser.ClientHandle) -> None:
        self.buttons.pop(client.client_id, None)
        self._shown = None

    def _run(self) -> None:
        """Draw until the page is closed."""
        while not self._ending.is_set():
            began = time.monotonic()
            watched = bool(self._server.get_clients())
            if watched:
                try:
                    self._draw()
                except Exception as error:
                    # The page says that its news are old, and its buttons still work.
                    self.fault = written_down(error)
                    return
            period = 1 / FRAMES if watched else IDLE
            self._ending.wait(max(0.0, period - (time.monotonic() - began)))

    def _draw(self) -> None:
        turn, self._round = self._round, self._round + 1
        self.frames += 1
        state = self._state
        self._place()
        if turn % TEXTS == 0:
            self._text.content = panels.state_text(state, self.frames, self._remark)
            for buttons in tuple(self.buttons.values()):
                buttons.update(state)
        if turn % ERRORS == 0:
            self._reports.content = panels.report_text(state.reports, state.errors)
            self._strips.content = error_strips(
                state.joint_names, torque_units(self._arm), *state.residuals.series(ERROR_POINTS),
                state.errors)
        if turn % ESTIMATES == 0:
            self._tiles.content = estimate_tiles(*state.estimate_series())

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
            for surface in self._ghost.surfaces:
                surface.visible = wanted is not None
