"""Samples of an arm's joints from the messages of a bag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid_ros.arm.model import ArmModel
from dynid_ros.errors import RecordingError
from dynid_ros.recordings.recording import Defect
from dynid_ros.storage.bags import JointStates
from dynid_ros.storage.joint_state_cdr import SampleBlock

Array = NDArray[np.float64]

FIELDS = ('position', 'velocity', 'effort')


@dataclass(frozen=True)
class Samples:
    """
    Messages that hold all joints of an arm, in the order of the recording.

    Attributes
    ----------
    stamp, received : (N,) ndarray of int64
        Header stamp, and time of reception, ns.
    values : dict of str to (N, n) ndarray
        Those of `FIELDS` that every message holds, in the order of the joints.
    defects : tuple of Defect
        Defects found.

    """

    stamp: NDArray[np.int64]
    received: NDArray[np.int64]
    values: dict[str, Array]
    defects: tuple[Defect, ...]


def samples_of(
    states: JointStates, arm: ArmModel, source: str, needed: tuple[str, ...]
) -> Samples:
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

    Raises
    ------
    RecordingError
        Joints or needed values are missing.

    """
    names = _recorded_names(states, arm, source)
    used = [block for block in states.blocks if set(names) <= set(block.names)]
    for block in used:
        _check_lengths(block, names, f'{source}: topic {states.topic}', needed)
    order = np.argsort(np.concatenate([block.index for block in used]), kind='stable')
    columns = [[block.names.index(name) for name in names] for block in used]
    held = [f for f in FIELDS if f in needed or all(getattr(b, f).shape[1] for b in used)]
    values = {f: _gather([getattr(b, f) for b in used], columns, order) for f in held}
    return Samples(
        np.concatenate([block.stamp for block in used])[order],
        np.concatenate([block.received for block in used])[order],
        values, tuple(_name_defects(states, used, columns)))


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


def _check_lengths(
    block: SampleBlock, names: tuple[str, ...], where: str, needed: tuple[str, ...]
) -> None:
    """Refuse messages without a needed field; the others may be absent."""
    for label in FIELDS:
        width, sample = getattr(block, label).shape[1], int(block.index[0])
        if width == len(block.names) or (label not in needed and not width):
            continue
        if not width:
            raise RecordingError(
                f'{where}, message {sample}: {label} is missing for {", ".join(names)}; record a '
                f'topic that holds it'
            )
        missing = next((n for n in names if block.names.index(n) >= width), names[0])
        raise RecordingError(
            f'{where}, message {sample}: {width} values of {label} for {len(block.names)} '
            f'joints, so {missing} is ambiguous; fix the publisher and record again'
        )


def _name_defects(
    states: JointStates, used: list[SampleBlock], columns: list[list[int]]
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
