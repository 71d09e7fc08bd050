# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Reader of recordings: joints by name, positions at the joints, stamps in s."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_position, joint_velocity
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.files.bag_backends import ROS_1
from dynid_ros.data.files.bags import (
    damaged_defects,
    JointStates,
    read_drive_topic,
    read_joint_states,
)
from dynid_ros.data.files.drive_signals import paired
from dynid_ros.data.files.echoed_messages import ECHOED_FIELDS, read_echoed
from dynid_ros.data.files.sample_blocks import SampleBlock
from dynid_ros.data.files.sidecar import validation_spans
from dynid_ros.data.recordings.recording import Defect, Recording
from dynid_ros.data.tables.joint_names import likely_names, remedy
from dynid_ros.data.tables.lerobot_table import data_set_of
from dynid_ros.data.tables.read import read_table
from dynid_ros.data.tables.table_files import TABLE_SUFFIXES, TEXT_SUFFIXES
from dynid_ros.errors import RecordingError
from dynid_ros.utilities.in_blocks import Mask

BAG_SUFFIXES = ('.db3', '.mcap', ROS_1)
# Simulated time starts at zero; stamps of a clock that was set are many years from it. A zero
# among stamps later than one day was never set.
DAY_NS = 86_400 * 10**9


def read_recording(
    path: str | Path,
    arm: ArmModel,
    *,
    topic: str = 'joint_states',
    rate_hz: float | None = None,
    received: bool = False,
) -> Recording:
    """
    Read a bag, printed messages or a table.

    Joints are found by name in every message: any order, further joints and further publishers
    are allowed. Motor positions become joint positions by the drive settings of the arm; the
    drive signal stays as recorded. Where it has a topic of its own, `Pairing` brings it to the
    stamps of the joint states, as it does for the nodes.

    Parameters
    ----------
    path : str or Path
        Bag folder, a file of `BAG_SUFFIXES` or `TABLE_SUFFIXES`, or a data set of LeRobot; see
        `data_set_of`.
    arm : ArmModel
        Names of the joints, drive and table settings.
    topic : str
        Joint-state topic of a bag.
    rate_hz : float or None
        Sample rate of a table without a time column, Hz; overrides the arm's.
    received : bool
        Use the times of reception in a bag, which jitter, as stamps.

    Raises
    ------
    RecordingError
        The recording cannot be read or does not fit the arm.

    """
    path = Path(path)
    states = read_messages(path, topic)
    if states is not None:
        return at_joints(from_messages(states, path, arm, received), arm)
    return at_joints(read_table(path, arm, rate_hz=rate_hz), arm)


def read_messages(path: Path, topic: str) -> JointStates | None:
    """
    Read the joint states of a bag or of a file of printed messages; None of a table.

    Raises
    ------
    RecordingError
        The path is no recording, or it cannot be read.

    """
    if data_set_of(path) is not None:
        return None
    suffix, known = path.suffix.lower(), ', '.join((*BAG_SUFFIXES, *TABLE_SUFFIXES))
    if not path.exists():
        raise RecordingError(f'{path} does not exist; give a bag folder or a file ({known})')
    if path.is_dir() or suffix in BAG_SUFFIXES:
        return read_joint_states(path, topic)
    if suffix not in TABLE_SUFFIXES:
        raise RecordingError(
            f'{path} is not a recording; give a bag folder or a file ({known}): unpack a packed '
            'file, and write another kind of table, such as parquet or JSON, as .csv')
    return read_echoed(path) if suffix in TEXT_SUFFIXES else None


def at_joints(recording: Recording, arm: ArmModel) -> Recording:
    """Bring positions and velocities from the encoders to the joints."""
    drive, qd = arm.drive, recording.qd
    return replace(recording, q=joint_position(recording.q, drive),
                   qd=None if qd is None else joint_velocity(qd, drive))


def from_messages(
    states: JointStates, path: Path, arm: ArmModel, received: bool
) -> Recording:
    """
    Turn messages into a recording, with the positions where they were measured.

    Raises
    ------
    RecordingError
        They do not fit the arm.

    """
    source = str(path)
    arm.drive.check_topic(f'{source}: topic {states.topic}')
    apart = None if path.suffix.lower() in TEXT_SUFFIXES else arm.drive.topic
    samples, reported = samples_of(states, arm, source, ('position', 'effort')[:1 if apart else 2])
    stamps = samples.received if received else samples.stamp
    keep, found = stamped(stamps, f'{source}: topic {states.topic}')
    values = {name: getattr(samples, name)[keep] for name in ECHOED_FIELDS
              if getattr(samples, name).shape[1]}
    stamps = stamps[keep]
    behind = int(stamps[0] - samples.stamp[keep][0])
    defects = (*states.defects, *_guess(samples.names, arm), *reported, *found)
    if apart:
        signals = read_drive_topic(path, apart, states.topic)
        own, foreign = samples_of(signals, arm, source, ('effort',))
        rows, u, unpaired = paired(stamps, samples.received[keep], own, received,
                                   f'{source}: topic {signals.topic}')
        stamps = stamps[rows]
        values = {name: array[rows] for name, array in values.items()} | {'effort': u}
        # Defects of the files are known from the joint states.
        others = (defect for defect in signals.defects if defect not in states.defects)
        defects = (*defects, *others, *foreign, *unpaired)
    start, shift = stamps[0], float(behind - stamps[0]) * 1e-9
    return Recording(
        (stamps - start) * 1e-9, values['position'], values['effort'], arm.joint_names,
        arm.drive.signal, source, values.get('velocity'), defects, as_logged=True,
        validation=tuple(
            (begin + shift, end + shift) for begin, end in validation_spans(path)),
        began=float(start) * 1e-9 if start > DAY_NS else None)


def samples_of(
    states: JointStates, arm: ArmModel, source: str, needed: tuple[str, ...]
) -> tuple[SampleBlock, list[Defect]]:
    """
    Find the joints of an arm by name in every message.

    Parameters
    ----------
    states : JointStates
        Messages.
    arm : ArmModel
        Names of the joints.
    source : str
        Where the messages come from.
    needed : tuple of str
        Which of `ECHOED_FIELDS` must be there.

    Returns
    -------
    samples : SampleBlock
        Messages that hold all joints of the arm, in the order of the recording and of the joints;
        without the fields that some of them lack.
    defects : list of Defect
        Defects found.

    Raises
    ------
    RecordingError
        Joints or needed values are missing.

    """
    names = _recorded_names(states, arm, source)
    held = [block for block in states.blocks if set(names) <= set(block.names)]
    used, wrong = _of_right_lengths(held, names, source, states.topic, needed)
    there = [f for f in ECHOED_FIELDS if f in needed or all(getattr(b, f).shape[1] for b in used)]
    reported = [*_incomplete(states, held, used), *wrong]
    if len(used) == 1 and used[0].names == names and (np.diff(used[0].index) > 0).all():
        # The usual case; a copy would double the memory of a long recording.
        return used[0], reported
    order = np.argsort(np.concatenate([block.index for block in used]))
    stamps = (np.concatenate([getattr(block, name) for block in used])[order]
              for name in ('index', 'stamp', 'received'))
    values = (np.concatenate([
        getattr(block, name)[:, [block.names.index(joint) for joint in names]]
        for block in used])[order] if name in there else np.empty((len(order), 0))
        for name in ECHOED_FIELDS)
    return SampleBlock(names, *stamps, *values), reported


def _recorded_names(states: JointStates, arm: ArmModel, source: str) -> tuple[str, ...]:
    """Names under which the joints of the arm appear."""
    there = list(dict.fromkeys(name for block in states.blocks for name in block.names))
    own, likely = (arm.joint_names, *arm.aliases), likely_names(arm, there)
    for names in (*own, *likely[:len(likely) == 1]):
        if any(set(names) <= set(block.names) for block in states.blocks):
            return names
    tried = '; or '.join(', '.join(names) for names in own)
    if any(set(names) <= set(there) for names in own):
        raise RecordingError(
            f'{source}: no message on {states.topic} holds all joints of {arm.name} ({tried}), '
            'but each a part of them; publish them in one message, as joint_state_publisher does '
            'with source_list, or record the topic of one publisher with --topic')
    raise RecordingError(
        f'{source}: no message on {states.topic} holds all joints of {arm.name} ({tried}); '
        f'it holds {", ".join(there) or "no names"}; {remedy(arm, there)}')


def _guess(names: tuple[str, ...], arm: ArmModel) -> list[Defect]:
    """Report guessed names."""
    return [] if names in (arm.joint_names, *arm.aliases) else [Defect(
        'joints_guessed', 'info', f'guessed from the names: joints {", ".join(names)} as '
        f'{", ".join(arm.joint_names)}. If so, {remedy(arm, names)}.')]


def _of_right_lengths(
    blocks: list[SampleBlock], names: tuple[str, ...], source: str, topic: str,
    needed: tuple[str, ...],
) -> tuple[list[SampleBlock], list[Defect]]:
    """Leave out messages whose arrays have a wrong length; refuse a recording with many."""
    used, wrong = [], []
    for block in blocks:
        # All but needed arrays may be absent.
        widths = [(getattr(block, label).shape[1], label) for label in ECHOED_FIELDS]
        faults = [f'{width} values of {label} for {len(block.names)} joints, {", ".join(names)} '
                  'among them; record a topic that holds one for each'
                  for width, label in widths
                  if width != len(block.names) and (width or label in needed)]
        if faults:
            wrong += [(int(place), faults[0]) for place in block.index]
        else:
            used.append(block)
    return used, damaged_defects(source, topic, sum(len(block.index) for block in blocks), wrong,
                                 'hold arrays of a wrong length')


def _incomplete(
    states: JointStates, held: list[SampleBlock], used: list[SampleBlock],
) -> list[Defect]:
    """Report messages of other publishers, and velocities left out."""
    found = []
    skipped = states.count - sum(len(block.index) for block in held)
    if skipped:
        others = next(block for block in states.blocks if all(block is not b for b in held))
        text = (f'{skipped} of {states.count} messages on {states.topic} lack joints of the arm '
                f'and are left out; they hold {", ".join(others.names) or "no names"}.')
        found.append(Defect('messages_skipped', 'info', text, count=skipped))
    bare = sum(len(block.index) for block in used if not block.velocity.shape[1])
    if 0 < bare < sum(len(block.index) for block in used):
        text = f'{bare} messages hold no velocities: none are used, positions are differentiated.'
        found.append(Defect('velocity_missing', 'info', text, count=bare))
    return found


def stamped(
    stamps: NDArray[np.int64], where: str
) -> tuple[Mask | slice, list[Defect]]:
    """Find the samples to keep, and the defects."""
    count = len(stamps)
    unset = int(np.count_nonzero(stamps == 0))
    if unset == count > 1:
        raise RecordingError(
            f'{where}: the header stamps were never set, all {len(stamps)} are zero; let the '
            'driver stamp its messages, or use the times of reception (--received)')
    if unset and 2 * np.count_nonzero(stamps > DAY_NS) > count:
        text = f'{unset} messages have no header stamp and are left out.'
        return stamps != 0, [Defect('stamps_zero', 'warning', text, count=unset)]
    return slice(None), []
