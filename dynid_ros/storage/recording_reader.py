"""Reader of recordings: joints by name, positions at the joints, stamps in s."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_position, joint_velocity
from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import RecordingError
from dynid_ros.recordings import quality
from dynid_ros.recordings.recording import Defect, Recording
from dynid_ros.storage.bags import JointStates, read_drive_topic, read_joint_states
from dynid_ros.storage.sample_blocks import SampleBlock
from dynid_ros.storage.tables import read_table, TABLE_SUFFIXES
from dynid_ros.streaming.pairing import GAP, Pairing, Stamps

Array = NDArray[np.float64]
Order = NDArray[np.int64] | slice

FIELDS = ('position', 'velocity', 'effort')
BAG_SUFFIXES = ('.db3', '.mcap')
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
    Read a rosbag2 recording or a table.

    Joints are found by name in every message: any order, further joints and further publishers
    are allowed. Motor positions become joint positions by the drive settings of the arm; the
    drive signal stays as recorded. Where it has a topic of its own, `Pairing` brings it to the
    stamps of the joint states, as it does for the nodes.

    Parameters
    ----------
    path : str or Path
        Bag folder, ``.db3``, ``.mcap``, ``.csv``, ``.txt`` or ``.npz`` file.
    arm : ArmModel
        Names of the joints, drive and table settings.
    topic : str
        Joint-state topic of a bag.
    rate_hz : float or None
        Sample rate of a table without a time column, Hz; overrides that of the arm.
    received : bool
        Use the times of reception in a bag, which jitter, as stamps.

    Raises
    ------
    RecordingError
        The recording cannot be read or does not fit the arm.

    """
    path = Path(path)
    known = ', '.join((*BAG_SUFFIXES, *TABLE_SUFFIXES))
    if not path.exists():
        raise RecordingError(f'{path} does not exist; give a bag folder or a file ({known})')
    if path.is_dir() or path.suffix in BAG_SUFFIXES:
        recording = _from_bag(path, arm, topic, received)
    elif path.suffix in TABLE_SUFFIXES:
        table = read_table(path, arm, rate_hz=rate_hz)
        recording = Recording(
            table.t, table.q, table.u, arm.joint_names, arm.drive.signal, str(path), table.qd,
            table.defects)
    else:
        raise RecordingError(f'{path} is not a recording; give a bag folder or a file ({known})')
    return _at_joints(recording, arm)


def _at_joints(recording: Recording, arm: ArmModel) -> Recording:
    qd = None if recording.qd is None else joint_velocity(recording.qd, arm.drive)
    q = joint_position(recording.q, arm.drive)
    return replace(recording, q=q, qd=qd)


def _from_bag(path: Path, arm: ArmModel, topic: str, received: bool) -> Recording:
    source, apart = str(path), arm.drive.topic
    states = read_joint_states(path, topic)
    samples, reported = samples_of(states, arm, source, ('position', 'effort')[:1 if apart else 2])
    stamps = samples.received if received else samples.stamp
    keep, found = _stamped(stamps, f'{source}: topic {states.topic}')
    fields = {name: getattr(samples, name) for name in FIELDS}
    values = {name: array if len(keep) == len(array) else array[keep]
              for name, array in fields.items() if array.shape[1]}
    stamps = stamps if len(keep) == len(stamps) else stamps[keep]
    defects = (*states.defects, *reported, *found)
    if apart:
        signals = read_drive_topic(path, apart, states.topic)
        own, foreign = samples_of(signals, arm, source, ('effort',))
        moving = [name for name in ('position', 'velocity') if name in values]
        moved = np.hstack([values[name] for name in moving])
        stamps, moved, u, unpaired = _paired(
            (stamps, samples.received[keep], moved), own, received,
            f'{source}: topic {signals.topic}')
        values = dict(zip(moving, np.hsplit(moved, len(moving)), strict=True)) | {'effort': u}
        # Defects of the files are known from the joint states.
        others = (defect for defect in signals.defects if defect not in states.defects)
        defects = (*defects, *others, *foreign, *unpaired)
    return Recording(
        (stamps - stamps[0]) * 1e-9, values['position'], values['effort'], arm.joint_names,
        arm.drive.signal, source, values.get('velocity'), defects)


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
        Those of `FIELDS` that must be there.

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
    used, wrong = _of_right_lengths(held, names, f'{source}: topic {states.topic}', needed)
    # One block is in order, and a copy would double the memory of a long recording.
    order = slice(None) if len(used) == 1 else np.argsort(
        np.concatenate([block.index for block in used]), kind='stable')
    columns = [[block.names.index(name) for name in names] for block in used]
    there = [f for f in FIELDS if f in needed or all(getattr(b, f).shape[1] for b in used)]
    values = [_gather([getattr(b, f) for b in used], columns, order) if f in there
              else np.empty((sum(len(b.index) for b in used), 0)) for f in FIELDS]
    index, stamp, received = (
        _joined([getattr(block, name) for block in used])[order]
        for name in ('index', 'stamp', 'received'))
    return (SampleBlock(names, index, stamp, received, *values),
            [*_name_defects(states, held, used, columns), *wrong])


def _gather(parts: list[Array], columns: list[list[int]], order: Order) -> Array:
    """Put the values of all blocks into the order of the joints and of time."""
    if len(parts) == 1 and columns[0] == list(range(parts[0].shape[1])):
        return parts[0]
    sorted_parts = [part[:, chosen] for part, chosen in zip(parts, columns, strict=True)]
    return np.ascontiguousarray(_joined(sorted_parts)[order])


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _recorded_names(states: JointStates, arm: ArmModel, source: str) -> tuple[str, ...]:
    """Names under which the joints of the arm appear."""
    for names in (arm.joint_names, *arm.aliases):
        if any(set(names) <= set(block.names) for block in states.blocks):
            return names
    there = list(dict.fromkeys(name for block in states.blocks for name in block.names))
    tried = '; or '.join(', '.join(names) for names in (arm.joint_names, *arm.aliases))
    raise RecordingError(
        f'{source}: no message on {states.topic} holds all joints of {arm.name} ({tried}); '
        f'it holds {", ".join(there) or "no names"}; set joints or aliases in arm.yaml'
    )


def _of_right_lengths(
    blocks: list[SampleBlock], names: tuple[str, ...], where: str, needed: tuple[str, ...]
) -> tuple[list[SampleBlock], list[Defect]]:
    """Leave out messages whose arrays have a wrong length; refuse a recording with many."""
    faults = [_length_fault(block, names, needed) for block in blocks]
    wrong = [block for block, fault in zip(blocks, faults, strict=True) if fault]
    if not wrong:
        return blocks, []
    count, total = (sum(len(block.index) for block in some) for some in (wrong, blocks))
    first, fault = min((int(block.index[0]), fault)
                       for block, fault in zip(blocks, faults, strict=True) if fault)
    share, limit = count / total, quality.THRESHOLDS.missing_share
    if share > limit:
        raise RecordingError(f'{where}, message {first}: {fault}')
    text = (f'{count} of {total} messages hold arrays of a wrong length and are left out, first '
            f'message {first}: {fault}.')
    return ([block for block, fault in zip(blocks, faults, strict=True) if not fault],
            [Defect('messages_damaged', 'warning', text, None, count, None, share, limit)])


def _length_fault(
    block: SampleBlock, names: tuple[str, ...], needed: tuple[str, ...]
) -> str | None:
    """Return what is wrong with the arrays of messages; all but needed ones may be absent."""
    for label in FIELDS:
        width = getattr(block, label).shape[1]
        if width == len(block.names) or (label not in needed and not width):
            continue
        if not width:
            return f'{label} is missing for {", ".join(names)}; record a topic that holds it'
        missing = next((n for n in names if block.names.index(n) >= width), names[0])
        return (f'{width} values of {label} for {len(block.names)} joints, so {missing} is '
                'ambiguous; fix the publisher and record again')
    return None


def _name_defects(
    states: JointStates, held: list[SampleBlock], used: list[SampleBlock],
    columns: list[list[int]],
) -> list[Defect]:
    """Report messages of other publishers, changes of order, and velocities left out."""
    found = []
    skipped = states.count - sum(len(block.index) for block in held)
    if skipped:
        others = next(block for block in states.blocks if all(block is not b for b in held))
        text = (
            f'{skipped} of {states.count} messages on {states.topic} lack joints of the arm and '
            f'are left out; they hold {", ".join(others.names) or "no names"}.'
        )
        found.append(Defect('messages_skipped', 'info', text, count=skipped))
    if len({tuple(c) for c in columns}) > 1:
        first = np.sort([int(block.index[0]) for block in used])[1]
        text = f'The order of the joints changes, first at message {first}; sorted by name.'
        found.append(Defect('joint_order_changed', 'info', text, count=len(used)))
    bare = sum(len(block.index) for block in used if not block.velocity.shape[1])
    if 0 < bare < sum(len(block.index) for block in used):
        text = f'{bare} messages hold no velocities: none are used, positions are differentiated.'
        found.append(Defect('velocity_missing', 'info', text, count=bare))
    return found


def _paired(
    states: tuple[Stamps, Stamps, Array], signals: SampleBlock, received: bool, where: str,
) -> tuple[Stamps, Array, Array, list[Defect]]:
    """Pair stamps, times of reception and values with signals, in the order of reception."""
    stamps, arrival, values = states
    drive = signals.effort
    # Messages without a stamp get their time of reception.
    unset = received | (signals.stamp == 0)
    every = np.concatenate([stamps, np.where(unset, signals.received, signals.stamp)]).tolist()
    order = np.argsort(np.concatenate([arrival, signals.received]), kind='stable')
    pairing, count = Pairing(values.shape[1], drive.shape[1]), len(stamps)
    for k in order.tolist():
        if k < count:
            pairing.add_state(every[k], values[k])
        else:
            pairing.add_signal(every[k], drive[k - count])
    paired = pairing.take()
    pairing.close()
    if not len(paired[0]):
        raise RecordingError(
            f'{where}: no joint state has a drive signal within {GAP / 1e9:g} s; compare the '
            'header stamps of both topics, or use the times of reception (--received)')
    found = []
    if pairing.unpaired:
        level = 'warning' if pairing.unpaired > 0.01 * count else 'info'
        text = (f'{pairing.unpaired} of {count} joint states are left out: the drive signals '
                f'around them are more than {GAP / 1e9:g} s apart.')
        found.append(Defect('drive_signal_missing', level, text, count=pairing.unpaired))
    return *paired, found


def _stamped(
    stamps: NDArray[np.int64], where: str
) -> tuple[NDArray[np.int64], list[Defect]]:
    """Find the samples to keep, and the defects."""
    keep = np.arange(len(stamps), dtype=np.int64)
    found = []
    if len(stamps) > 1 and not stamps.any():
        raise RecordingError(
            f'{where}: the header stamps were never set, all {len(stamps)} are zero; let the '
            'driver stamp its messages, or use the times of reception (--received)')
    if np.median(stamps) > DAY_NS and (stamps == 0).any():
        unset = int((stamps == 0).sum())
        keep = np.flatnonzero(stamps)
        text = f'{unset} messages have no header stamp and are left out.'
        found.append(Defect('stamps_zero', 'warning', text, count=unset))
    return keep, found
