"""A subscription to joint states that follows its publishers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from dynid_ros.nodes.runtime import DEPTH, state_qos


class StateSubscription:
    """
    Subscription with the reliability that is published, whenever the publisher appears.

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

    """

    def __init__(
        self, node: Node, kind: type[Any], topic: str, callback: Callable[[Any], None],
        depth: int = DEPTH,
    ) -> None:
        self._node = node
        self._kind = kind
        self._callback = callback
        self._depth = depth
        self.topic: str = node.resolve_topic_name(topic)
        self._subscribe()

    def follow(self) -> list[str]:
        """Adapt to the publishers of now, and return the full names of their nodes."""
        if self._qos.reliability != self._wanted().reliability:
            self._node.destroy_subscription(self._subscription)
            self._subscribe()
        infos = self._node.get_publishers_info_by_topic(self.topic)
        return sorted(f'{i.node_namespace.rstrip("/")}/{i.node_name}' for i in infos)

    def _wanted(self) -> QoSProfile:
        return state_qos(self._node, self.topic, self._depth)

    def _subscribe(self) -> None:
        self._qos = self._wanted()
        self._subscription = self._node.create_subscription(
            self._kind, self.topic, self._callback, self._qos)
