# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A stand-in for ``ros2 bag record``, for the recorder without rosbag2."""

from __future__ import annotations

from functools import partial
import time
from typing import Any

from rclpy.node import Node
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from dynid_ros.ros.nodes.common.qos import STATE_DEPTH, state_qos
from dynid_ros.ros.nodes.common.runtime import declare, run, Setting
from dynid_ros.ros.stand_in.messages import message_class, STORE

SETTINGS = (
    Setting('output', '', 'Folder of the bag'),
    Setting('topics', [], 'Full names of the topics'),
    Setting('facts', [], 'Custom data of the bag, each as name=value'),
)
#: Time after which recorded messages are on the disk, and between searches for new topics, s.
FLUSH_SECONDS = 0.2
#: Time at the end for messages sent before to arrive, and longest time to process them, s.
ARRIVING, LAST_MESSAGES_SECONDS = 0.5, 5.0


class BagRecorder(Node):
    """Write topics, undecoded, into an MCAP bag; each as soon as it is published."""

    def __init__(self) -> None:
        super().__init__('recorder_bag')
        given = declare(self, SETTINGS)
        self._awaited = list(given['topics'])
        self._writer = Writer(given['output'], version=9, storage_plugin=StoragePlugin.MCAP)
        self._writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        for fact in given['facts']:
            self._writer.set_custom_data(*fact.split('=', 1))
        self._writer.open()
        self._look()
        self.create_timer(FLUSH_SECONDS, self._look)
        self.create_timer(FLUSH_SECONDS, self._flush)

    def stop(self) -> None:
        """Write the messages that wait, and close the bag."""
        stopped = time.monotonic()
        while (gone := time.monotonic() - stopped) < ARRIVING or (
                gone < LAST_MESSAGES_SECONDS and any(inbox.ready() for inbox in self.inboxes)):
            self.executor.spin_once(timeout_sec=0.01)
        self._writer.close()

    def _flush(self) -> None:
        """Write everything that a kill would lose."""
        storage: Any = self._writer.storage
        if storage.chunk.msgs:
            storage.close_chunk()
            storage.bio.flush()

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
        connection = self._writer.add_connection(topic, kind, typestore=STORE)

        def write(data: bytes) -> None:
            self._writer.write(connection, self.get_clock().now().nanoseconds, data)

        # Simulated time may be much faster than the disk.
        self.create_subscription(
            message, topic, write, state_qos(self, topic, 3 * STATE_DEPTH), raw=True)


main = partial(run, BagRecorder)


if __name__ == '__main__':
    raise SystemExit(main())
