# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joint states and drive signals of a bag, read by any available library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from dynid_ros.arm.drive import DriveTopic
from dynid_ros.data.files.bag_backends import Bag, is_ros_1, open_bag
from dynid_ros.data.files.drive_messages import DRIVE_PARSERS
from dynid_ros.data.files.joint_state_cdr import decode, Parser
from dynid_ros.data.files.sample_blocks import JoinedBlocks, SampleBlock
from dynid_ros.data.files.sidecar import recorded_topic, STATES
from dynid_ros.data.recordings import quality
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.errors import DynidError, RecordingError

# Messages decoded at once: large enough for NumPy, small against the memory of a long recording.
DECODED_TOGETHER = 4096


@dataclass(frozen=True)
class JointStates:
    """
    All messages of one joint-state topic.

    Attributes
    ----------
    topic : str
        Full name of the topic.
    count : int
        Number of messages, without those that cannot be decoded.
    blocks : tuple of SampleBlock
        The messages, those with equal joint names together.
    defects : tuple of Defect
        Defects of the files and of messages.

    """

    topic: str
    count: int
    blocks: tuple[SampleBlock, ...]
    defects: tuple[Defect, ...]


def read_joint_states(path: Path, topic: str = STATES) -> JointStates:
    """
    Read a joint-state topic of a rosbag2 folder, of one of its files, or of a bag of ROS 1.

    Folders without ``metadata.yaml`` and truncated MCAP files, as a killed recorder leaves
    them, are read as far as possible, with a warning.

    Parameters
    ----------
    path : Path
        Folder or file.
    topic : str
        Name of the topic, with or without the leading slash; by default the sidecar's, if
        there is one.

    Raises
    ------
    RecordingError
        Not a bag, a damaged one, or the topic is absent, empty or of another type.

    """
    name = (recorded_topic(path) if topic == STATES else topic).lstrip('/')
    return _read_drive(path, DriveTopic(f'/{name}'), 'choose one with --topic')


def read_drive_topic(path: Path, topic: DriveTopic, states: str) -> JointStates:
    """
    Read the drive signal from a topic of its own, as the effort of joint states.

    Parameters
    ----------
    path : Path
        Folder or file.
    topic : DriveTopic
        The topic.
    states : str
        Full name of the topic of the joint states.

    Raises
    ------
    RecordingError
        As for `read_joint_states`.

    """
    return _read_drive(
        path, replace(topic, name=topic.beside(states)), 'set drive.topic in arm.yaml')


def _read_drive(path: Path, topic: DriveTopic, remedy: str) -> JointStates:
    return read_topic(path, topic.name, topic.kind, DRIVE_PARSERS[topic.kind](topic), remedy)


def read_topic(path: Path, wanted: str, kind: str, parse: Parser, remedy: str) -> JointStates:
    """
    Read one topic of a bag.

    Parameters
    ----------
    path : Path
        Folder or file.
    wanted, kind : str
        Full name of the topic, and its type.
    parse : callable
        Finds the fields of a message.
    remedy : str
        What to do if the topic is missing, a clause.

    Raises
    ------
    RecordingError
        As for `read_joint_states`.

    """
    with opened(path) as bag:
        _check_topic(path, wanted, kind, bag.topics, remedy)
        blocks, count, damaged = _decode_all(iter(bag.messages(wanted)), parse)
        defects = (*bag.defects, *damaged_defects(path, wanted, count, damaged))
    if not count:
        raise RecordingError(f'{path}: topic {wanted} holds no messages; record it again')
    return JointStates(wanted, count - len(damaged), blocks, defects)


@contextmanager
def opened(path: Path) -> Iterator[Bag]:
    """Open a bag, and name it if its files are damaged."""
    try:
        with ExitStack() as stack:
            yield open_bag(path, stack)
    except (DynidError, ModuleNotFoundError):
        raise
    except Exception as error:
        # A damaged file may fail anywhere in the storage libraries, with any exception.
        reason = str(error).strip().split('\n')[0] or type(error).__name__
        one = is_ros_1(path)
        kind, hint = ('bag', '; try "rosbag reindex"') if one else ('rosbag2 recording', '')
        raise RecordingError(f'{path} is not a readable {kind}: {reason}{hint}') from error


def _decode_all(
    messages: Iterator[tuple[int, bytes]], parse: Parser
) -> tuple[tuple[SampleBlock, ...], int, list[tuple[int, str]]]:
    """Decode in batches, so that the raw messages are never all in memory."""
    joined, damaged = JoinedBlocks(), list[tuple[int, str]]()
    count = 0
    while batch := list(islice(messages, DECODED_TOGETHER)):
        received, data = zip(*batch, strict=True)
        good, bad = decode(received, data, count, parse)
        for block in good:
            joined.add(block)
        damaged += bad
        count += len(batch)
    return joined.take(), count, damaged


def damaged_defects(
    source: Path | str, topic: str, count: int, damaged: Sequence[tuple[int, str]],
    problem: str = 'cannot be decoded',
) -> list[Defect]:
    """
    Report messages that are left out, by place and reason.

    Raises
    ------
    RecordingError
        They are too many.

    """
    if not damaged:
        return []
    first, reason = min(damaged)
    share, limit = len(damaged) / count, quality.MISSING_SHARE
    text = f'{len(damaged)} of {count} messages on {topic} {problem}'
    if share > limit:
        raise RecordingError(f'{source} is not a readable recording: topic {topic}, message '
                             f'{first}: {reason}; {text}')
    text += f' and are left out, first message {first}: {reason}.'
    return [Defect('messages_damaged', 'warning', text, None, len(damaged), None, share, limit)]


def _check_topic(
    path: Path, wanted: str, wanted_kind: str, topics: dict[str, str], remedy: str,
) -> None:
    if not topics:
        raise RecordingError(f'{path} holds nothing readable: its recorder was stopped before it '
                             'wrote any message')
    kind = topics.get(wanted)
    if kind is None:
        listed = ', '.join(f'{name} ({topics[name]})' for name in sorted(topics))
        raise RecordingError(
            f'{path} has no topic {wanted}; topics there: {listed}; {remedy}')
    if kind != wanted_kind:
        raise RecordingError(f'{path}: topic {wanted} is of type {kind}, not {wanted_kind}')
