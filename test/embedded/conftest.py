"""A domain of their own for the tests of this folder."""

from collections.abc import Iterator
import os

from nodes.conftest import start, talker  # noqa: F401 - fixtures
import pytest
import rclpy
from rclpy.node import Node

from dynid_ros.demo.domain import own_domain


@pytest.fixture(scope='session', autouse=True)
def domain() -> Iterator[None]:
    """Keep to this machine, and out of the way of other nodes on it."""
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    if 'ROS_DOMAIN_ID' in os.environ:
        yield
    else:
        with own_domain():
            yield


@pytest.fixture
def init():
    """Join the graph with words after --ros-args, and leave it after the test."""
    yield lambda *words: rclpy.init(args=['--ros-args', *words])
    rclpy.try_shutdown()


@pytest.fixture
def pair(init):
    init()
    return Node('talker'), Node('listener')
