"""The live page of a track: time bar, play, speed, moments, charts and values in step."""

from __future__ import annotations

from functools import partial
import time
from typing import Any, TYPE_CHECKING

import numpy as np

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.parameters import torque_units
from dynid_ros.pages.report.templating import part
from dynid_ros.pages.view.charts import COLORS, torque_charts, track_charts
from dynid_ros.pages.view.stage import Stage

if TYPE_CHECKING:
    import viser


#: Frames a second of the arm, and frames from one drawing of the values to the next: these cost a
#: browser more.
ARM_HZ, VALUES = 30.0, 5
#: Digits of the time on its bar, s.
DIGITS = 2
#: Speeds to choose from.
SPEEDS = ('0.1x', '0.25x', '0.5x', '1x', '2x', '4x')
#: Marks of moments on the time bar, and most buttons of moments.
MARKS = {'clearance': '▲', 'outlier': '!', 'defect': '?'}
MOST_BUTTONS = 30
WIDTH = 460


class Player:
    """
    Controls and charts of a stage.

    Parameters
    ----------
    server : viser.ViserServer
        Server of the page.
    stage : Stage
        Its scene.

    """

    def __init__(self, server: viser.ViserServer, stage: Stage) -> None:
        self._server, self._stage = server, stage
        self._track = stage.track
        self._t = 0.0
        self._playing, self._speed = False, 1.0
        server.gui.main_panel.dock_right()
        server.gui.main_panel.set_width(WIDTH)
        self._add_time_bar()
        self._add_moments()
        self._values = server.gui.add_html('')
        self._add_charts()
        self._add_layers()
        self._refresh()

    def run(self) -> None:
        """Play until the process is interrupted."""
        before = time.monotonic()
        while True:
            for _ in range(VALUES):
                time.sleep(1 / ARM_HZ)
                now = time.monotonic()
                self.advance(now - before)
                before = now
            self._refresh()

    def advance(self, seconds: float) -> None:
        """Show what is due after some seconds."""
        if self._playing:
            self._t = (self._t + seconds * self._speed) % self._track.duration
        with self._server.atomic():
            self._stage.show(self._t)

    def go_to(self, t: float, *, playing: bool = False) -> None:
        """Go to a time, s."""
        self._playing = playing
        self._t = float(np.clip(t, 0.0, self._track.duration))
        self._play.label = 'Pause' if playing else 'Play'

    def _add_time_bar(self) -> None:
        gui, track = self._server.gui, self._track
        marks = tuple((float(moment.t), MARKS[moment.kind]) for moment in track.moments)
        self._slider = gui.add_slider(
            'time, s', min=0.0, max=track.duration, step=10.0**-DIGITS,
            initial_value=0.0, marks=marks or None)
        self._play = gui.add_button('Play')
        speed = gui.add_dropdown('speed', SPEEDS, initial_value='1x')
        self._slider.on_update(self._on_slider)
        self._play.on_click(lambda _: self.go_to(self._t, playing=not self._playing))
        speed.on_update(lambda _: setattr(self, '_speed', float(speed.value.rstrip('x'))))

    def _on_slider(self, event: Any) -> None:
        # The server moves it, too.
        if event.client_id is not None:
            self.go_to(self._slider.value)

    def _add_moments(self) -> None:
        gui, moments, notes = self._server.gui, self._track.moments, self._stage.notes
        if not moments and not notes:
            return
        with gui.add_folder('Moments'):
            for moment in moments[:MOST_BUTTONS]:
                label = f'{MARKS[moment.kind]} {moment.t:.2f} s: {moment.text}'
                button = gui.add_button(label[:90], hint=moment.text, color='gray')
                button.on_click(lambda _, t=moment.t: self.go_to(t))
            gui.add_html(part('moments.html', more=len(moments) - MOST_BUTTONS, notes=notes))

    def _add_charts(self) -> None:
        gui, stage = self._server.gui, self._stage
        compared = torque_charts(self._track)
        if stage.links:
            with gui.add_folder('Links'):
                gui.add_html(part('values_style.html')
                             + part('ellipsoids.html', links=stage.links))
        if compared:
            drawn = [part('chart.html', chart=chart) for chart in compared]
            names = self._track.arm.joint_names
            choice = gui.add_dropdown('joint', names, initial_value=names[0])
            shown = gui.add_html(drawn[0])
            choice.on_update(
                lambda _: setattr(shown, 'content', drawn[names.index(choice.value)]))
        for chart in track_charts(self._track, stage.pair, stage.around.clearance):
            gui.add_html(part('chart.html', chart=chart))

    def _add_layers(self) -> None:
        with self._server.gui.add_folder('Show'):
            for name, nodes in self._stage.layers.items():
                box = self._server.gui.add_checkbox(name, initial_value=bool(nodes[0].visible))
                box.on_update(partial(_show, nodes))

    def _refresh(self) -> None:
        """Bring the time bar, the values, and the line of the charts to the present time."""
        with self._server.atomic():
            self._slider.value = min(round(self._t, DIGITS), self._track.duration)
            self._values.content = self._table(self._t)

    def _table(self, t: float) -> str:
        """Make the table of the values at a time."""
        track, pair, arm = self._track, self._stage.pair, self._track.arm
        k, limits, angles = track.index(t), arm.limits, joint_units('rad', arm.prismatic)
        q, qd = track.q[k], track.qd[k]
        columns = [
            ('position', q, angles, (q < limits.lower) | (q > limits.upper)),
            ('velocity', qd, [f'{each}/s' for each in angles], np.abs(qd) > limits.velocity)]
        if track.tau is not None:
            tau = track.tau[k]
            columns.append(('torque', tau, torque_units(arm), np.abs(tau) > limits.effort))
        return part('values.html', columns=columns, names=arm.joint_names, colors=COLORS,
                    now=100 * t / track.duration,
                    clearance=pair and (1e3 * pair.distance[k], pair.names[k]))


def _show(nodes: list[Any], event: Any) -> None:
    for node in nodes:
        node.visible = event.target.value
