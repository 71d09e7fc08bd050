# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""QoS of the topics of all nodes, and the names of nodes that publish or subscribe."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

#: Messages that wait for the busy callback of a node that estimates: eight seconds at 1 kHz.
STATE_DEPTH = 8000
#: The same for a node that controls: older messages would only delay a busy control loop.
NEWEST = 1
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def state_qos(node: Node, topic: str, depth: int = STATE_DEPTH) -> QoSProfile:
    """
    Choose the QoS of a subscription to states: as reliable as the publisher.

    A reliable subscriber gets nothing from a best-effort publisher, and the usual depth of ten
    loses samples of 1 kHz whenever a callback takes longer than ten milliseconds.
    """
    publishers = node.get_publishers_info_by_topic(node.resolve_topic_name(topic))
    offered = {info.qos_profile.reliability for info in publishers}
    best_effort = ReliabilityPolicy.BEST_EFFORT in offered
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.BEST_EFFORT if best_effort else ReliabilityPolicy.RELIABLE)


def node_of(info: Any) -> str:
    """Return the full name of the node of a rclpy.topic_endpoint_info.TopicEndpointInfo."""
    return f'{info.node_namespace.rstrip("/")}/{info.node_name}'
