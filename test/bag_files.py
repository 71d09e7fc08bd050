# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Bags written by the library rosbags, for tests of the readers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores

STORE = get_typestore(Stores.ROS2_HUMBLE)
KIND = 'sensor_msgs/msg/JointState'
PLUGINS = {'sqlite3': StoragePlugin.SQLITE3, 'mcap': StoragePlugin.MCAP}


@dataclass
class Message:
    """One JointState message and the time at which it was received."""

    stamp: int
    names: list[str]
    position: list[float]
    velocity: list[float]
    effort: list[float]
    received: int | None = None
    frame: str = ''
    topic: str = '/joint_states'

    def typed(self) -> Any:
        types = STORE.types
        stamp = types['builtin_interfaces/msg/Time'](
            sec=self.stamp // 10**9, nanosec=self.stamp % 10**9
        )
        header = types['std_msgs/msg/Header'](stamp=stamp, frame_id=self.frame)
        values = (np.array(v, dtype=float) for v in (self.position, self.velocity, self.effort))
        position, velocity, effort = values
        return types[KIND](
            header=header, name=self.names, position=position, velocity=velocity, effort=effort
        )

    def cdr(self, little_endian: bool = True) -> bytes:
        return bytes(STORE.serialize_cdr(self.typed(), KIND, little_endian=little_endian))


@dataclass
class Motion:
    """Samples of a smooth motion of n joints."""

    names: list[str]
    rate: float = 100.0
    samples: int = 300
    start: int = 5_000_000_000
    t: np.ndarray = field(init=False)
    q: np.ndarray = field(init=False)
    qd: np.ndarray = field(init=False)
    effort: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.t = np.arange(self.samples) / self.rate
        w = 1.0 + 0.3 * np.arange(len(self.names))
        self.q = np.sin(w * self.t[:, None])
        self.qd = w * np.cos(w * self.t[:, None])
        self.effort = -3.0 * self.q + 0.1

    def messages(self) -> list[Message]:
        stamps = self.start + np.rint(self.t * 1e9).astype(np.int64)
        rows = zip(stamps, self.q, self.qd, self.effort, strict=True)
        return [Message(int(s), list(self.names), *map(list, row)) for s, *row in rows]


def write_bag(
    path: Path, messages: list[Message], storage: str = 'sqlite3', compression: str = 'NONE',
) -> Path:
    """Write a bag folder and return it."""
    writer = Writer(path, version=9, storage_plugin=PLUGINS[storage])
    writer.set_compression(CompressionMode[compression], CompressionFormat.ZSTD)
    with writer:
        topics = dict.fromkeys(message.topic for message in messages)
        connections = {t: writer.add_connection(t, KIND, typestore=STORE) for t in topics}
        for m in messages:
            received = m.stamp if m.received is None else m.received
            writer.write(connections[m.topic], received, m.cdr())
    return path


def storage_file(bag: Path) -> Path:
    """Return the one .db3 or .mcap file of a bag."""
    (file,) = [f for f in bag.iterdir() if f.suffix in ('.db3', '.mcap')]
    return file
