# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The page of a file: time bar, play, speed, moments, charts and values in step."""

from __future__ import annotations

from functools import partial
from threading import Event
import time
from typing import Any, TYPE_CHECKING

import numpy as np

from dynid_ros.pages.report.templating import part
from dynid_ros.pages.viewer.charts import COLORS, torque_charts, track_charts
from dynid_ros.pages.viewer.scene.track_scene import TrackScene
from dynid_ros.pages.viewer.server import draw_while_seen

if TYPE_CHECKING:
    import viser


#: Frames a second of the arm, and frames from one drawing of the values to the next: these cost a
#: browser more.
ARM_HZ, VALUES = 30.0, 5
#: Digits of the time on its bar, s.
TIME_BAR_DIGITS = 2
#: Speeds to choose from.
PLAYBACK_SPEEDS = ('0.1x', '0.25x', '0.5x', '1x', '2x', '4x')
#: Marks of moments on the time bar, and most buttons of moments.
MARKS = {'clearance': '▲', 'outlier': '!', 'defect': '?'}
MOST_BUTTONS = 30
PANEL_WIDTH = 460


class FilePage:
    """
    Controls and charts of a track.

    Parameters
    ----------
    server : viser.ViserServer
        Server of the page.
    scene : TrackScene
        Its scene.

    """

    def __init__(self, server: viser.ViserServer, scene: TrackScene) -> None:
        self._server, self._scene, self._track = server, scene, scene.track
        self._t, self._shown = 0.0, time.monotonic()
        self._playing = False
        server.gui.main_panel.dock_right()
        server.gui.main_panel.set_width(PANEL_WIDTH)
        self._add_time_bar()
        self._add_moments()
        self._values = server.gui.add_html('')
        self._add_charts()
        self._add_layers()
        self._refresh()

    def run(self) -> None:
        """Play until the process is interrupted."""
        draw_while_seen(
            self._server, ((1, self.advance), (VALUES, self._refresh)), ARM_HZ, Event())

    def advance(self) -> None:
        """Show the current frame."""
        before, self._shown = self._shown, time.monotonic()
        if self._playing:
            seconds = (self._shown - before) * float(self._speed.value.rstrip('x'))
            self._t = (self._t + seconds) % self._track.duration
        with self._server.atomic():
            self._scene.show(self._t)

    def go_to(self, t: float, *, playing: bool = False) -> None:
        """Go to a time, s."""
        self._playing = playing
        self._t = float(np.clip(t, 0.0, self._track.duration))
        self._play.label = 'Pause' if playing else 'Play'
        self._move_bar()

    def _move_bar(self) -> None:
        self._slider.value = min(round(self._t, TIME_BAR_DIGITS), self._track.duration)

    def _add_time_bar(self) -> None:
        gui, track = self._server.gui, self._track
        marks = tuple((moment.t, MARKS[moment.kind]) for moment in track.moments)
        self._slider = gui.add_slider(
            'time, s', min=0.0, max=track.duration, step=10.0**-TIME_BAR_DIGITS,
            initial_value=0.0, marks=marks or None)
        self._play = gui.add_button('Play')
        self._speed = gui.add_dropdown('speed', PLAYBACK_SPEEDS, initial_value='1x')
        self._slider.on_update(self._on_slider)
        self._play.on_click(lambda _: self.go_to(self._t, playing=not self._playing))

    def _on_slider(self, event: Any) -> None:
        # The server moves it, too.
        if event.client_id is not None:
            self.go_to(self._slider.value)

    def _add_moments(self) -> None:
        gui, moments, notes = self._server.gui, self._track.moments, self._scene.notes
        if not moments and not notes:
            return
        with gui.add_folder('Moments'):
            for moment in moments[:MOST_BUTTONS]:
                label = f'{MARKS[moment.kind]} {moment.t:.2f} s: {moment.text}'
                button = gui.add_button(label[:90], hint=moment.text, color='gray')
                button.on_click(lambda _, t=moment.t: self.go_to(t))
            gui.add_html(part('moments.html', more=len(moments) - MOST_BUTTONS, notes=notes))

    def _add_charts(self) -> None:
        gui, scene = self._server.gui, self._scene
        if scene.links:
            with gui.add_folder('Links'):
                gui.add_html(part('values_style.html')
                             + part('ellipsoids.html', links=scene.links))
        drawn = dict(zip(self._track.arm.joint_names, (
            part('chart.html', chart=chart) for chart in torque_charts(self._track)),
            strict=False))
        if drawn:
            choice = gui.add_dropdown('joint', tuple(drawn))
            shown = gui.add_html(drawn[choice.value])
            choice.on_update(lambda _: setattr(shown, 'content', drawn[choice.value]))
        for chart in track_charts(self._track, scene.pair, scene.clearance):
            gui.add_html(part('chart.html', chart=chart))

    def _add_layers(self) -> None:
        with self._server.gui.add_folder('Show'):
            for name, nodes in self._scene.layers.items():
                box = self._server.gui.add_checkbox(name, initial_value=bool(nodes[0].visible))
                box.on_update(partial(_show, nodes))

    def _refresh(self) -> None:
        """Update the time bar, the values, and the line of the charts."""
        track, pair, k = self._track, self._scene.pair, self._track.index(self._t)
        columns = [
            (name, values[k], units, (values[k] < lower) | (values[k] > upper))
            for name, values, units, lower, upper in track.quantities()]
        with self._server.atomic():
            # Otherwise it would undo a user's dragging.
            if self._playing:
                self._move_bar()
            self._values.content = part(
                'values.html', columns=columns, names=track.arm.joint_names, colors=COLORS,
                now=100 * self._t / track.duration,
                clearance=pair and (1e3 * pair.distance[k], pair.names[k]))


def _show(nodes: list[Any], event: Any) -> None:
    for node in nodes:
        node.visible = event.target.value
