# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Nodes of the embedded layer in the process of the test."""

import pytest
from ros.nodes.conftest import domain, start, talker  # noqa: F401 - fixtures


@pytest.fixture
def init():
    """Join the graph with words after --ros-args, and leave it after the test."""
    import rclpy

    yield lambda *words: rclpy.init(args=['--ros-args', *words])
    rclpy.try_shutdown()


@pytest.fixture
def pair(init):
    from rclpy.node import Node

    init()
    return Node('talker'), Node('listener')
