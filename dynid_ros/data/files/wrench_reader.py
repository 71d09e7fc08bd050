# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Reader of a force-torque sensor: its wrenches at the joint states of a bag."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynid_ros.arm.drive import joint_position
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.bag_backends import WRENCH
from dynid_ros.data.files.bags import JointStates, opened, read_joint_states, read_topic
from dynid_ros.data.files.drive_signals import paired
from dynid_ros.data.files.joint_state_cdr import Layout, NOTHING, STAMP
from dynid_ros.data.files.recording_reader import samples_of, stamped
from dynid_ros.data.files.sample_blocks import SampleBlock
from dynid_ros.data.files.sidecar import recorded_wrench, STATES
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.data.tables.table_files import TABLE_SUFFIXES
from dynid_ros.errors import listed, RecordingError
from dynid_ros.utilities.arrays import Array

#: Doubles of a wrench: force, then torque.
WRENCH_WIDTH = 6


@dataclass(frozen=True, eq=False)
class WrenchRecording:
    """
    Wrenches of a sensor at the joint states of an arm.

    Attributes
    ----------
    t : (N,) ndarray
        Stamps of the joint states, s, counted from the first.
    q : (N, n) ndarray
        Positions of the joints, rad or m.
    wrench : (N, 6) ndarray
        ``[Tx Ty Tz Fx Fy Fz]`` as measured, Nm and N, interpolated from its own stamps.
    frame : str
        Frame that the messages state.
    source, topic : str
        Where it was read from.
    defects : tuple of Defect
        Defects found while reading.

    """

    t: Array
    q: Array
    wrench: Array
    frame: str
    source: str
    topic: str
    defects: tuple[Defect, ...] = ()


def read_wrenches(
    path: str | Path, arm: ArmModel, *, topic: str = STATES, wrench_topic: str | None = None,
    received: bool = False,
) -> WrenchRecording:
    """
    Read the joint states and the force-torque sensor of a bag.

    Parameters
    ----------
    path : str or Path
        Bag folder or file.
    arm : ArmModel
        Names of the joints and drive settings.
    topic : str
        Joint-state topic.
    wrench_topic : str, optional
        Topic of the sensor; by default the sidecar's, or the only one of its type.
    received : bool
        Use the times of reception as stamps.

    Raises
    ------
    RecordingError
        The bag cannot be read, lacks the sensor, or its messages state several frames.

    """
    path = Path(path)
    if not path.exists():
        raise RecordingError(f'{path} does not exist; give a bag folder or a file of one')
    if path.suffix.lower() in TABLE_SUFFIXES:
        raise RecordingError(
            f'{path} is a table, and wrenches have stamps and a frame of their own; give the bag '
            'with joint states and geometry_msgs/WrenchStamped')
    states = read_joint_states(path, topic)
    signals = read_topic(path, _topic(path, wrench_topic), WRENCH, parse_wrench,
                         'choose one with --wrench-topic')
    source, where = str(path), f'{path}: topic {states.topic}'
    samples, reported = samples_of(states, arm, source, ('position',))
    stamps = samples.received if received else samples.stamp
    keep, found = stamped(stamps, where)
    own, frame = _one_frame(signals, source)
    rows, wrench, unpaired = paired(
        stamps[keep], samples.received[keep], own, received, f'{source}: topic {signals.topic}')
    stamps = stamps[keep][rows]
    return WrenchRecording(
        (stamps - stamps[0]) * 1e-9, joint_position(samples.position[keep][rows], arm.drive),
        np.roll(wrench, 3, axis=1), frame, source, signals.topic,
        (*states.defects, *reported, *found,
         *(each for each in signals.defects if each not in states.defects), *unpaired))


def parse_wrench(data: bytes) -> Layout:
    """
    Find the numbers of a geometry_msgs/WrenchStamped, as the effort of one name: its frame.

    Raises
    ------
    ValueError
        The bytes are not such a message.

    """
    layout = Layout(data, stamped=True)
    layout.at = STAMP.stop
    layout.names = (layout.string(fixed=True),)
    layout.align(8)
    start, layout.at = layout.at, layout.at + 8 * WRENCH_WIDTH
    if layout.at > len(data):
        raise ValueError('the message ends early')
    layout.arrays = NOTHING, NOTHING, slice(start, layout.at)
    return layout.end()


def _topic(path: Path, given: str | None) -> str:
    """Find the full name of the topic of the sensor."""
    stated = given or recorded_wrench(path)
    if stated is not None:
        return f'/{stated.lstrip("/")}'
    with opened(path) as bag:
        there = sorted(name for name, kind in bag.topics.items() if kind == WRENCH)
        others = sorted(bag.topics)
    if len(there) == 1:
        return there[0]
    if there:
        raise RecordingError(f'{path} holds the wrenches {listed(there)}; choose one with '
                             '--wrench-topic (wrench_topic in Python)')
    raise RecordingError(
        f'{path} holds no {WRENCH}; topics there: {listed(others) or "none"}; record the '
        'sensor with the parameter wrench_topic of the recorder')


def _one_frame(signals: JointStates, source: str) -> tuple[SampleBlock, str]:
    """Return the messages of a sensor, whose frame must be one."""
    frames = sorted({name for block in signals.blocks for name in block.names})
    if len(frames) != 1 or len(signals.blocks) != 1:
        raise RecordingError(
            f'{source}: the messages on {signals.topic} state the frames {listed(frames)}; '
            'record one sensor, whose frame does not change')
    return signals.blocks[0], frames[0]
