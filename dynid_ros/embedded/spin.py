"""Waiting for messages and timers, and calling those who want to know."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
import math
import sys
import time
from typing import Any

from cyclonedds.core import InstanceState, ReadCondition, SampleState, ViewState, WaitSet

from dynid_ros.embedded.arguments import Arguments, parse
from dynid_ros.embedded.dds import Participant, take
from dynid_ros.embedded.graph import Graph

#: Longest wait, s: signals are only noticed between waits.
WAIT = 0.1
_ANY = SampleState.Any | ViewState.Any | InstanceState.Any


class Context:
    """A process: its participant, its view of the graph, and its command line."""

    participant: Participant
    graph: Graph
    waits: WaitSet

    def __init__(self) -> None:
        self.arguments = Arguments()
        self.watched: dict[Inbox, ReadCondition] = {}

    def init(self, arguments: Sequence[str] | None) -> None:
        """Join the graph."""
        if self.ok():
            raise RuntimeError('rclpy.init() was called already')
        self.arguments = parse(sys.argv[1:] if arguments is None else arguments)
        self.participant = Participant()
        self.graph = Graph(self.participant)
        self.waits = WaitSet(self.participant.dds)

    def ok(self) -> bool:
        """Whether this process is in the graph."""
        return 'participant' in self.__dict__

    def shutdown(self) -> None:
        """Leave the graph."""
        if self.ok():
            self.watched.clear()
            del self.waits, self.graph, self.participant

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError('call rclpy.init() first')

    def watch(self, inbox: Inbox) -> None:
        """Wake up for what arrives there."""
        self.watched[inbox] = ReadCondition(inbox.reader, _ANY)
        self.waits.attach(self.watched[inbox])

    def forget(self, inbox: Inbox) -> None:
        """Stop watching."""
        self.waits.detach(self.watched.pop(inbox))


CONTEXT = Context()


class Inbox:
    """What has arrived at a reader, and who wants it."""

    def __init__(self, reader: Any, callback: Callable[[bytes], None]) -> None:
        self.reader = reader
        self._callback = callback
        self._held: deque[bytes] = deque()

    def ready(self) -> bool:
        """Whether there is something to hand on."""
        if not self._held:
            self._held.extend(take(self.reader))
        return bool(self._held)

    def run(self) -> None:
        """Hand on the oldest."""
        self._callback(self._held.popleft())


class Timer:
    """Calls again and again, on a clock that never steps."""

    def __init__(self, period: float, callback: Callable[[], None]) -> None:
        self._period = period
        self._callback = callback
        self.due = time.monotonic() + period

    def ready(self) -> bool:
        """Whether it is time."""
        return time.monotonic() >= self.due

    def run(self) -> None:
        """Call once, and leave out calls that are long overdue."""
        self.due += self._period * (1 + (time.monotonic() - self.due) // self._period)
        self._callback()


class Future:
    """An answer to come."""

    def __init__(self) -> None:
        self._results: list[Any] = []
        self._callbacks: list[Callable[[Future], None]] = []

    def done(self) -> bool:
        """Whether it has come."""
        return bool(self._results)

    def result(self) -> Any:
        """Return the answer, or None."""
        return self._results[0] if self._results else None

    def set_result(self, result: Any) -> None:
        """Answer."""
        self._results = [result]
        for callback in self._callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable[[Future], None]) -> None:
        """Call when the answer comes, or now."""
        if self.done():
            callback(self)
        else:
            self._callbacks.append(callback)


def spin_once(node: Any, *, timeout_sec: float | None = None) -> None:
    """Wait for work of a node, and do one piece of it."""
    end = math.inf if timeout_sec is None else time.monotonic() + timeout_sec
    while CONTEXT.ok():
        for work in (*node.timers, *node.inboxes):
            if work.ready():
                # A flood of one topic must not keep all others waiting.
                if work in node.inboxes:
                    node.inboxes.append(node.inboxes.pop(node.inboxes.index(work)))
                work.run()
                return
        now = time.monotonic()
        if now >= end:
            return
        due = min((timer.due for timer in node.timers), default=math.inf)
        CONTEXT.waits.wait(int(max(0.0, min(end - now, due - now, WAIT)) * 1e9))
