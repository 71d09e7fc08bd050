"""Reading bags through rosbag2_py, where ROS 2 is installed, or through rosbags."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
import importlib.util
from pathlib import Path
from typing import Any, Protocol

from dynid_ros.recordings.recording import Defect

STORAGE_OF_SUFFIX = {'.db3': 'sqlite3', '.mcap': 'mcap'}


class BagReader(Protocol):
    """One bag, or one file of a bag."""

    topics: dict[str, str]
    defects: list[Defect]

    def messages(self, topic: str) -> Iterator[tuple[int, bytes]]:
        """Yield receive time, ns, and content of each message of a topic."""

    def close(self) -> None:
        """Close the files."""


class RosbagsReader:
    """Reads through ``rosbags``, which needs no ROS."""

    def __init__(self, path: Path) -> None:
        from rosbags.rosbag2 import Reader

        self.defects: list[Defect] = []
        self._stack = ExitStack()
        self._reader = self._stack.enter_context(Reader(path))
        self.topics = {c.topic: c.msgtype for c in self._reader.connections}

    def messages(self, topic: str) -> Iterator[tuple[int, bytes]]:
        """Yield receive time, ns, and content of each message of a topic."""
        wanted = [c for c in self._reader.connections if c.topic == topic]
        for _, time, data in self._reader.messages(wanted):
            yield time, data

    def close(self) -> None:
        """Close the files."""
        self._stack.close()


class Rosbag2Reader:
    """Reads through ``rosbag2_py``, with the storage plugins of the ROS installation."""

    def __init__(self, path: Path) -> None:
        self.defects: list[Defect] = []
        self._path = path
        topics = self._open().get_all_topics_and_types()
        self.topics = {topic.name: topic.type for topic in topics}

    def _open(self) -> Any:
        import rosbag2_py

        storage, compressed = _storage(self._path)
        kind = 'SequentialCompressionReader' if compressed else 'SequentialReader'
        reader = getattr(rosbag2_py, kind)()
        reader.open(
            rosbag2_py.StorageOptions(uri=str(self._path), storage_id=storage),
            rosbag2_py.ConverterOptions('', ''),
        )
        return reader

    def messages(self, topic: str) -> Iterator[tuple[int, bytes]]:
        """Yield receive time, ns, and content of each message of a topic."""
        import rosbag2_py

        reader = self._open()
        reader.set_filter(rosbag2_py.StorageFilter(topics=[topic]))
        while reader.has_next():
            _, data, time = reader.read_next()
            yield time, data

    def close(self) -> None:
        """Nothing is held open between reads."""


def _storage(path: Path) -> tuple[str, bool]:
    """Storage plugin of a bag, and whether files or messages are compressed."""
    if path.is_file():
        return STORAGE_OF_SUFFIX[path.suffix], False
    import yaml

    content = yaml.safe_load((path / 'metadata.yaml').read_text())
    information = content['rosbag2_bagfile_information']
    mode = str(information.get('compression_mode', '')).lower()
    return information['storage_identifier'], mode not in ('', 'none')


def open_backend(path: Path) -> BagReader:
    """Open a bag folder with its metadata, or a bare file, with what is installed."""
    if importlib.util.find_spec('rosbag2_py') is not None:
        return Rosbag2Reader(path)
    return RosbagsReader(path)
