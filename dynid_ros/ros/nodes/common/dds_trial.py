# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A trial of DDS: a message from one process to another."""

from __future__ import annotations

import subprocess
import sys
import time

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String

#: Topic of the trial, its message, and the longest wait for it, s.
TRIAL_TOPIC, WORD, TRIAL_SECONDS = 'dynid_doctor', 'well', 10.0


def message_time() -> float | None:
    """Wait for a message of another process, s; None if none comes."""
    heard, began = list[str](), time.monotonic()
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = Node('dynid_doctor')
        node.create_subscription(
            String, TRIAL_TOPIC, lambda message: heard.append(message.data), 1)
        with subprocess.Popen([sys.executable, '-m', __name__], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as other:
            while WORD not in heard and time.monotonic() < began + TRIAL_SECONDS:
                rclpy.spin_once(node, timeout_sec=0.1)
            other.terminate()
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
    return time.monotonic() - began if WORD in heard else None


def talk() -> None:
    """Send the message until this process ends, as the other process of the trial."""
    rclpy.init(args=[])
    publisher = Node('dynid_doctor_talker').create_publisher(String, TRIAL_TOPIC, 1)
    for _ in range(int(10 * TRIAL_SECONDS)):
        publisher.publish(String(data=WORD))
        time.sleep(0.1)


if __name__ == '__main__':
    talk()
