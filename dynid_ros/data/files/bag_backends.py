"""Reading bags through rosbag2_py or rosbags, of ROS 1 too, and an MCAP file without its end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, suppress
import importlib.util
from os import SEEK_END
from pathlib import Path
from typing import Any, Protocol

from dynid_ros.data.files.joint_state_cdr import JOINT_STATE, parse_layout
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.errors import RecordingError

STORAGE_OF_SUFFIX = {'.db3': 'sqlite3', '.mcap': 'mcap'}
ROS_1 = '.bag'
#: Types of messages that are kept of a file, which may hold images too.
KINDS = (JOINT_STATE, 'control_msgs/msg/DynamicJointState', 'std_msgs/msg/Float64MultiArray')
#: First and last bytes of an MCAP file (https://mcap.dev/spec#magic).
MAGIC = b'\x89MCAP0\r\n'


class BagReader(Protocol):
    """One bag, or one file of a bag."""

    topics: dict[str, str]
    defects: list[Defect]

    def messages(self, topic: str) -> Iterator[tuple[int, bytes]]:
        """Yield receive time, ns, and content of each message of a topic."""

    def close(self) -> None:
        """Close the files."""


class RosbagsReader:
    """Reads through ``rosbags``, which needs no ROS; messages of a ROS 1 bag come as CDR."""

    def __init__(self, path: Path) -> None:
        from rosbags import rosbag1, rosbag2
        from rosbags.typesys import get_types_from_msg, get_typestore, Stores

        self.defects: list[Defect] = []
        self._stack = ExitStack()
        self._store = None
        if is_ros_1(path):
            self._reader: Any = self._stack.enter_context(rosbag1.Reader(path))
            self._store = get_typestore(Stores.ROS2_HUMBLE)
            for c in self._reader.connections:
                if c.msgtype in KINDS and c.msgtype not in self._store.fielddefs:
                    types = get_types_from_msg(c.msgdef.data, c.msgtype)
                    self._store.register({name: fields for name, fields in types.items()
                                          if name not in self._store.fielddefs})
        else:
            self._reader = self._stack.enter_context(rosbag2.Reader(path))
        self.topics = {_full(c.topic): c.msgtype for c in self._reader.connections}

    def messages(self, topic: str) -> Iterator[tuple[int, bytes]]:
        """Yield receive time, ns, and content of each message of a topic."""
        wanted = [c for c in self._reader.connections if _full(c.topic) == topic]
        for connection, time, data in self._reader.messages(wanted):
            yield time, (data if self._store is None
                         else bytes(self._store.ros1_to_cdr(data, connection.msgtype)))

    def close(self) -> None:
        """Close the files."""
        self._stack.close()


def _full(topic: str) -> str:
    """Name a topic as ROS 2 does; nodes of ROS 1 may leave out the first slash."""
    return '/' + topic.lstrip('/')


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


def is_ros_1(path: Path) -> bool:
    """Whether a path is a bag of ROS 1, rather than a folder of a rosbag2 with such a name."""
    return path.suffix.lower() == ROS_1 and not path.is_dir()


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
    if importlib.util.find_spec('rosbag2_py') is not None and not is_ros_1(path):
        return Rosbag2Reader(path)
    return RosbagsReader(path)


def is_truncated(path: Path) -> bool:
    """Whether a file begins as MCAP and does not end as one."""
    with path.open('rb') as file:
        begins = file.read(len(MAGIC)) == MAGIC
    return begins and not ends_whole(path)


def ends_whole(path: Path) -> bool:
    """Whether the end of an MCAP file is there."""
    with path.open('rb') as file:
        file.seek(-min(len(MAGIC), path.stat().st_size), SEEK_END)
        return file.read() == MAGIC


class TruncatedMcap:
    """
    A bag reader over one MCAP file without its end.

    Attributes
    ----------
    topics : dict of str to str
        Type of each topic.
    defects : list of Defect
        One with the number of messages read.

    """

    def __init__(self, path: Path) -> None:
        self.topics: dict[str, str] = {}
        self._messages: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
        last = None
        for topic, kind, time, data in _prefix(path):
            self.topics[topic] = kind
            if kind in KINDS:
                self._messages[topic].append((time, data))
                last = topic
        if last is not None and not _whole(self.topics[last], self._messages[last][-1][1]):
            self._messages[last].pop()
        count = sum(map(len, self._messages.values()))
        self.defects = [Defect(
            'bag_truncated', 'warning', f'{path.name} is truncated, as when its recorder was '
            f'killed: the {count} messages before the damage are used.', count=count)]

    def messages(self, topic: str) -> Iterator[tuple[int, bytes]]:
        """Yield receive time, ns, and content of each message of a topic."""
        yield from sorted(self._messages[topic], key=lambda message: message[0])

    def close(self) -> None:
        """Nothing is held open between reads."""


def _prefix(path: Path) -> Iterator[tuple[str, str, int, bytes]]:
    """Yield topic, type, time and content of each message up to the damage."""
    if importlib.util.find_spec('mcap') is not None:
        from mcap.reader import NonSeekingReader

        # The damage may surface anywhere below: in a record, a chunk, or a decompressor.
        with path.open('rb') as file, suppress(Exception):
            reader = NonSeekingReader(file)
            for schema, channel, message in reader.iter_messages(log_time_order=False):
                kind = schema.name if schema else 'unknown'
                yield channel.topic, kind, message.log_time, message.data
    elif importlib.util.find_spec('rosbag2_py') is not None:
        bag = Rosbag2Reader(path)
        for topic, kind in bag.topics.items():
            # The damage; everything before it was read.
            with suppress(RuntimeError):
                for time, data in bag.messages(topic):
                    yield topic, kind, time, data
    else:
        raise RecordingError(
            f'{path} is truncated (its recorder was killed); reading it needs the package mcap: '
            'pip install mcap')


def _whole(kind: str, data: bytes) -> bool:
    """Whether the last message was written to its end."""
    if kind != JOINT_STATE:
        # Its length depends on interface or joints; drop this one message.
        return False
    try:
        parse_layout(data)
    except ValueError:
        return False
    return True
