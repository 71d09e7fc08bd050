# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A rosbag2 recorder as a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import importlib.util
from pathlib import Path
import shutil
import signal
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
import yaml

from dynid_ros.data.files.bag_backends import is_truncated
from dynid_ros.errors import InputError
from dynid_ros.ros import stand_in as embedded
from dynid_ros.ros.nodes.common.child_process import ChildProcess, node_command
from dynid_ros.utilities.atomic_write import write_whole

#: A kill loses the current chunk: here some hundred messages instead of thousands.
CHUNKS = b'chunkSize: 32768\ncompression: "Zstd"\ncompressionLevel: "Fastest"\n'
#: Free space, bytes, below which a disk counts as full: rosbag2 fills it without a message. And a
#: share of the bag besides, for the index that it writes at the end.
FULL, INDEX = 131072, 0.02
#: Messages, many chunks, within which a bag must grow if it is written.
STALLED = 3000
#: Longest time that the bag takes to close, s: on a busy machine with a slow disk.
BAG_END_SECONDS = 60.0


class BagProcess:
    """
    ``ros2 bag record`` of some topics into one MCAP bag.

    It ends, and closes its bag, however this process ends.

    Parameters
    ----------
    folder : Path
        Existing folder, in which the bag ``bag`` and its log are made.
    topics : sequence of str
        Full names.
    name : str
        Name of its node.
    facts : mapping of str to str
        Custom data of the bag.
    qos : mapping of str to QoSProfile
        QoS of topics that are published already. rosbag2 itself would keep ten messages, and lose
        samples of 1 kHz whenever it stalls for ten milliseconds.
    messages : int
        Number of messages that were published before.
    simulated : bool
        Whether messages are received at the times of ``/clock``.

    Attributes
    ----------
    bag : Path
        Folder of the bag.
    topics : sequence of str
        As above.

    """

    def __init__(
        self, folder: Path, topics: Sequence[str], name: str, facts: Mapping[str, str],
        qos: Mapping[str, QoSProfile], messages: int, simulated: bool,
    ) -> None:
        self.bag = folder / 'bag'
        self.topics = topics
        self._name = name
        self._grown = 0, messages
        self._lost: str | None = None
        entries = [f'{key}={value}' for key, value in facts.items()]
        if embedded.active():
            command = [
                *node_command('recording.bag_recorder', output=str(self.bag), topics=list(topics),
                              facts=entries, use_sim_time=simulated), '-r', f'__node:={name}']
        elif importlib.util.find_spec('rosbag2_py') is None:
            raise InputError('recording needs rosbag2, which this ROS 2 lacks; install ros2bag '
                             'and rosbag2_storage_mcap, or start without a recorder')
        else:
            settings, overrides = folder / '.storage.yaml', folder / '.qos.yaml'
            write_whole(settings, CHUNKS)
            write_whole(overrides, yaml.safe_dump({topic: {
                'history': 'keep_last', 'depth': profile.depth, 'durability': 'volatile',
                'reliability': profile.reliability.name.lower()}
                for topic, profile in qos.items()}).encode())
            command = [
                'ros2', 'bag', 'record', '--storage', 'mcap', '--output', str(self.bag),
                '--storage-config-file', str(settings),
                '--qos-profile-overrides-path', str(overrides), '--disable-keyboard-controls',
                '--node-name', name, *['--use-sim-time'] * simulated, '--custom-data', *entries,
                '--topics', *topics]
        self._process = ChildProcess(command, folder / 'rosbag2.log')

    def trouble(self, node: Node, messages: int) -> str | None:
        """
        Find the reason why the recorder no longer records; None while it does.

        Parameters
        ----------
        node : Node
            Node that inspects the graph.
        messages : int
            Number of messages that were published so far.

        """
        gone = self._lost or self.ended()
        if gone:
            return gone
        try:
            size, free = self.size(), shutil.disk_usage(self.bag.parent).free
        except OSError as error:
            return f'{self.bag.parent} is gone: {error.strerror}'
        if size != self._grown[0]:
            self._grown = size, messages
        waiting = messages - self._grown[1]
        deaf = [topic for topic in self.topics for own in self._subscriptions(node, topic)
                if _reliable(own) and not all(
                    map(_reliable, node.get_publishers_info_by_topic(topic)))]
        if free < FULL + INDEX * size:
            self._lose(f'the disk is full ({free} bytes are free)')
        elif deaf:
            self._lose(f'{deaf[0]} is published as best effort now, and the bag has asked for '
                       'reliable messages: it gets none')
        elif waiting > STALLED:
            return f'nothing of the last {waiting} messages was written'
        return self._lost

    def awaited(self, node: Node, topics: Sequence[str]) -> list[str]:
        """Return the published topics to which the bag has not subscribed."""
        return [topic for topic in topics if node.get_publishers_info_by_topic(topic)
                and not self._subscriptions(node, topic)]

    def _subscriptions(self, node: Node, topic: str) -> list[Any]:
        return [info for info in node.get_subscriptions_info_by_topic(topic)
                if info.node_name == self._name]

    def _lose(self, reason: str) -> None:
        """Close the bag: later messages would not belong to the recording."""
        self._lost = reason
        self._process.interrupt()

    def ended(self) -> str | None:
        """Find the reason why the process ended; None while it runs."""
        status = self._process.status
        if status is None:
            return None
        if status < 0:
            return f'rosbag2 ended by signal {-status}'
        (reason,) = self._process.last_lines(1) or ['no reason given']
        return f'rosbag2 ended with status {status}: {reason}'

    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.bag.glob('*.mcap'))

    def stop(self) -> str | None:
        """Close the bag, and return the reason if it is incomplete."""
        trouble = self._lost or self.ended()
        self._process.interrupt()
        self._process.wait(BAG_END_SECONDS)
        if self._process.status == -signal.SIGKILL:
            trouble = trouble or 'rosbag2 did not end and was killed'
        elif trouble is None and any(map(is_truncated, self.bag.glob('*.mcap'))):
            trouble = 'its end could not be written; look at the space on the disk'
        index = self.bag / 'metadata.yaml'
        if self.bag.exists() and not (index.exists() and index.stat().st_size):
            # An empty one keeps all readers from opening the bag.
            index.unlink(missing_ok=True)
            trouble = (f'{trouble or "it has no metadata.yaml"}; dynid reads it as it is, and '
                       f'ros2 bag after: ros2 bag reindex -s mcap {self.bag}')
        return trouble


def _reliable(info: Any) -> bool:
    return bool(info.qos_profile.reliability == ReliabilityPolicy.RELIABLE)
