# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Nodes of the embedded layer in one process, for tests among themselves."""

import time

import pytest
import rclpy

#: Whether rclpy is the layer, and not a real one.
EMBEDDED = type(rclpy).__module__ == 'dynid_ros.ros.stand_in'
#: The mark of tests of the layer itself: two DDS libraries in one process clash.
layer_only = pytest.mark.skipif(
    not EMBEDDED, reason='rclpy is there; test_without_ros.py runs this file where it is not')


def spin(nodes, condition, seconds=180.0):
    """Spin until a condition holds, and say whether it does."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        for node in nodes:
            rclpy.spin_once(node, timeout_sec=0.0005)
    return condition()


def call(nodes, client, **fields):
    assert spin(nodes, client.service_is_ready)
    future = client.call_async(client.srv_type.Request(**fields))
    assert spin(nodes, future.done)
    return future.result()
