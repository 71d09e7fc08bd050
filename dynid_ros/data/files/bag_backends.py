# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Reading bags through rosbag2_py or rosbags, of ROS 1 too, and an MCAP file without its end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
import importlib.util
from itertools import chain
from os import SEEK_END
from pathlib import Path
import re
from typing import Any

from dynid_ros.data.files.drive_messages import DRIVE_PARSERS
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.errors import RecordingError

STORAGE_OF_SUFFIX = {'.db3': 'sqlite3', '.mcap': 'mcap'}
ROS_1 = '.bag'
#: Wrenches of a force-torque sensor.
WRENCH = 'geometry_msgs/msg/WrenchStamped'
#: Types of messages to keep from a file, which may hold images, too.
KEPT_TYPES = (*DRIVE_PARSERS, WRENCH)
#: First and last bytes of an MCAP file (https://mcap.dev/spec#magic).
MAGIC = b'\x89MCAP0\r\n'


@dataclass(frozen=True)
class Bag:
    """
    One bag, or one file of a bag.

    Attributes
    ----------
    topics : dict of str to str
        Type of each topic.
    messages : callable
        Receive time, ns, and content as CDR of each message of a topic.
    defects : tuple of Defect
        Of the files.

    """

    topics: dict[str, str]
    messages: Callable[[str], Iterable[tuple[int, bytes]]]
    defects: tuple[Defect, ...] = ()


def open_bag(path: Path, stack: ExitStack) -> Bag:
    """
    Open a bag: as one, its files one by one where its metadata are unreliable, or a single file.

    Parameters
    ----------
    path : Path
        Folder or file.
    stack : ExitStack
        Closes the files.

    Raises
    ------
    RecordingError
        The folder is no bag.

    """
    if path.is_file():
        return _truncated_mcap(path) if is_truncated(path) else _whole(path, stack)
    # In the order in which they were recorded, ``name_10`` last.
    files = sorted(
        (file for file in path.iterdir() if file.suffix in STORAGE_OF_SUFFIX),
        key=lambda f: [int(d) if d else 0 for d in re.findall(r'\d+', f.stem)])
    metadata = path / 'metadata.yaml'
    # A full disk leaves an empty one.
    complete = metadata.is_file() and metadata.stat().st_size > 0
    if complete and not any(map(is_truncated, files)):
        return _whole(path, stack)
    if not files:
        raise RecordingError(f'{path} is not a recording: the folder holds no metadata.yaml and '
                             'no .mcap or .db3 file')
    bags = [open_bag(file, stack) for file in files]
    defects = [defect for bag in bags for defect in bag.defects]
    if not complete:
        defects.append(Defect(
            'metadata_missing', 'warning', f'{path} has no metadata.yaml, as when its recorder '
            'was killed: its files are read directly; `ros2 bag reindex` restores it.',
            count=len(files)))
    return Bag(
        {name: kind for bag in bags for name, kind in bag.topics.items()},
        lambda topic: chain.from_iterable(
            bag.messages(topic) for bag in bags if topic in bag.topics), tuple(defects))


def is_ros_1(path: Path) -> bool:
    """Whether a path is a bag of ROS 1, rather than a folder of a rosbag2 with such a name."""
    return path.suffix.lower() == ROS_1 and not path.is_dir()


def _whole(path: Path, stack: ExitStack) -> Bag:
    """Open a bag folder with its metadata, or a bare file, by the library that is installed."""
    if importlib.util.find_spec('rosbag2_py') is not None and not is_ros_1(path):
        return _by_rosbag2(path)
    return _by_rosbags(path, stack)


def _by_rosbags(path: Path, stack: ExitStack) -> Bag:
    """Read through ``rosbags``, which needs no ROS; messages of a ROS 1 bag come as CDR."""
    from rosbags import rosbag1, rosbag2
    from rosbags.typesys import get_typestore, Stores

    old = is_ros_1(path)
    reader: Any = stack.enter_context((rosbag1 if old else rosbag2).Reader(path))
    store: Any = get_typestore(Stores.ROS2_HUMBLE) if old else None

    def messages(topic: str) -> Iterator[tuple[int, bytes]]:
        wanted = [c for c in reader.connections if _full(c.topic) == topic]
        for connection, time, data in reader.messages(wanted):
            yield time, bytes(store.ros1_to_cdr(data, connection.msgtype)) if old else data

    return Bag({_full(c.topic): c.msgtype for c in reader.connections}, messages)


def _full(topic: str) -> str:
    """Name a topic as ROS 2 does; nodes of ROS 1 may leave out the first slash."""
    return '/' + topic.lstrip('/')


def _by_rosbag2(path: Path) -> Bag:
    """Read through ``rosbag2_py``, with the storage plugins of the ROS installation."""
    import rosbag2_py
    import yaml

    storage, mode = STORAGE_OF_SUFFIX.get(path.suffix), ''
    if not path.is_file():
        content = yaml.safe_load((path / 'metadata.yaml').read_text())
        information = content['rosbag2_bagfile_information']
        storage = information['storage_identifier']
        mode = str(information.get('compression_mode', '')).lower()
    kind = 'SequentialReader' if mode in ('', 'none') else 'SequentialCompressionReader'

    def opened() -> Any:
        reader = getattr(rosbag2_py, kind)()
        reader.open(rosbag2_py.StorageOptions(uri=str(path), storage_id=storage),
                    rosbag2_py.ConverterOptions('', ''))
        return reader

    def messages(topic: str) -> Iterator[tuple[int, bytes]]:
        reader = opened()
        reader.set_filter(rosbag2_py.StorageFilter(topics=[topic]))
        while reader.has_next():
            _, data, time = reader.read_next()
            yield time, data

    return Bag({topic.name: topic.type for topic in opened().get_all_topics_and_types()}, messages)


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


def _truncated_mcap(path: Path) -> Bag:
    """Read an MCAP file without its end."""
    topics: dict[str, str] = {}
    found: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    # The damage may surface anywhere: in a record, a chunk, or a decompressor.
    with suppress(Exception):
        for topic, kind, time, data in _prefix(path):
            topics[topic] = kind
            if kind in KEPT_TYPES:
                found[topic].append((time, data))
    count = sum(map(len, found.values()))
    return Bag(topics, lambda topic: sorted(found[topic], key=lambda message: message[0]), (Defect(
        'bag_truncated', 'warning', f'{path.name} is truncated, as when its recorder was killed: '
        f'the {count} messages before the damage are used.', count=count),))


def _prefix(path: Path) -> Iterator[tuple[str, str, int, bytes]]:
    """Yield topic, type, time and content of each message up to the damage."""
    if importlib.util.find_spec('mcap') is None:
        bag = _by_rosbag2(path)
        for topic, kind in bag.topics.items():
            # Each topic is read up to the damage.
            with suppress(RuntimeError):
                yield from ((topic, kind, time, data) for time, data in bag.messages(topic))
        return
    from mcap.reader import NonSeekingReader

    with path.open('rb') as file:
        for schema, channel, message in NonSeekingReader(file).iter_messages(log_time_order=False):
            kind = schema.name if schema else 'unknown'
            yield channel.topic, kind, message.log_time, message.data
