# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Writing joint states as a rosbag2 recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from dynid_ros.arm.drive import JOINT_STATE
from dynid_ros.data.files.bag_backends import ends_whole
from dynid_ros.data.files.joint_state_cdr import encode
from dynid_ros.data.files.sidecar import SIDECAR, sidecar_text, STATES
from dynid_ros.errors import ResultError
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.atomic_write import check_output, whole_folder
from dynid_ros.utilities.in_blocks import blocks

Write = Callable[[int, bytes], None]

# A stamp of zero marks an unset one, so time starts one second later.
START_NS = 1_000_000_000
#: Entry of ``recording.yaml`` in bags that may be written again.
REWRITABLE_MARK = 'by dynid_ros'


def write_joint_states(
    path: str | Path, joint_names: Sequence[str], t: Array, q: Array, qd: Array | None,
    effort: Array, *, sidecar: Mapping[str, Any] | None = None,
) -> None:
    """
    Write a rosbag2 folder (MCAP) with one topic of sensor_msgs/msg/JointState.

    Parameters
    ----------
    path : str or Path
        Folder to be made.
    joint_names : sequence of str
        Names of the columns.
    t : (N,) ndarray
        Time of each sample, s.
    q : (N, n) ndarray
        Positions, rad or m.
    qd : (N, n) ndarray or None
        Velocities, rad/s or m/s; None leaves them out of the messages.
    effort : (N, n) ndarray
        Efforts, in the unit of the arm.
    sidecar : mapping, optional
        Content of ``recording.yaml`` beside the data.

    Raises
    ------
    ResultError
        The folder exists or cannot be written.

    """
    check_bag(Path(path))
    opened = _rosbag2 if importlib.util.find_spec('rosbag2_py') is not None else _rosbags
    values = (q, qd, effort)
    with whole_folder(Path(path)) as folder:
        try:
            with opened(folder, f'/{STATES}') as write:
                for stamp, message in _messages(joint_names, t, values):
                    write(stamp, message)
            # Before Jazzy, rosbag2 closes the files when its writer is released.
            del write
        # Of rosbag2_py.
        except RuntimeError as error:
            raise ResultError(f'{path} cannot be written: {error}') from error
        # rosbag2 reports no error on a full disk.
        if not all(map(ends_whole, folder.glob('*.mcap'))):
            raise ResultError(f'{path} cannot be written: the file was cut short; is the disk '
                              'full?')
        (folder / SIDECAR).write_bytes(
            sidecar_text({'written': REWRITABLE_MARK} | dict(sidecar or {})))


def check_bag(path: Path) -> None:
    """Refuse to write over anything but a bag that this module wrote, no recording among them."""
    # rosbag2_py numbers its files and names them after the folder while it is unfinished.
    check_output(path, holding=(
        SIDECAR, 'metadata.yaml', *(each.name for each in path.glob('*.mcap'))))


def _messages(
    joint_names: Sequence[str], t: Array, values: Sequence[Array | None],
) -> Iterator[tuple[int, bytes]]:
    """Encode block by block: the messages of a long recording fill memory."""
    for part in blocks(len(t)):
        stamps = np.rint(np.asarray(t[part]) * 1e9).astype(np.int64) + START_NS
        rows = encode(
            joint_names, stamps, [None if x is None else x[part] for x in values])
        for stamp, message in zip(stamps.tolist(), rows, strict=True):
            yield stamp, message.tobytes()


@contextmanager
def _rosbags(path: Path, topic: str) -> Iterator[Write]:
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
    from rosbags.typesys import get_typestore, Stores

    writer = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
    writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        typestore = get_typestore(Stores.ROS2_HUMBLE)
        connection = writer.add_connection(topic, JOINT_STATE, typestore=typestore)
        yield lambda stamp, data: writer.write(connection, stamp, data)


@contextmanager
def _rosbag2(path: Path, topic: str) -> Iterator[Write]:
    import rosbag2_py

    path.parent.mkdir(parents=True, exist_ok=True)
    writer = rosbag2_py.SequentialWriter()
    writer.open(rosbag2_py.StorageOptions(uri=str(path), storage_id='mcap'),
                rosbag2_py.ConverterOptions('cdr', 'cdr'))
    described: dict[str, Any] = {
        'name': topic, 'type': JOINT_STATE, 'serialization_format': 'cdr'}
    try:
        metadata = rosbag2_py.TopicMetadata(id=0, **described)
    except TypeError:
        # Humble and Iron do not know the field `id`, Jazzy and later require it.
        metadata = rosbag2_py.TopicMetadata(**described)
    writer.create_topic(metadata)
    try:
        yield lambda stamp, data: writer.write(topic, data, stamp)
    finally:
        # Jazzy's destructor closes, too, but an error there, as of a full disk, ends the process.
        if hasattr(writer, 'close'):
            writer.close()
