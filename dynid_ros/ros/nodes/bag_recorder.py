"""A stand-in for ``ros2 bag record``, for the recorder, where there is no rosbag2."""

from __future__ import annotations

import argparse
from pathlib import Path
import time
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
import yaml

from dynid_ros.ros.nodes.common.runtime import signals_to_stop
from dynid_ros.ros.stand_in.messages import message_class, STORE

#: Time after which recorded messages are on the disk, and between looks for topics that nobody
#: published yet, s.
PERIOD = 0.2
#: Messages that wait for a busy recorder, and longest time for them at the end, s.
DEPTH = 2000
LAST = 5.0


class BagRecorder(Node):
    """
    Writes topics, unread, into an MCAP bag.

    Parameters
    ----------
    name : str
        Name of the node.
    writer : Writer
        The open bag.
    topics : list of str
        Full names of topics, each recorded as soon as it is published.
    profiles : dict of str to dict
        Depth and reliability of topics that are published already.

    """

    def __init__(
        self, name: str, writer: Writer, topics: list[str], profiles: dict[str, dict[str, Any]],
    ) -> None:
        super().__init__(name)
        self._writer = writer
        self._awaited, self._profiles = topics, profiles
        self._written = 0
        self._look()
        self.create_timer(PERIOD, self._look)
        self.create_timer(PERIOD, self._flush)

    def _flush(self) -> None:
        """Leave nothing in memory that a kill would lose."""
        storage: Any = self._writer.storage
        if storage.chunk.msgs:
            storage.close_chunk()
            storage.bio.flush()

    def drain(self) -> None:
        """Write the messages that wait."""
        end = time.monotonic() + LAST
        before = -1
        while self._written > before and time.monotonic() < end:
            before = self._written
            for _ in range(DEPTH):
                rclpy.spin_once(self, timeout_sec=0.0)

    def _look(self) -> None:
        for topic in tuple(self._awaited):
            publishers = self.get_publishers_info_by_topic(topic)
            kinds = {publisher.topic_type for publisher in publishers}
            if len(kinds) == 1:
                self._awaited.remove(topic)
                self._subscribe(topic, kinds.pop())
            elif kinds:
                self.get_logger().warning(
                    f'{topic} is published as {" and ".join(sorted(kinds))}; it is recorded once '
                    'only one is left', throttle_duration_sec=5.0)

    def _subscribe(self, topic: str, kind: str) -> None:
        try:
            message = message_class(kind)
        except ImportError as error:
            self.get_logger().error(f'{topic} is not recorded: {error}')
            return
        given = self._profiles.get(topic, {'depth': DEPTH, 'reliability': 'reliable'})
        connection = self._writer.add_connection(topic, kind, typestore=STORE)

        def write(data: bytes) -> None:
            self._written += 1
            self._writer.write(connection, self.get_clock().now().nanoseconds, data)

        self.create_subscription(message, topic, write, QoSProfile(
            depth=given['depth'], reliability=ReliabilityPolicy[given['reliability'].upper()]),
            raw=True)


def main() -> None:
    """Record until SIGINT."""
    parser = argparse.ArgumentParser()
    for option in ('--output', '--qos-profile-overrides-path', '--node-name'):
        parser.add_argument(option, required=True)
    parser.add_argument('--use-sim-time', action='store_true')
    parser.add_argument('--custom-data', nargs='*', default=[])
    parser.add_argument('--topics', nargs='+', required=True)
    given = parser.parse_args()
    stopping = signals_to_stop()
    profiles = yaml.safe_load(Path(given.qos_profile_overrides_path).read_text()) or {}
    writer = Writer(given.output, version=9, storage_plugin=StoragePlugin.MCAP)
    writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    for pair in given.custom_data:
        writer.set_custom_data(*pair.split('=', 1))
    time_source = ['--ros-args', '-p', 'use_sim_time:=true'] * given.use_sim_time
    rclpy.init(args=time_source, signal_handler_options=SignalHandlerOptions.NO)
    with writer:
        node = BagRecorder(given.node_name, writer, given.topics, profiles)
        while not stopping:
            rclpy.spin_once(node, timeout_sec=PERIOD)
        node.drain()
        node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
