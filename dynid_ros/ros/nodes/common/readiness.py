# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Readiness of the nodes that record a motion or learn from it, without which it stops.

Each of these nodes reports on a topic of its own, ``~/ready`` (diagnostic_msgs/DiagnosticStatus),
whether it receives and keeps all messages of the arm: ``level`` OK, or else the reason in
``message``. It repeats that, so that a dead or hanging process is detected on any computer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import Event, Thread
import time

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from dynid_ros.ros.nodes.common.lockstep import create_steady_timer
from dynid_ros.ros.nodes.common.qos import LATCHED

#: Period of the repetitions, s.
REPETITION_SECONDS = 0.2
#: Silence after which a listener counts as lost, s: no thread of a busy machine waits as long.
LISTENER_LOST_SECONDS = 5.0


class Readiness:
    """
    Report of a node on ``~/ready``.

    A thread repeats it, so that a busy node, such as an identifier that saves, does not count as
    lost: its states wait for it.

    Parameters
    ----------
    node : Node
        Owner.
    arm : str
        Name of its arm.
    judge : callable
        Returns the level, OK if the node is ready, and the reason as a clause.

    """

    def __init__(self, node: Node, arm: str, judge: Callable[[], tuple[bytes, str]]) -> None:
        self._judge = judge
        self._status = DiagnosticStatus(
            level=DiagnosticStatus.WARN, name=node.get_name(), message='it starts',
            hardware_id=arm)
        self._publisher = node.create_publisher(DiagnosticStatus, '~/ready', LATCHED)
        self._ended = Event()
        self._thread = Thread(target=self._repeat, daemon=True)
        self._thread.start()
        create_steady_timer(node, REPETITION_SECONDS, self.look)

    def look(self) -> None:
        """Judge, and publish a change at once."""
        level, message = self._judge()
        if (level, message) != (self._status.level, self._status.message):
            self._say(level, message)

    def leave(self) -> None:
        """Report that the node ends."""
        self._ended.set()
        self._thread.join()
        self._say(DiagnosticStatus.ERROR, 'it has ended')

    def _say(self, level: bytes, message: str) -> None:
        self._status = DiagnosticStatus(
            level=level, name=self._status.name, message=message,
            hardware_id=self._status.hardware_id)
        self._publisher.publish(self._status)

    def _repeat(self) -> None:
        # The publisher is gone once the node has ended.
        with suppress(Exception):
            while not self._ended.wait(REPETITION_SECONDS):
                self._publisher.publish(self._status)


class Listeners:
    """
    The nodes that a motion needs.

    Parameters
    ----------
    node : Node
        Owner, in whose namespace they are.
    names : sequence of str
        Their names.
    now : callable
        Time of the motion, s. A silence counts in this time and in wall time: simulated time
        stands still for a busy node.

    """

    def __init__(self, node: Node, names: Sequence[str], now: Callable[[], float]) -> None:
        self._now = now
        self._heard: dict[str, tuple[DiagnosticStatus, float, float] | None] = dict.fromkeys(names)
        for name in names:
            node.create_subscription(
                DiagnosticStatus, f'{name}/ready', partial(self._hear, name), LATCHED)

    @property
    def missing(self) -> str:
        """Name the nodes that are not ready, with reasons, in a clause; empty if all are."""
        return '; '.join(filter(None, (
            self._trouble(name, *heard) if heard else f'{name} has not reported yet '
            'that it is ready; is it running?' for name, heard in self._heard.items())))

    def _trouble(self, name: str, status: DiagnosticStatus, stamp: float, read: float) -> str:
        silent = min(self._now() - stamp, time.monotonic() - read)
        if silent > LISTENER_LOST_SECONDS:
            return f'{name} has been silent for {silent:.0f} s'
        ready = status.level == DiagnosticStatus.OK
        return '' if ready else f'{name} is not ready: {status.message}'

    def _hear(self, name: str, message: DiagnosticStatus) -> None:
        self._heard[name] = message, self._now(), time.monotonic()
