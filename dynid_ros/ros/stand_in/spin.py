# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joining the graph, its clocks, waiting for messages and timers, and calling back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
import math
import sys
import time
from typing import Any

from cyclonedds.core import InstanceState, ReadCondition, SampleState, ViewState, WaitSet

from dynid_ros.ros.stand_in.arguments import Arguments, parse
from dynid_ros.ros.stand_in.dds import Participant
from dynid_ros.ros.stand_in.graph import Graph
from dynid_ros.ros.stand_in.messages import message_class

#: Longest wait, s: signals are only noticed between waits.
LONGEST_WAIT_SECONDS = 0.1
_ANY = SampleState.Any | ViewState.Any | InstanceState.Any


class SignalHandlerOptions(Enum):
    """Which signal handlers rclpy installs; here none, whatever is asked for."""

    NO = 0
    ALL = 3


class Context:
    """A process: its participant, its view of the graph, and its command line."""

    participant: Participant
    graph: Graph
    waits: WaitSet

    def __init__(self) -> None:
        self.arguments = Arguments()
        self._watched: dict[Any, ReadCondition] = {}

    def init(
        self, *, args: Sequence[str] | None = None,
        signal_handler_options: SignalHandlerOptions = SignalHandlerOptions.ALL,  # noqa: ARG002
    ) -> None:
        """Join the graph."""
        if self.ok():
            raise RuntimeError('rclpy.init() was called already')
        self.arguments = parse(sys.argv[1:] if args is None else args)
        self.participant = Participant()
        self.graph = Graph(self.participant)
        self.waits = WaitSet(self.participant.dds)

    def ok(self) -> bool:
        """Whether this process is in the graph."""
        return 'participant' in self.__dict__

    def shutdown(self) -> None:
        """Leave the graph."""
        if self.ok():
            self._watched.clear()
            del self.waits, self.graph, self.participant

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError('call rclpy.init() first')

    def watch(self, end: Any) -> None:
        """Wake up for messages of an endpoint."""
        self._watched[end] = ReadCondition(end.reader, _ANY)
        self.waits.attach(self._watched[end])

    def forget(self, end: Any) -> None:
        """Stop watching."""
        self.waits.detach(self._watched.pop(end))


CONTEXT = Context()
init, ok = CONTEXT.init, CONTEXT.ok
shutdown = try_shutdown = CONTEXT.shutdown


class ClockType(Enum):
    """Time that a clock shows."""

    ROS_TIME = 1
    SYSTEM_TIME = 2
    STEADY_TIME = 3


class Duration:
    """A span of time."""

    MESSAGE = 'builtin_interfaces/msg/Duration'

    def __init__(self, *, seconds: float = 0, nanoseconds: int = 0) -> None:
        self.nanoseconds = int(seconds * 1e9) + nanoseconds

    def to_msg(self) -> Any:
        """Return it as a message."""
        seconds, rest = divmod(self.nanoseconds, 10**9)
        return message_class(self.MESSAGE)(sec=seconds, nanosec=rest)


class Time(Duration):
    """A point in time."""

    MESSAGE = 'builtin_interfaces/msg/Time'


class Clock:
    """
    A clock; a node's own shows the system's time, or the simulated one.

    Attributes
    ----------
    simulated : int or None
        Simulated time, ns, set from outside; None for a clock that runs by itself.

    """

    def __init__(self, *, clock_type: ClockType = ClockType.SYSTEM_TIME) -> None:
        self._read = time.monotonic_ns if clock_type is ClockType.STEADY_TIME else time.time_ns
        self.simulated: int | None = None

    def now(self) -> Time:
        """Return the time."""
        return Time(nanoseconds=self._read() if self.simulated is None else self.simulated)


class Timer:
    """
    Calls again and again.

    Parameters
    ----------
    period : float
        s.
    callback : callable
        Called.
    clock : Clock
        By which the period is measured; one that steps back delays no call for longer than one
        period.

    """

    def __init__(self, period: float, callback: Callable[[], None], clock: Clock) -> None:
        self._period = round(period * 1e9)
        self._callback = callback
        self._clock = clock
        self._due = clock.now().nanoseconds + self._period

    def ready(self) -> bool:
        """Whether it is time."""
        now = self._clock.now().nanoseconds
        self._due = min(self._due, now + self._period)
        return now >= self._due

    def wait(self) -> float:
        """Time until the next call, s; infinite where only a message moves the clock on."""
        if self._clock.simulated is not None:
            return math.inf
        return (self._due - self._clock.now().nanoseconds) * 1e-9

    def run(self) -> None:
        """Call once, and leave out calls that are long overdue."""
        late = self._clock.now().nanoseconds - self._due
        self._due += self._period * (1 + late // self._period)
        self._callback()


def spin_once(node: Any, *, timeout_sec: float | None = None) -> None:
    """Wait for work of a node, and do one piece of it."""
    end = math.inf if timeout_sec is None else time.monotonic() + timeout_sec
    while CONTEXT.ok():
        # Neither timers of a slow process nor a flood of one topic may keep all else waiting.
        kinds = (node.inboxes, node.timers) if node.timed else (node.timers, node.inboxes)
        for works in kinds:
            for work in works:
                if work.ready():
                    node.timed = works is node.timers
                    works.append(works.pop(works.index(work)))
                    work.run()
                    return
        now = time.monotonic()
        if now >= end:
            return
        due = min((timer.wait() for timer in node.timers), default=math.inf)
        CONTEXT.waits.wait(int(max(0.0, min(end - now, due, LONGEST_WAIT_SECONDS)) * 1e9))


class SingleThreadedExecutor:
    """Spins one node."""

    def add_node(self, node: Any) -> None:
        """Take the node."""
        self._node = node
        node.executor = self

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait for work of the node, and do one piece of it."""
        spin_once(self._node, timeout_sec=timeout_sec)
