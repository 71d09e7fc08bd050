"""Any recording, as the arm sees it: joints by name, positions at the joints, stamps in s."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.drive import joint_position, joint_velocity
from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import RecordingError
from dynid_ros.signals.log import Array, Defect, JointLog
from dynid_ros.storage.bags import JointStates, read_joint_states
from dynid_ros.storage.joint_state_cdr import Block
from dynid_ros.storage.tables import read_table, TABLE_SUFFIXES

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
) -> JointLog:
    """
    Read a rosbag2 recording or a table.

    Joints are found by name in every message: any order, further joints and further publishers
    are allowed. Motor positions become joint positions by the drive settings of the arm; the
    drive signal stays as recorded.

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
        Take the times at which a bag received its messages, which jitter, for their stamps.

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
        log = _from_joint_states(read_joint_states(path, topic), arm, str(path), received)
    elif path.suffix in TABLE_SUFFIXES:
        table = read_table(path, arm, rate_hz=rate_hz)
        signal = arm.drive.signal
        log = JointLog(table.t, table.q, table.u, signal, arm.joint_names, str(path), table.qd)
    else:
        raise RecordingError(f'{path} is not a recording; give a bag folder or a file ({known})')
    return _at_joints(log, arm)


def _at_joints(log: JointLog, arm: ArmModel) -> JointLog:
    qd = None if log.qd is None else joint_velocity(log.qd, arm.drive)
    q = joint_position(log.q, arm.drive)
    return JointLog(log.t, q, log.u, log.signal, log.joint_names, log.source, qd, log.defects)


def _from_joint_states(
    states: JointStates, arm: ArmModel, source: str, received: bool
) -> JointLog:
    names = _recorded_names(states, arm, source)
    used = [block for block in states.blocks if set(names) <= set(block.names)]
    for block in used:
        _check_lengths(block, names, f'{source}: topic {states.topic}')
    index = np.concatenate([block.index for block in used])
    order = np.argsort(index, kind='stable')
    stamps = np.concatenate([b.received if received else b.stamp for b in used])[order]
    keep, t, found = _times(stamps, f'{source}: topic {states.topic}')
    chosen = order[keep]
    columns = [[block.names.index(name) for name in names] for block in used]
    with_velocity = all(block.velocity.shape[1] for block in used)
    return JointLog(
        t,
        _gather([block.position for block in used], columns, chosen),
        _gather([block.effort for block in used], columns, chosen),
        arm.drive.signal,
        arm.joint_names,
        source,
        _gather([b.velocity for b in used], columns, chosen) if with_velocity else None,
        (*states.defects, *found, *_name_defects(states, used, columns)),
    )


def _gather(parts: list[Array], columns: list[list[int]], order: NDArray[np.int64]) -> Array:
    """Put the values of all blocks into the order of the joints and of time."""
    whole = np.array_equal(order, np.arange(len(parts[0])))
    if len(parts) == 1 and whole and columns[0] == list(range(parts[0].shape[1])):
        # The usual case; a copy would double the memory of a long recording.
        return parts[0]
    sorted_parts = [part[:, chosen] for part, chosen in zip(parts, columns, strict=True)]
    return np.ascontiguousarray(np.concatenate(sorted_parts)[order])


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


def _check_lengths(block: Block, names: tuple[str, ...], where: str) -> None:
    """Position and effort of every joint must be there; velocities may be absent altogether."""
    for label, values in (
        ('position', block.position),
        ('velocity', block.velocity),
        ('effort', block.effort),
    ):
        width, sample = values.shape[1], int(block.index[0])
        if width == len(block.names) or (label == 'velocity' and not width):
            continue
        if not width:
            raise RecordingError(
                f'{where}, message {sample}: {label} is missing for {", ".join(names)}; record a '
                f'topic that holds it'
            )
        missing = next((n for n in names if block.names.index(n) >= width), names[0])
        raise RecordingError(
            f'{where}, message {sample}: {width} values of {label} for {len(block.names)} '
            f'joints, so {missing} cannot be trusted; mend the publisher and record again'
        )


def _times(
    stamps: NDArray[np.int64], where: str
) -> tuple[NDArray[np.int64], Array, list[Defect]]:
    """Find the samples to keep, their times from the first, s, and what was wrong."""
    keep = np.arange(len(stamps), dtype=np.int64)
    found = []
    if len(stamps) > 1 and not stamps.any():
        raise RecordingError(
            f'{where}: the header stamps were never set, all {len(stamps)} are zero; let the '
            'driver stamp its messages, or take the times of reception (--received)')
    if np.median(stamps) > DAY_NS and (stamps == 0).any():
        unset = int((stamps == 0).sum())
        keep = np.flatnonzero(stamps)
        text = f'{unset} messages have no header stamp and are left out.'
        found.append(Defect('stamps_zero', 'warning', text, count=unset))
    kept = stamps[keep]
    return keep, (kept - kept[0]) * 1e-9, found


def _name_defects(
    states: JointStates, used: list[Block], columns: list[list[int]]
) -> list[Defect]:
    """Report messages of other publishers, changes of order, and velocities left out."""
    found = []
    skipped = states.count - sum(len(block.index) for block in used)
    if skipped:
        others = next(block for block in states.blocks if all(block is not b for b in used))
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
