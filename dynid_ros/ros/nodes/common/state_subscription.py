# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Subscription to a topic whose publisher may come, go, or change its reliability."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rclpy.node import Node
from rclpy.qos import QoSProfile

from dynid_ros.ros.nodes.common import estimate_messages as say
from dynid_ros.ros.nodes.common.lockstep import watch_clock
from dynid_ros.ros.nodes.common.qos import node_of, STATE_DEPTH, state_qos

#: Time without a message after which a stream counts as stopped, s.
STREAM_STOPPED_SECONDS = 1.0
#: Most messages taken before other work.
TAKEN_TOGETHER = 100


class Problem(NamedTuple):
    """A problem of a stream: its level, keys that stay the same while it lasts, and its text."""

    level: bytes
    keys: frozenset[str]
    text: str


class StateSubscription:
    """
    Subscription with the reliability of the publisher, whenever that appears.

    Parameters
    ----------
    node : Node
        Owner.
    kind : type
        Message.
    topic : str
        Relative name.
    callback : callable
        Takes the message.
    depth : int
        Messages that may wait.
    done : callable, optional
        Called with the last of the messages that waited, once all of them are taken.

    Attributes
    ----------
    topic : str
        Full name.
    publishers : list of str
        Full names of the nodes that publish it, at the last `follow`.
    awaited : bool
        Whether there was no message so far.

    """

    def __init__(
        self, node: Node, kind: type[Any], topic: str, callback: Callable[[Any], None],
        depth: int = STATE_DEPTH, done: Callable[[Any], object] = lambda _: None,
    ) -> None:
        self._node, self._kind, self._depth = node, kind, depth
        self._callback, self._done = callback, done
        self._type = f'{kind.__module__.partition(".")[0]}/msg/{kind.__name__}'
        self.topic: str = node.resolve_topic_name(topic)
        self.publishers: list[str] = []
        self._others: Sequence[str] = ()
        self.awaited = True
        self._watch = watch_clock(node)
        self._heard = self._watch.now().nanoseconds
        self._subscribe(state_qos(node, self.topic, depth))

    def follow(self) -> None:
        """Adapt to the current publishers."""
        wanted = state_qos(self._node, self.topic, self._depth)
        if self._qos.reliability != wanted.reliability:
            self._node.destroy_subscription(self._subscription)
            self._subscribe(wanted)
        infos = self._node.get_publishers_info_by_topic(self.topic)
        self._others = sorted({info.topic_type for info in infos} - {self._type})
        self.publishers = sorted(map(node_of, infos))

    @property
    def mixed(self) -> str:
        """Name the publishers if there are several, in a clause; empty otherwise."""
        return '' if len(self.publishers) < 2 else (
            f'{self.topic} has {len(self.publishers)} publishers: {", ".join(self.publishers)}')

    @property
    def problem(self) -> Problem | None:
        """Return why there are no messages, or messages of several publishers; None if neither."""
        listed = ', '.join(self.publishers)
        silent = (self._watch.now().nanoseconds - self._heard) * 1e-9
        if silent > STREAM_STOPPED_SECONDS and self._others:
            return Problem(say.ERROR, frozenset(['type']), (
                f'{self.topic} is published as {" and ".join(self._others)} by {listed}, not '
                f'as {self._type}; remap to a topic of this type'))
        if silent > STREAM_STOPPED_SECONDS:
            return Problem(say.STALE, frozenset(['silent']), (
                f'{self.topic}: no message for {silent:.1f} s; '
                f'{listed or "nobody"} publishes it'))
        if self.mixed:
            return Problem(
                say.ERROR, frozenset(['publishers']), f'{self.mixed}; stop all but one')
        return None

    def _subscribe(self, qos: QoSProfile) -> None:
        self._qos = qos
        self._subscription = self._node.create_subscription(
            self._kind, self.topic, self._take, qos)

    def _take(self, message: Any) -> None:
        self.awaited, self._heard = False, self._watch.now().nanoseconds
        self._callback(message)
        self._done(self._take_waiting() or message)

    def _take_waiting(self) -> Any:
        """Take the messages that wait, too; return the last one, None if none does."""
        # With the public interface, rclpy prepares a wait for each message, which takes longer
        # than processing it: beside other work (load 10 on two processors), an identifier received
        # 13 954 and 11 312 of some 40 000 states at 1 kHz, but all 41 500 and 39 142 by the handle
        # (python benchmarks/nodes_at_1khz.py --seconds 20), which rclpy.wait_for_message uses,
        # too. The stand-in for rclpy spins faster, and has no handle.
        waiting, last = getattr(self._subscription, 'handle', None), None
        if waiting is None:
            return None
        with waiting:
            for _ in range(min(self._depth, TAKEN_TOGETHER) - 1):
                taken = waiting.take_message(self._kind, False)
                if taken is None:
                    break
                last = taken[0]
                self._callback(last)
        return last
