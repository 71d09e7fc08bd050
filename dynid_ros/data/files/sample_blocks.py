"""Samples of many messages in arrays that grow while a bag is read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.recordings.in_blocks import blocks
from dynid_ros.utilities.arrays import Array
from dynid_ros.utilities.memmap import GrowingArray, large_array


@dataclass(frozen=True)
class SampleBlock:
    """
    Messages of one layout.

    Attributes
    ----------
    names : tuple of str
        Joint names, in the order of the columns.
    index : (k,) ndarray of int64
        Place of each message in the recording, counted from 0.
    stamp, received : (k,) ndarray of int64
        Header stamp, and time at which the recorder received the message, ns.
    position, velocity, effort : (k, a), (k, b), (k, c) ndarray
        Values; the columns may be fewer than the names, or none.

    """

    names: tuple[str, ...]
    index: NDArray[np.int64]
    stamp: NDArray[np.int64]
    received: NDArray[np.int64]
    position: Array
    velocity: Array
    effort: Array


class JoinedBlocks:
    """Blocks of equal names and array lengths, joined as they come."""

    def __init__(self) -> None:
        self._groups: dict[tuple[Any, ...], dict[str, GrowingArray]] = {}

    def add(self, block: SampleBlock) -> None:
        """Take in the next block."""
        widths = (block.position.shape[1], block.velocity.shape[1], block.effort.shape[1])
        group = self._groups.setdefault((block.names, *widths), {
            field.name: GrowingArray() for field in fields(SampleBlock)[1:]})
        for name, array in group.items():
            array.add(getattr(block, name))

    def take(self) -> tuple[SampleBlock, ...]:
        """Return the blocks, in the order in which the first of each came, and forget them."""
        groups, self._groups = self._groups, {}
        return tuple(
            SampleBlock(names, **{name: array.take() for name, array in group.items()})
            for (names, *_), group in groups.items())


def in_order_of_time(
    used: Sequence[SampleBlock], names: tuple[str, ...], columns: Sequence[Sequence[int]],
    there: Collection[str],
) -> SampleBlock:
    """
    Put blocks together, in the order of the recording and of the joints.

    Parameters
    ----------
    used : sequence of SampleBlock
        Blocks, at least one.
    names : tuple of str
        Joints in the order wanted.
    columns : sequence of sequence of int
        Their places in each block.
    there : collection of str
        Fields that all blocks have, of position, velocity and effort; the others are left out.

    Returns
    -------
    SampleBlock
        With the arrays of the block itself, if it is a single one in that order.

    """
    index, stamp, received = (_merged(used, name, None) for name in ('index', 'stamp', 'received'))
    values = [_merged(used, name, columns) if name in there else np.empty((len(index), 0))
              for name in ('position', 'velocity', 'effort')]
    return SampleBlock(names, index, stamp, received, *values)


def _merged(
    used: Sequence[SampleBlock], name: str, columns: Sequence[Sequence[int]] | None,
) -> NDArray[Any]:
    """Merge one field of blocks, each of which is in order."""
    parts: list[NDArray[Any]] = [getattr(block, name) for block in used]
    ordered = columns is None or list(columns[0]) == list(range(parts[0].shape[1]))
    if len(used) == 1 and ordered:
        return parts[0]
    total = sum(map(len, parts))
    width = () if columns is None else (len(columns[0]),)
    whole = large_array((total, *width), parts[0].dtype)
    for k, values in enumerate(parts):
        own = used[k].index
        for part in blocks(len(own)):
            places = np.arange(part.start, part.stop)
            for other in (*used[:k], *used[k + 1:]):
                places += np.searchsorted(other.index, own[part])
            whole[places] = values[part] if columns is None else values[part][:, columns[k]]
    return whole
