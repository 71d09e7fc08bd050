# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Claim: reading a 7-joint bag is at least three times as fast as with the messages of `rosbags`.

    python benchmarks/reading_bags.py [--messages 60000]

Writes a bag of sensor_msgs/msg/JointState by each storage plugin, and reads positions, velocities,
efforts and stamps out of it in two ways in turn: by `read_joint_states`, and by a loop over the
messages that `rosbags` deserialises. Printed are the least processor times of several rounds.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

import argparse
from collections.abc import Callable
from pathlib import Path
import tempfile
import time
from typing import Any

import numpy as np
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores

from dynid_ros.arm.drive import JOINT_STATE
from dynid_ros.data.files.bags import read_joint_states
from dynid_ros.data.files.joint_state_cdr import encode

JOINTS = tuple(f'fer_joint{j}' for j in range(1, 8))
PLUGINS = {'MCAP': StoragePlugin.MCAP, 'sqlite3': StoragePlugin.SQLITE3}
ROUNDS = 3
STORE = get_typestore(Stores.ROS2_HUMBLE)


def write(path: Path, plugin: StoragePlugin, count: int) -> None:
    """Write a bag at 1 kHz."""
    stamps = 10**9 + 10**6 * np.arange(count)
    values = np.random.default_rng(0).normal(size=(3, count, len(JOINTS)))
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        connection = writer.add_connection('/joint_states', JOINT_STATE, typestore=STORE)
        for stamp, row in zip(stamps.tolist(), encode(JOINTS, stamps, values), strict=True):
            writer.write(connection, stamp, row.tobytes())


def by_rosbags(path: Path) -> list[np.ndarray]:
    """Deserialise each message and put its values together."""
    stamps, columns = [], []
    with Reader(path) as reader:
        for _, _, data in reader.messages():
            message: Any = STORE.deserialize_cdr(data, JOINT_STATE)
            stamp = message.header.stamp
            stamps.append(stamp.sec * 10**9 + stamp.nanosec)
            columns.append((message.position, message.velocity, message.effort))
    return [np.array(stamps), *(np.array(column) for column in zip(*columns, strict=True))]


def by_dynid(path: Path) -> list[np.ndarray]:
    """Read the same values."""
    (block,) = read_joint_states(path).blocks
    return [block.stamp, block.position, block.velocity, block.effort]


def seconds(work: Callable[[Path], object], path: Path) -> float:
    start = time.process_time()
    work(path)
    return time.process_time() - start


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, plugin in PLUGINS.items():
            path = Path(folder) / name
            write(path, plugin, count)
            for ours, theirs in zip(by_dynid(path), by_rosbags(path), strict=True):
                np.testing.assert_array_equal(ours, theirs)
            pairs = [(seconds(by_dynid, path), seconds(by_rosbags, path)) for _ in range(ROUNDS)]
            own, peer = (1e6 * min(side) / count for side in zip(*pairs, strict=True))
            print(f'{name:8} read_joint_states {own:5.2f} us a message, rosbags {peer:5.2f} us: '
                  f'{peer / own:.1f} times as fast')


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--messages', type=int, default=60_000)
    main(parser.parse_args().messages)
