"""Samples of many messages in arrays that grow while a bag is read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid_ros.utilities.arrays import Array


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


def joined(blocks: Sequence[SampleBlock]) -> tuple[SampleBlock, ...]:
    """Join blocks of equal names and array lengths, in the order in which the first ones came."""
    groups: dict[tuple[Any, ...], list[SampleBlock]] = {}
    for block in blocks:
        widths = (block.position.shape[1], block.velocity.shape[1], block.effort.shape[1])
        groups.setdefault((block.names, *widths), []).append(block)
    return tuple(
        SampleBlock(names, *(np.concatenate([getattr(block, field.name) for block in group])
                             for field in fields(SampleBlock)[1:]))
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
        The blocks.
    names : tuple of str
        Names of the joints in each of them.
    columns : sequence of sequence of int
        Columns of the joints in each block.
    there : collection of str
        Fields that all blocks hold; the others are left without columns.

    Returns
    -------
    SampleBlock
        The samples.

    """
    order = np.argsort(np.concatenate([block.index for block in used]))
    index, stamp, received = (
        np.concatenate([getattr(block, name) for block in used])[order]
        for name in ('index', 'stamp', 'received'))
    values = [
        np.concatenate([getattr(block, name)[:, own] for block, own in zip(
            used, columns, strict=True)])[order] if name in there else np.empty((len(index), 0))
        for name in ('position', 'velocity', 'effort')]
    return SampleBlock(names, index, stamp, received, *values)
